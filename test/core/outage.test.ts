import { setImmediate as settled } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { FallbackExhaustedError } from '../../src/core/errors.ts'
import { llmDefaults } from '../../src/core/presets.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import type { CallReport } from '../../src/core/switchgear-options.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'
import type { Transition } from '../../src/core/transition.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const SECOND = 1000
const LATENCY_MS = 50
const EVERY_MS = 500
const TIMEOUT_MS = 2 * SECOND
/** Dead from minute 1 to minute 6. */
const DIES_AT = 60 * SECOND
const HEALS_AT = DIES_AT + 300 * SECOND

type Fault = 'fails' | 'hangs'

/** Targets that answer after a while, and die and heal on time. */
class World {
  readonly clock = new VirtualClock()
  readonly sent: { readonly target: string; readonly at: number }[] = []
  readonly transitions: Transition[] = []
  readonly dead: (target: string, at: number) => Fault | undefined

  constructor(dead: World['dead']) {
    this.dead = dead
  }

  target(name: string, circuitBreaker: CircuitBreakerOptions): TargetOptions<number, string> {
    const invoke = () => this.#answer(name)
    return { name, invoke, circuitBreaker, timeoutMs: TIMEOUT_MS }
  }

  gear(...targets: TargetOptions<number, string>[]) {
    const gear = createSwitchgear({ targets, clock: this.clock, random: seededRandom(7) })
    gear.on('transition', (transition) => void this.transitions.push(transition))
    return gear
  }

  #answer(target: string): Promise<string> {
    const { clock, sent } = this
    sent.push({ target, at: clock.now() })
    const fault = this.dead(target, clock.now())
    return new Promise((resolve, reject) => {
      if (fault === 'hangs') return
      const down = () => reject(Object.assign(new Error('Service Unavailable'), { status: 503 }))
      clock.setTimeout(fault === 'fails' ? down : () => resolve(target), LATENCY_MS)
    })
  }

  /** Lets the virtual clock run, and every promise settle at every instant. */
  async runUntil(end: number): Promise<void> {
    const { clock } = this
    await settled()
    for (let at = clock.nextAt; at !== undefined && at <= end; at = clock.nextAt) {
      clock.set(at)
      await settled()
    }
    clock.set(end)
  }

  sentTo = (target: string, from: number, to: number) =>
    this.sent.filter((sent) => sent.target === target && sent.at >= from && sent.at < to).length
}

interface Bounds {
  readonly fault: Fault
  readonly breaker: CircuitBreakerOptions
  /** Opened at the latest, after the target died. */
  readonly opensWithinMs: number
  /** Requests that the dead target may still cost. */
  readonly budget: number
  /** Closed again at the latest, after the target healed. */
  readonly recoversWithinMs: number
}

const CASES: Record<string, Bounds> = {
  // five visits in a row, begun within 2.5 s, each with at most two retries (50 + 500 + 50 + 1000 + 50 ms);
  // then a probe every 30 s, again with two retries
  'that answers 503, with the defaults': {
    ...{ fault: 'fails', breaker: {} },
    ...{ opensWithinMs: 4500, budget: 27 + 30, recoversWithinMs: 32 * SECOND },
  },
  // a timeout is not retried while the next target is left
  'that hangs, with the defaults': {
    ...{ fault: 'hangs', breaker: {} },
    ...{ opensWithinMs: 4500, budget: 9 + 10, recoversWithinMs: 32 * SECOND },
  },
  'that answers 503, with a cooldown of 10 s': {
    ...{ fault: 'fails', breaker: { threshold: 3, cooldownMs: 10 * SECOND } },
    ...{ opensWithinMs: 3500, budget: 21 + 90, recoversWithinMs: 12 * SECOND },
  },
  // ten visits in a row, begun within 5 s; the preset doubles its cooldown up to 2 min, with jitter, and wants two successes
  'that answers 503, with the preset for LLMs': {
    ...{ fault: 'fails', breaker: llmDefaults },
    ...{ opensWithinMs: 7000, budget: 54, recoversWithinMs: 122 * SECOND },
  },
}

describe('five minutes of outage under two calls a second', () => {
  it.each(Object.entries(CASES))('of a target %s', async (_name, bounds) => {
    const { fault, breaker, opensWithinMs, budget, recoversWithinMs } = bounds
    const world = new World((target, at) =>
      target === 'main' && at >= DIES_AT && at < HEALS_AT ? fault : undefined,
    )
    const { clock } = world
    const gear = world.gear(world.target('main', breaker), world.target('backup', breaker))
    const answers: { readonly begunAt: number; readonly by: string; readonly tookMs: number }[] = []
    const failures: unknown[] = []
    const end = HEALS_AT + recoversWithinMs + 60 * SECOND
    for (let at = 0; at < end; at += EVERY_MS) {
      clock.setTimeout(() => {
        const report = ({ durationMs, target }: CallReport) =>
          void answers.push({ begunAt: at, by: target ?? 'nobody', tookMs: durationMs })
        gear.call(at, { report }).catch((error: unknown) => failures.push(error))
      }, at)
    }
    await world.runUntil(end + 10 * SECOND)

    // nobody noticed but in time
    expect(failures).toEqual([])
    expect(answers).toHaveLength(end / EVERY_MS)
    expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThanOrEqual(TIMEOUT_MS + LATENCY_MS)

    const opened = world.transitions.find(({ to }) => to === 'open')!
    expect(opened.at - DIES_AT).toBeGreaterThan(0)
    expect(opened.at - DIES_AT).toBeLessThanOrEqual(opensWithinMs)
    const recovered = world.transitions.at(-1)!
    expect(recovered).toMatchObject({ bucket: 'main', to: 'closed' })
    expect(recovered.at).toBeGreaterThan(HEALS_AT)
    expect(recovered.at - HEALS_AT).toBeLessThanOrEqual(recoversWithinMs)

    // the healthy one never moved
    expect(new Set(world.transitions.map(({ bucket }) => bucket))).toEqual(new Set(['main']))
    expect(gear.getStatus({ name: 'backup' })).toMatchObject({
      state: 'closed',
      generation: 1,
      failureCount: 0,
    })

    const dead = answers.filter(({ begunAt }) => begunAt >= DIES_AT && begunAt < HEALS_AT - TIMEOUT_MS)
    expect(new Set(dead.map(({ by }) => by))).toEqual(new Set(['backup']))
    expect(world.sentTo('main', DIES_AT, HEALS_AT)).toBeLessThanOrEqual(budget)

    // while it is open, a call costs what the backup takes
    const waited = dead.filter(({ begunAt, tookMs }) => begunAt >= opened.at && tookMs > LATENCY_MS)
    const probes = world.transitions.filter(({ to }) => to === 'half-open').length
    expect(waited.length).toBeLessThanOrEqual(2 * probes)

    // before and after, everything goes where it belongs
    const outside = answers.filter(({ begunAt }) => begunAt < DIES_AT - LATENCY_MS || begunAt >= recovered.at)
    expect(new Set(outside.map(({ by }) => by))).toEqual(new Set(['main']))
    expect(world.sentTo('backup', recovered.at + TIMEOUT_MS, Infinity)).toBe(0)
    await gear.close()
  })
})

describe('two targets down at once', () => {
  const down = (healsAt = Infinity) => {
    const world = new World((_target, at) => (at < healsAt ? 'fails' : undefined))
    const gear = world.gear(
      { ...world.target('main', { threshold: 2, cooldownMs: 30 * SECOND }), maxRetries: 0 },
      { ...world.target('backup', { threshold: 2, cooldownMs: 20 * SECOND }), maxRetries: 0 },
    )
    const call = async () => {
      const end = gear.call(0).then(
        (answer) => ({ answer, error: undefined }),
        (error: unknown) => ({ answer: undefined, error: error as FallbackExhaustedError }),
      )
      await world.runUntil(world.clock.now() + 2 * LATENCY_MS)
      return end
    }
    return { world, gear, call }
  }

  it('ends in the story of both, then in refusals with the shortest wait, and nothing is sent', async () => {
    const { world, gear, call } = down()
    for (const _ of [1, 2]) {
      const { error } = await call()
      expect(error).toBeInstanceOf(FallbackExhaustedError)
      expect(error!.attempts.map(({ target, outcome, failure }) => [target, outcome, failure])).toEqual([
        ['main', 'failed', 'server_error'],
        ['backup', 'failed', 'server_error'],
      ])
      expect(error!.cause).toBe(error!.attempts[1]!.error)
    }
    expect(gear.getCircuitStates().map(({ state }) => state)).toEqual(['open', 'open'])
    const sent = world.sent.length
    expect(sent).toBe(4)
    for (const afterMs of [0, 1, 5 * SECOND, 14 * SECOND]) {
      await world.runUntil(world.clock.now() + afterMs)
      const now = world.clock.now()
      const { error } = await call()
      expect(error).toMatchObject({ code: 'ERR_FALLBACK_EXHAUSTED' })
      expect(error!.attempts.map(({ target, outcome }) => [target, outcome])).toEqual([
        ['main', 'refused'],
        ['backup', 'refused'],
      ])
      const waits = ['main', 'backup'].map((name) => gear.getStatus({ name })!.openUntil! - now)
      expect(error!.retryAfterMs).toBe(Math.min(...waits))
      expect(error!.attempts.map(({ retryAfterMs }) => retryAfterMs)).toEqual(waits)
    }
    expect(world.sent).toHaveLength(sent)
    await gear.close()
  })

  it('whoever comes back when told to is let through, and a target that has healed answers', async () => {
    const { world, gear, call } = down(10 * SECOND)
    await call()
    await call()
    const early = await call()
    const told = world.clock.now() - 2 * LATENCY_MS + early.error!.retryAfterMs!
    await world.runUntil(told - 1)
    expect(gear.canExecute({ name: 'backup' })).toBe(false)
    await world.runUntil(told)
    expect(gear.canExecute({ name: 'backup' })).toBe(true)
    const { answer } = await call()
    expect(answer).toBe('backup')
    expect(gear.getCircuitState({ name: 'backup' })).toBe('closed')
    expect(gear.getCircuitState({ name: 'main' })).toBe('open')
    await world.runUntil(told + 12 * SECOND)
    expect((await call()).answer).toBe('main')
    expect(gear.getCircuitStates().map(({ state }) => state)).toEqual(['closed', 'closed'])
    await gear.close()
  })

  it('the wait of a failure that trips the last circuit is that of the circuits', async () => {
    const { world, gear, call } = down()
    await call()
    const { error } = await call()
    // both had failed one after the other just now
    const openUntil = ['main', 'backup'].map((name) => gear.getStatus({ name })!.openUntil!)
    expect(error!.retryAfterMs).toBe(Math.min(...openUntil) - world.clock.now())
    await gear.close()
  })
})
