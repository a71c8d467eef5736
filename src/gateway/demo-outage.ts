import { setTimeout as delay } from 'node:timers/promises'

import { systemClock } from '../core/clock.ts'
import type { Transition } from '../core/transition.ts'
import { startScriptedProvider } from '../testing/scripted-provider.ts'
import { DemoClient } from './demo-client.ts'
import { createGateway } from './server.ts'

export interface OutageOptions {
  /** How many clients ask at the same time. Default 20. */
  readonly clients?: number
  /** How long a circuit stays open before the trial. Default 2000. */
  readonly cooldownMs?: number
  /** Told what is happening, as it happens. */
  readonly onProgress?: (what: string) => void
  readonly onTransition?: (transition: Transition) => void
}

/** What one outage came to. */
export interface OutageReport {
  readonly calls: number
  readonly answered: number
  readonly answeredBy: Readonly<Record<string, number>>
  /** Calls for which the failing primary was not asked. */
  readonly saved: number
  /** From the outage to the open circuit; undefined = it never opened. */
  readonly detectMs: number | undefined
  /** From the end of the outage to the closed circuit; undefined = it never closed. */
  readonly recoverMs: number | undefined
  readonly transitions: readonly Transition[]
  /** On the scale of the transitions. */
  readonly startedAt: number
  readonly durationMs: number
}

const EXPECTED = ['closed → open', 'open → half-open', 'half-open → closed']
const LEAST_CALLS = 200
const LEAST_SAVED = 100
// one call a client in this time: enough traffic, and none of it waits for the processor
const PAUSE_MS = 100
// normal traffic before the outage and after it
const QUIET_MS = 1500
// an event that does not come within this time will not come
const PATIENCE_MS = 4000

/**
 * Plays one outage over real HTTP: two scripted providers behind a gateway, clients that keep asking, the primary fails
 * and heals. Returns what happened; {@link unmetConditions} judges it.
 */
export async function playOutage(options: OutageOptions = {}): Promise<OutageReport> {
  const { clients = 20, cooldownMs = 2000, onProgress = () => {}, onTransition = () => {} } = options
  await using primary = await startScriptedProvider({ name: 'primary' })
  await using backup = await startScriptedProvider({ name: 'backup' })
  const rules = { circuitBreaker: { threshold: 5, cooldownMs }, maxRetries: 0 }
  await using gateway = await createGateway({
    server: { port: 0 },
    targets: [
      { name: 'primary', baseUrl: primary.baseURL, ...rules },
      { name: 'backup', baseUrl: backup.baseURL, ...rules },
    ],
  })
  const startedAt = systemClock.wall()
  const transitions: Transition[] = []
  gateway.gear.on('transition', (transition) => {
    transitions.push(transition)
    onTransition(transition)
  })
  const turned = async (state: string) => {
    const until = systemClock.now() + PATIENCE_MS
    while (!transitions.some(({ to }) => to === state) && systemClock.now() < until) await delay(10)
  }

  const client = new DemoClient()
  const traffic = new Traffic(client, gateway.url, clients)
  onProgress(`normal traffic: ${clients} clients ask, one call each every ${PAUSE_MS} ms`)
  await delay(QUIET_MS)
  onProgress('the primary fails: every request gets a 503')
  await client.switchOutage(primary.url, true)
  const failedAt = systemClock.wall()
  await turned('open')
  onProgress('the backup answers, the primary is left alone')
  await delay(cooldownMs / 2)
  await client.switchOutage(primary.url, false)
  const healedAt = systemClock.wall()
  onProgress('the primary is well again; the next probe will find out')
  await turned('closed')
  onProgress('the primary answers again')
  await delay(QUIET_MS)
  const { calls, answered, answeredBy } = await traffic.stop()
  await client.close()

  const since = (to: string, from: number) => {
    const at = transitions.find((transition) => transition.to === to)?.at
    return at === undefined ? undefined : Math.max(0, at - from)
  }
  return {
    calls,
    answered,
    answeredBy,
    saved: calls - [...primary.counts.values()].reduce((sum, n) => sum + n, 0),
    detectMs: since('open', failedAt),
    recoverMs: since('closed', healedAt),
    transitions,
    startedAt,
    durationMs: systemClock.wall() - startedAt,
  }
}

/** What was promised and not kept; empty = all is well. */
export function unmetConditions({ calls, answered, saved, transitions }: OutageReport): string[] {
  const ways = (bucket: string) =>
    transitions.filter((transition) => transition.bucket === bucket).map(({ from, to }) => `${from} → ${to}`)
  const primary = ways('primary')
  const backup = ways('backup')
  return [
    ...(calls < LEAST_CALLS ? [`only ${calls} calls were made; at least ${LEAST_CALLS} were due`] : []),
    ...(answered < calls ? [`${calls - answered} of ${calls} calls were not answered`] : []),
    ...(saved < LEAST_SAVED
      ? [`only ${saved} upstream calls were saved; at least ${LEAST_SAVED} were due`]
      : []),
    ...(primary.join() === EXPECTED.join()
      ? []
      : [`the primary went ${primary.join(', ') || 'nowhere'}; due: ${EXPECTED.join(', ')}`]),
    ...(backup.length === 0 ? [] : [`the backup went ${backup.join(', ')}; it should have stayed closed`]),
  ]
}

/** Clients that ask one call after the other, every fourth one as a stream, until they are told to stop. */
class Traffic {
  readonly answeredBy: Record<string, number> = {}
  calls = 0
  answered = 0
  #stopped = false
  readonly #loops: Promise<void>[]

  constructor(client: DemoClient, url: string, clients: number) {
    this.#loops = Array.from({ length: clients }, () => this.#loop(client, url))
  }

  async stop(): Promise<this> {
    this.#stopped = true
    await Promise.all(this.#loops)
    return this
  }

  async #loop(client: DemoClient, url: string): Promise<void> {
    while (!this.#stopped) {
      const { answered, target } = await client.ask(url, this.calls++ % 4 === 3)
      if (answered) this.answered++
      if (answered && target !== undefined) this.answeredBy[target] = (this.answeredBy[target] ?? 0) + 1
      await delay(PAUSE_MS)
    }
  }
}
