import { STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { ListenError } from '../testing/listen-error.ts'
import { endpoints } from './endpoints.ts'
import { factsReply } from './error-body.ts'
import { openAiErrors } from './error-shape.ts'
import type { ErrorFacts } from './error-shape.ts'
import type { ResolvedServer } from './config/resolve-config.ts'
import { send } from './send.ts'

// how exactly the time for a request is kept
const SHORTEST_CHECK_MS = 50
const LONGEST_CHECK_MS = 5000
const MOST_SHOWN = 200

/** A server without routes: its limits, and its errors in the shape of what was asked for. */
export function createServer({ maxBodyBytes, requestTimeoutMs }: ResolvedServer): FastifyInstance {
  const connectionsCheckingInterval = Math.min(
    Math.max(requestTimeoutMs / 4, SHORTEST_CHECK_MS),
    LONGEST_CHECK_MS,
  )
  const server = Fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval },
    forceCloseConnections: 'idle',
    clientErrorHandler: tellClientError,
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      send(reply.raw, shaped(request, factsOf(error)), true)
    },
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.setNotFoundHandler((request, reply) => {
    const message = `There is no ${request.method} ${pathOf(request).slice(0, MOST_SHOWN)} here.`
    reply.hijack()
    send(reply.raw, shaped(request, { status: 404, code: 'unknown_url', message }))
  })
  server.setErrorHandler((error, request, reply) => {
    reply.hijack()
    send(reply.raw, shaped(request, factsOf(error)), true)
  })
  return server
}

/** The path as it came, without the query: that may carry a key. */
export const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''

/** An error in the shape of the endpoint it was asked of. */
export function shaped(request: FastifyRequest, facts: ErrorFacts) {
  const path = pathOf(request)
  const endpoint = endpoints.find((one) => one.path === path)
  return factsReply(facts, endpoint?.errors ?? openAiErrors)
}

/** Of what fastify itself refuses. */
function factsOf(error: unknown): ErrorFacts {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  if (typeof status !== 'number' || status < 400 || status > 499) {
    return { status: 500, code: 'internal_error', message: 'The gateway failed.' }
  }
  const message = status === 413 ? 'The body is too large.' : 'The request cannot be read.'
  return { status, code: 'invalid_request', message }
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
}

/** What is no HTTP, or took too long to become it, never reaches a route. */
function tellClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'The request cannot be read.']
  const { body } = factsReply({ status, code: 'invalid_request', message }, openAiErrors)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'content-type: application/json; charset=utf-8',
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body.toString()}`)
  socket.destroy(error)
}

/**
 * Listens; returns the URL.
 *
 * @throws ListenError when the port cannot be had
 */
export async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await server.listen({ host, port, backlog: 4096 })
  } catch (error) {
    throw new ListenError(port, host, error)
  }
  const { address, port: actual, family } = server.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`
}
