import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { setInterval } from 'node:timers/promises'

import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'

import { systemClock } from '../../src/core/clock.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import type { CircuitView, JournalRowView, Order } from '../../src/gateway/admin/wire.ts'
import { registerDashboard } from '../../src/gateway/dashboard-files.ts'

export const TOKEN = 'a-token-of-alice'
const CHART = readFileSync(resolve(import.meta.dirname, '../../visualizations/charts/breaker.svg'), 'utf8')
const now = () => systemClock.wall()

/** A circuit to which nothing has happened. */
export function circuit(name: string, traits: Partial<CircuitView> = {}): CircuitView {
  return {
    circuit: name,
    targets: [name],
    state: 'closed',
    held: false,
    since: now() - 3_725_000,
    openUntil: null,
    retryAfterMs: 0,
    generation: 1,
    reopenCount: 0,
    probes: { inFlight: 0, succeeded: 0, failed: 0 },
    failures: {},
    consecutiveFailures: 0,
    failureRatio: null,
    refused: 0,
    calls: { success: 0, failure: 0, neutral: 0 },
    late: 0,
    p95Ms: null,
    fallbacks: 0,
    rules: 'Opens on 5 failures in a row. After 30 s a trial closes it once 1 of 1 probe succeeded.',
    why: 'no transition yet',
    explain: `Circuit '${name}' is closed (calls flow): no transition yet.`,
    ...traits,
  }
}

interface Change {
  readonly to: CircuitState
  readonly why: string
  readonly type?: string
  readonly by?: string
  readonly reason?: string
  /** What the journal says of it. */
  readonly journalled?: string
  readonly traits?: Partial<CircuitView>
}

/** The admin API with circuits that do what a test says, and the dashboard in front of it. */
export class FakeAdmin implements AsyncDisposable {
  readonly #server = Fastify({ forceCloseConnections: true })
  readonly #viewers = new Set<ServerResponse>()
  readonly #stop = new AbortController()
  readonly circuits = new Map<string, CircuitView>()
  readonly journal: JournalRowView[] = []
  /** What was asked of it: `POST /admin/circuits/a/open {…}`. */
  readonly commands: { readonly path: string; readonly body: Order }[] = []
  chart = CHART
  /** Whose chart was asked for. */
  readonly chartsAsked: unknown[] = []
  keepsJournal = true
  /** The next command is refused in these words. */
  refusal: string | undefined
  /** Nobody hears of anything any more, though connections stand. */
  isSilent = false
  /** Circuits are told of by `tellCircuits` alone. */
  isPaused = false
  /** Nothing is told of one circuit beyond what all are told. */
  hidesDetails = false
  /** Live events are refused, as by a gateway that is starting. */
  isRefusing = false
  token = TOKEN
  url = ''

  static async start(circuits: readonly CircuitView[] = []): Promise<FakeAdmin> {
    const admin = new FakeAdmin()
    for (const view of circuits) admin.circuits.set(view.circuit, view)
    admin.#routes()
    admin.url = await admin.#server.listen({ host: '127.0.0.1', port: 0 })
    void admin.#tick()
    return admin
  }

  /** Changes a circuit, tells everybody, and writes it into the journal. */
  change(
    name: string,
    { to, why, type = 'call.failed', by, reason, journalled = why, traits = {} }: Change,
  ): void {
    const before = this.circuits.get(name) ?? circuit(name)
    const at = now()
    const own = by === undefined ? {} : { by, ...(reason !== undefined && { reason }) }
    const openUntil = to === 'open' ? at + 30_000 : null
    const { hold: _hold, ...rest } = before
    const after = {
      ...rest,
      state: to,
      held: false,
      since: at,
      openUntil,
      generation: before.generation + 1,
      why,
      ...traits,
    }
    this.circuits.set(name, after)
    const { hold } = after as CircuitView
    const event = {
      at,
      ...(hold !== undefined && { hold: true, ...(hold.until !== null && { until: hold.until }) }),
    }
    if (this.keepsJournal) {
      const seq = this.journal.length + 1
      this.journal.push({
        seq,
        at,
        circuit: name,
        type,
        from: before.state,
        to,
        event,
        why: journalled,
        ...own,
        hash: '',
      })
    }
    if (before.state === to) return
    this.#tell('transition', {
      circuit: name,
      from: before.state,
      to,
      at,
      why,
      told: to === 'open' ? `${why}; next try in 30 s` : why,
      ...own,
      openUntil: after.openUntil,
    })
  }

  tellCircuits(): void {
    this.#tell('circuits', this.#report())
  }

  /** Cuts every live connection. */
  cut(): void {
    for (const viewer of this.#viewers) viewer.destroy()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.cut()
    await this.#server.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #tick(): Promise<void> {
    try {
      for await (const _ of setInterval(200, undefined, { signal: this.#stop.signal }))
        if (!this.isPaused) this.tellCircuits()
    } catch {
      // closed
    }
  }

  #report(): object {
    return { replica: 'gateway-1', now: now(), circuits: [...this.circuits.values()] }
  }

  #tell(event: string, data: object): void {
    if (this.isSilent) return
    for (const viewer of this.#viewers) viewer.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #routes(): void {
    const server = this.#server
    registerDashboard(server)
    server.addHook('onRequest', async (request, reply) => {
      if (!request.url.startsWith('/admin/') || request.headers.authorization === `Bearer ${this.token}`)
        return
      return refuse(reply, 401, 'This is not a token of this gateway.')
    })
    server.get('/admin/circuits', () => this.#report())
    server.get<{ Params: { name: string } }>('/admin/circuits/:name', ({ params: { name } }, reply) => {
      const view = this.circuits.get(name)
      if (this.hidesDetails) return refuse(reply, 500, 'The gateway failed.')
      if (view === undefined) return refuse(reply, 404, `There is no circuit '${name}'.`)
      return { ...view, journal: this.journal.filter((row) => row.circuit === name).toReversed() }
    })
    server.post<{ Params: { name: string; verb: 'open' | 'close' }; Body: Order }>(
      '/admin/circuits/:name/:verb',
      ({ params: { name, verb }, body, url }, reply) => {
        this.commands.push({ path: url, body })
        if (this.refusal !== undefined) return refuse(reply, 400, this.refusal)
        const until = body.ttlMs === undefined ? null : now() + body.ttlMs
        const { reason = '' } = body
        const hold = { by: 'alice', reason, until }
        this.change(name, {
          to: verb === 'open' ? 'open' : 'closed',
          type: verb === 'open' ? 'operator.opened' : 'operator.closed',
          why: `by hand, by alice ("${reason}")`,
          by: 'alice',
          reason,
          traits: body.hold === true ? { held: true, hold, openUntil: null } : {},
        })
        return this.circuits.get(name)
      },
    )
    server.get('/admin/journal', () => ({ rows: this.journal.toReversed() }))
    server.get('/admin/chart', ({ query }) => {
      this.chartsAsked.push(query)
      return { svg: this.chart }
    })
    server.get('/admin/events', async (_request, reply) => {
      if (this.isRefusing) return refuse(reply, 503, 'The gateway is starting.')
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
      this.#viewers.add(reply.raw)
      reply.raw.write(`retry: 2000\n\nevent: circuits\ndata: ${JSON.stringify(this.#report())}\n\n`)
      await once(reply.raw, 'close')
      this.#viewers.delete(reply.raw)
    })
  }
}

const refuse = (reply: FastifyReply, status: number, message: string) =>
  reply.code(status).send({ error: { message, type: 'invalid_request_error', param: null, code: 'refused' } })
