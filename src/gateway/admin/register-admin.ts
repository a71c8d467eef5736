import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { isSwitchgearError } from '../../core/errors.ts'
import { AdminError } from './admin-error.ts'
import type { AdminContext } from './context.ts'
import { CommandLog } from './command-log.ts'
import { AdminDesk } from './admin-desk.ts'
import { admit, bearer } from './guard.ts'
import { GuessLimit } from './guess-limit.ts'
import { LiveActors } from './live-actors.ts'
import { LiveEvents } from './live-events.ts'

const MOST_BODY_BYTES = 4096

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // or else a server that closes would wait for the connection to be used again
  connection: 'close',
  'x-accel-buffering': 'no',
}
const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * The admin API under `/admin`. Every route needs a token in the header `authorization`; nothing is ever let in by a
 * cookie or from a page of another origin.
 */
export function registerAdmin(server: FastifyInstance, context: AdminContext): void {
  void server.register(async (admin) => addRoutes(admin, context), { prefix: '/admin' })
}

function addRoutes(admin: FastifyInstance, context: AdminContext): void {
  const { present, replica, clock, logger } = context
  const guesses = new GuessLimit(clock)
  const log = new CommandLog(logger, clock)
  const desk = new AdminDesk(context)
  const live = new LiveEvents({ gear: () => present().gear, frame: () => desk.frame(), clock, logger })
  const actors = new LiveActors({ gear: present().gear, replica, clock, logger })
  const notes = new WeakMap<FastifyRequest, { by?: string; refusal?: string }>()
  const note = (request: FastifyRequest) => notes.get(request) ?? {}

  admin.removeAllContentTypeParsers()
  const parse = admin.getDefaultJsonParser('error', 'error')
  admin.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body.length === 0 ? done(null) : parse(request, String(body), done),
  )
  admin.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    const { name } = admit(request, present().tokens, guesses)
    notes.set(request, { by: name })
  })
  admin.addHook('onResponse', async (request, reply) => {
    if (request.method === 'GET' && ![401, 403].includes(reply.statusCode)) return
    const { by, refusal } = note(request)
    const action = `${request.method} ${request.url.split('?', 1)[0]}`
    log.tell({
      by,
      address: request.ip,
      action,
      ...desk.order(request.body),
      status: reply.statusCode,
      refusal,
    })
  })
  // streams would keep the server open for as long as somebody watches
  admin.addHook('preClose', async () => {
    live.close()
    actors.close()
  })
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const told = toAdminError(error)
    if (told.status >= 500) logger.error({ err: error }, `admin: ${request.method} failed`)
    notes.set(request, { ...note(request), refusal: told.message })
    if (told.status === 401) void reply.header('www-authenticate', 'Bearer realm="switchgear admin"')
    const { retryAfterMs } = told.details
    if (typeof retryAfterMs === 'number') void reply.header('retry-after', Math.ceil(retryAfterMs / 1000))
    return reply.code(told.status).type(JSON_TYPE).send(JSON.stringify(told.body))
  }
  admin.setErrorHandler((error, request, reply) => refuse(request, reply, error))
  admin.setNotFoundHandler((request, reply) => refuse(request, reply, notHere(request)))

  const send = (reply: FastifyReply, body: object) => reply.type(JSON_TYPE).send(JSON.stringify(body))
  // HEAD of a stream would be a stream
  const read = { exposeHeadRoute: false }
  const write = { bodyLimit: MOST_BODY_BYTES }
  admin.get('/circuits', read, (_request, reply) => send(reply, desk.circuits()))
  admin.get('/circuits/*', read, (request, reply) => send(reply, desk.circuit(afterCircuits(request))))
  admin.post('/circuits/*', write, (request, reply) =>
    send(reply, desk.command(afterCircuits(request), request.body, note(request).by ?? '')),
  )
  admin.get('/journal', read, (request, reply) =>
    send(reply, desk.journal(request.query as Record<string, unknown>)),
  )
  admin.post('/reload', write, async (request, reply) => send(reply, await desk.reload(request.body)))
  admin.get('/chart', read, async (request, reply) =>
    send(reply, await desk.chart(request.query as Record<string, unknown>)),
  )
  const stream = (viewers: LiveEvents | LiveActors) => (request: FastifyRequest, reply: FastifyReply) => {
    viewers.checkRoom()
    const token = bearer(request.headers.authorization) ?? ''
    reply.hijack()
    reply.raw.writeHead(200, { ...HEADERS, ...STREAM_HEADERS })
    viewers.add(note(request).by ?? '', () => present().tokens.identify(token) !== undefined, reply.raw)
  }
  admin.get('/events', read, stream(live))
  admin.get('/inspect', read, stream(actors))
}

/** What stands behind `/circuits/`, in its parts, each decoded: a name may have slashes in it. */
function afterCircuits(request: FastifyRequest): string[] {
  const [path = ''] = request.url.split('?', 1)
  const parts = path.split('/')
  try {
    return parts.slice(parts.indexOf('circuits') + 1).map(decodeURIComponent)
  } catch {
    throw new AdminError(
      400,
      'invalid_request',
      'The name of the circuit is not percent-encoded as it should be.',
    )
  }
}

function notHere({ method, url }: FastifyRequest): AdminError {
  const where = `${method} ${url.split('?', 1)[0]?.slice(0, 200)}`
  return new AdminError(404, 'unknown_url', `There is no ${where} here.`)
}

/** Of what fastify itself refuses, of what the core refuses, and of what should not happen. */
function toAdminError(error: unknown): AdminError {
  if (error instanceof AdminError) return error
  if (isSwitchgearError(error) && (error.code === 'ERR_CLOSED' || error.code === 'ERR_REGISTRY_FULL')) {
    return new AdminError(503, error.code, error.message)
  }
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  if (status === 413) return new AdminError(413, 'too_large', `The body may have ${MOST_BODY_BYTES} bytes.`)
  if (status === 415) {
    return new AdminError(
      415,
      'not_json',
      'The body must be JSON, with the header "content-type: application/json".',
    )
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AdminError(status, 'invalid_request', 'The body is no JSON that can be read.')
  }
  return new AdminError(500, 'internal_error', 'The gateway failed. Its log says how.')
}
