import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Desk } from './desk.ts'
import { endpoints } from './endpoints.ts'
import { shaped } from './http-server.ts'
import { listModels } from './models-list.ts'
import { send } from './send.ts'
import { serveCall } from './serve-call.ts'

const NO_BODY = Buffer.alloc(0)

/** Adds what clients ask for: everything below `/v1`. */
export function addRoutes(server: FastifyInstance, desk: Desk): void {
  const created = Math.floor(desk.clock.wall() / 1000)
  const models = () => listModels(desk.rules.config, created)
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const message = desk.rules.keys.refusalOf(request.headers)
    if (message === undefined) return done()
    reply.hijack()
    send(reply.raw, shaped(request, { status: 401, code: 'invalid_client_key', message }), true)
  }

  for (const endpoint of endpoints) {
    server.post(endpoint.path, { onRequest }, (request, reply) => {
      reply.hijack()
      const body = Buffer.isBuffer(request.body) ? request.body : NO_BODY
      serveCall(desk, endpoint, request.headers, body, reply.raw)
    })
  }
  server.get('/v1/models', { onRequest }, (_request, reply) => reply.send({ object: 'list', data: models() }))
  server.get<{ Params: { '*': string } }>('/v1/models/*', { onRequest }, (request, reply) => {
    const id = request.params['*']
    const model = models().find((one) => one.id === id)
    if (model !== undefined) return reply.send(model)
    reply.hijack()
    const message = `The model '${id.slice(0, 200)}' does not exist here.`
    send(reply.raw, { ...shaped(request, { status: 404, code: 'model_not_found', message, param: 'model' }) })
    return reply
  })
}

/** Adds what an orchestrator asks for. An open circuit is no reason to take a replica out: all would go at once. */
export function addLifeRoutes(server: FastifyInstance, isReady: () => boolean): void {
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }))
  server.get('/readyz', (_request, reply) =>
    isReady() ? reply.send({ status: 'ready' }) : reply.code(503).send({ status: 'draining' }),
  )
}
