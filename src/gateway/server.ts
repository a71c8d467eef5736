import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'

import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply } from 'fastify'

import { systemClock } from '../core/clock.ts'
import type { RuntimeOptions } from '../core/create-breaker.ts'
import { createSwitchgear } from '../core/switchgear.ts'
import { ListenError } from '../testing/listen-error.ts'
import { answerInParts, answerWhole, clientSignal } from './chat.ts'
import type { Desk, GatewayGear } from './chat.ts'
import { BadRequest, ChatRequest } from './chat-request.ts'
import type { GatewayConfig } from './config-schema.ts'
import { errorReply, plainError } from './error-body.ts'
import type { ErrorReply } from './error-body.ts'
import { nameOf, toSwitchgearOptions } from './gear-options.ts'
import { headersToUpstream } from './headers.ts'
import { statusReport } from './status.ts'
import { Upstream, createAgent } from './upstream.ts'

const MOST_BODY_BYTES = 64 * 1024 * 1024
const DEFAULT_PORT = 4000
const GRACE_MS = 10_000
const SWEEP_MS = 50

export interface Gateway extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string
  readonly gear: GatewayGear
  /** Takes no new calls and lets the running ones end, for `graceMs` at most. Default 10 000. */
  close(options?: { graceMs?: number }): Promise<void>
}

/**
 * Starts an OpenAI-compatible server in front of a chain of targets.
 *
 * @throws ListenError when the port is taken
 * @throws RangeError, ConfigError for options that the core refuses
 * @example
 * ```ts
 * const gateway = await createGateway({ targets: [{ baseUrl: 'http://127.0.0.1:8080/v1' }] })
 * await fetch(`${gateway.url}/status`)
 * ```
 */
export async function createGateway(config: GatewayConfig, runtime: RuntimeOptions = {}): Promise<Gateway> {
  const agent = createAgent()
  const running = new Map<string, ChatRequest>()
  const options = toSwitchgearOptions(config, (target, name) => {
    const upstream = new Upstream(name, target, agent, config.contentPolicyFallbacks?.[name] !== undefined)
    return {
      invoke: (request, context) => upstream.invoke(request, context),
      stream: (request, context) => upstream.stream(request, context),
    }
  })
  const gear: GatewayGear = createSwitchgear({
    ...options,
    ...runtime,
    onEvent: (event) => {
      if (event.type !== 'attempt_failed') return
      const { call, target, model, failure } = event
      running.get(call)?.failed.push({ target, model, failure })
    },
  })
  const server = Fastify({ bodyLimit: MOST_BODY_BYTES, forceCloseConnections: 'idle' })
  addRoutes(server, { gear, primary: nameOf(config.targets[0], 0) }, config, running)

  const { host = '127.0.0.1', port = DEFAULT_PORT } = config.server ?? {}
  try {
    await server.listen({ host, port })
  } catch (error) {
    await Promise.all([server.close(), gear.close(), agent.close()])
    throw new ListenError(port, host, error)
  }
  const close = async ({ graceMs = GRACE_MS }: { graceMs?: number } = {}) => {
    const clock = runtime.clock ?? systemClock
    let end: unknown
    const graceIsOver = new Promise<void>((resolve) => {
      end = clock.setTimeout(() => {
        server.server.closeAllConnections()
        resolve()
      }, graceMs)
    })
    // a connection whose last answer is out would otherwise be kept for a next request
    let sweep: unknown
    const sweepIdle = () => {
      server.server.closeIdleConnections()
      sweep = clock.setTimeout(sweepIdle, SWEEP_MS)
    }
    sweepIdle()
    await server.close()
    clock.clearTimeout(sweep)
    await Promise.race([gear.close(), graceIsOver])
    clock.clearTimeout(end)
    await agent.destroy()
  }
  let closed: Promise<void> | undefined
  const closeOnce: Gateway['close'] = (grace) => (closed ??= close(grace))
  return { url: urlOf(server), gear, close: closeOnce, [Symbol.asyncDispose]: () => closeOnce() }
}

function addRoutes(
  server: FastifyInstance,
  desk: Desk,
  config: GatewayConfig,
  running: Map<string, ChatRequest>,
): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  server.post('/v1/chat/completions', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const chat = new ChatRequest(randomUUID(), body, headersToUpstream(request.headers))
    const signal = clientSignal(reply.raw)
    running.set(chat.id, chat)
    try {
      const told = chat.stream
        ? await answerInParts(desk, chat, signal, reply.raw, () => reply.hijack())
        : await answerWhole(desk, chat, signal)
      if (told !== undefined) return send(reply, told)
      if (!reply.sent) reply.hijack()
      return reply
    } finally {
      running.delete(chat.id)
    }
  })
  server.get('/status', (_request, reply) => {
    const report = statusReport(desk.gear, config.targets)
    return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(report, null, 2)}\n`)
  })
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }))
  server.setNotFoundHandler((request, reply) => {
    const where = `${request.method} ${request.url.split('?', 1)[0]}`
    return send(reply, plainError(404, 'invalid_request_error', 'unknown_url', `There is no ${where} here.`))
  })
  server.setErrorHandler((error, _request, reply) => send(reply, toReply(error)))
}

/** Of what fastify itself refuses, and of a request that cannot be read. */
function toReply(error: unknown): ErrorReply {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  if (error instanceof BadRequest || typeof status !== 'number' || status < 400 || status > 499) {
    return errorReply(error, undefined)
  }
  const message = status === 413 ? 'The body is too large.' : 'The request cannot be read.'
  return plainError(status, 'invalid_request_error', 'invalid_request', message)
}

function send(reply: FastifyReply, { status, headers, body }: ErrorReply): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}

function urlOf(server: FastifyInstance): string {
  const { address, port, family } = server.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
