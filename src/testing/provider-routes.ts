import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { errorScript, jsonScript } from './build-script.ts'
import { endpointShapes } from './endpoint-shapes.ts'
import type { EndpointShape } from './endpoint-shapes.ts'
import { faultTable, findFault, outageScripts } from './faults.ts'
import type { OutageKind } from './faults.ts'
import { modelNotFound, providerErrors, unknownUrl } from './provider-errors.ts'
import { fixedCreated } from './reply.ts'
import { readBody } from './request-body.ts'
import type { ReadBody } from './request-body.ts'
import { describeKey } from './request-log.ts'
import type { RequestLog } from './request-log.ts'
import { playScript } from './script.ts'
import type { Script } from './script.ts'

/** What the routes share with the handle of the running server. */
export interface Stage {
  readonly name: string
  readonly outageKind: OutageKind
  readonly strict: boolean
  readonly keepAliveMs: number
  readonly log: RequestLog
  random: () => number
  outage: boolean
  closing: boolean
}

/** Adds everything below `/v1`. */
export function addProviderRoutes(server: FastifyInstance, stage: Stage): void {
  for (const shape of Object.values(endpointShapes)) {
    server.post(shape.path, (request, reply) =>
      respond(stage, request, reply, (number, body) => shape.dress(selectScript(stage, shape, number, body))),
    )
  }
  server.get('/v1/models', (request, reply) =>
    respond(stage, request, reply, () => jsonScript(200, { object: 'list', data: listModels(stage.name) })),
  )
  server.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const error = unknownUrl(request.method, path)
    if (!path.startsWith('/v1/')) return reply.code(404).send({ error })
    return respond(stage, request, reply, () => errorScript(404, error))
  })
}

function outageOf({ outageKind }: Stage, path: string): Script {
  const shape = Object.values(endpointShapes).find((one) => one.path === path)
  const script = outageScripts[outageKind]
  return shape?.dress(script) ?? script
}

function selectScript(stage: Stage, shape: EndpointShape, number: number, body: ReadBody): Script {
  const { model, stream, includeUsage, hasToolResult } = body
  if (!body.valid) return errorScript(400, providerErrors.unreadable)
  if (model === undefined) return errorScript(400, providerErrors.noModel)
  const found = findFault(model) ?? (stage.strict ? undefined : findFault('ok'))
  if (found === undefined) return errorScript(404, modelNotFound(model))
  const ask = {
    number,
    model,
    includeUsage,
    hasToolResult,
    stream: stream && shape.streams,
    provider: stage.name,
  }
  return found.fault.script({
    ask,
    shape: shape.reply,
    toolCall: shape.toolCall,
    parameter: found.parameter,
    random: stage.random,
  })
}

async function respond(
  stage: Stage,
  request: FastifyRequest,
  reply: FastifyReply,
  select: (number: number, body: ReadBody) => Script,
): Promise<void> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : undefined
  const body = readBody(bytes)
  const entry = stage.log.add({
    method: request.method,
    path: pathOf(request),
    ...(body.model === undefined ? {} : { model: body.model }),
    stream: body.stream,
    bytes: bytes?.length ?? 0,
    ...describeKey(request.headers),
  })
  reply.hijack()
  reply.raw.setHeader('x-request-id', `req_${entry.number}`)
  reply.raw.once('close', () => {
    if (entry.outcome === 'pending') entry.outcome = stage.closing ? 'failed' : 'aborted-by-client'
  })
  const script = stage.outage ? outageOf(stage, pathOf(request)) : select(entry.number, body)
  const onEnd = (outcome: 'answered' | 'failed') => {
    entry.outcome = outcome
  }
  await playScript(script, reply.raw, { keepAliveMs: stage.keepAliveMs, onEnd })
}

function listModels(owner: string): object[] {
  return faultTable.map(({ name, parameter, description }) => ({
    id: name,
    object: 'model',
    created: fixedCreated,
    owned_by: owner,
    description: parameter === undefined ? description : `${description} (${name}-<${parameter.unit}>)`,
  }))
}

// A query may carry a key.
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
