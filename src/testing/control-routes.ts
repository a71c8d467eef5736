import type { FastifyInstance } from 'fastify'

import { isRecord } from './request-body.ts'
import type { RequestLog } from './request-log.ts'

/** What the control API can see and do. */
export interface Controls {
  readonly log: RequestLog
  readonly outage: boolean
  setOutage(on: boolean): void
  reset(): void
}

/** Adds `POST /control/outage`, `GET /control/requests` and `POST /control/reset`. They work during an outage too. */
export function addControlRoutes(server: FastifyInstance, controls: Controls): void {
  server.post('/control/outage', (request, reply) => {
    const on = readSwitch(request.body)
    if (on === undefined) {
      return reply.code(400).send({ error: { message: 'Send {"on": true} or {"on": false}.' } })
    }
    controls.setOutage(on)
    return reply.send({ outage: controls.outage })
  })
  server.get('/control/requests', (_request, reply) => {
    const { total, counts, entries } = controls.log
    return reply.send({
      outage: controls.outage,
      total,
      counts: Object.fromEntries(counts),
      requests: entries,
    })
  })
  server.post('/control/reset', (_request, reply) => {
    controls.reset()
    return reply.send({ outage: controls.outage })
  })
}

function readSwitch(body: unknown): boolean | undefined {
  if (!Buffer.isBuffer(body)) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isRecord(value) && typeof value['on'] === 'boolean' ? value['on'] : undefined
  } catch {
    return undefined
  }
}
