import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import { Imagined } from '../../src/audit/walk/imagined.ts'
import { boundsFor, naturalSteps, operatorSteps } from '../../src/audit/walk/walk-steps.ts'
import type { WalkStep } from '../../src/audit/walk/walk-step.ts'
import { walk } from '../../src/audit/walk/walk.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Outcome, Permit } from '../../src/core/permit.ts'
import { llmDefaults } from '../../src/core/presets.ts'
import { writtenTransitions } from '../../src/testing/graph-seam.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const window = { kind: 'rolling', windowMs: 10_000, minCalls: 5, failureRatio: 0.5 } as const
const slow = { kind: 'latency', windowMs: 7000, minCalls: 2, slowMs: 100, slowRatio: 0.5 } as const

const family: readonly CircuitBreakerOptions[] = [
  {},
  { threshold: 2, degradation: { at: 0.5 }, halfOpenProbes: 3, halfOpenSuccessRatio: 0.6 },
  { tripping: window, degradation: {}, cooldownBackoff: { multiplier: 2, maxMs: 100_000 } },
  { tripping: [slow, { kind: 'leaky', threshold: 3 }], halfOpenProbes: 2, halfOpenVerdict: 'early' },
  {
    kinds: { auth: { threshold: 2, cooldownMs: 500 }, quota_exhausted: { immediateOpen: true } },
    mode: 'observe',
  },
  llmDefaults,
]

/** The same steps on a breaker of the library, with its own actor, timers and clock. */
class Real {
  readonly #clock = new VirtualClock()
  readonly #permits = new Map<string, Permit>()
  readonly #breaker: CircuitBreaker

  constructor(options: CircuitBreakerOptions, roll: number) {
    this.#breaker = createBreaker({ ...options, clock: this.#clock, random: () => roll })
  }

  do(step: WalkStep): boolean {
    if (step.do === 'wait') this.#clock.set(this.#clock.now() + step.ms)
    if (step.do === 'open' || step.do === 'close') {
      const { do: verb, ...options } = step
      this.#breaker[verb](options)
    }
    if (step.do === 'admit' || step.do === 'call') {
      const permit = this.#breaker.tryAcquire()
      if (!permit.admitted) return false
      this.#permits.set(step.do === 'admit' ? step.permit : '', permit)
    }
    if (step.do === 'settle' || step.do === 'call') {
      const permit = this.#permits.get(step.do === 'settle' ? step.permit : '')!
      const { outcome, failure = 'server_error', retryAfterMs, latencyMs = 0 } = step
      const said: Record<typeof outcome, Outcome> = {
        succeed: { outcome: 'success', latencyMs },
        fail: { outcome: 'failure', failure, latencyMs, retryAfterMs },
        ignore: { outcome: 'neutral' },
      }
      this.#breaker.settle(permit, said[outcome])
    }
    return true
  }

  get seen() {
    const { state, retryAfterMs } = this.#breaker.getStatus()
    return { state, canExecute: this.#breaker.canExecute(), retryAfterMs }
  }
}

describe('a circuit in thought', () => {
  it('does what a breaker of the library does, whatever happens', () => {
    const plays = fc.tuple(
      fc.constantFrom(...family),
      fc.constantFrom(0, 0.5, 0.999),
      fc.array(fc.nat(), { size: 'max', maxLength: 50 }),
    )
    fc.assert(
      fc.property(plays, ([options, roll, choices]) => {
        const rules = resolveBreaker(options)
        const real = new Real(options, roll)
        const bounds = { ...boundsFor([rules]), outcomes: Infinity }
        let circuit = Imagined.start(rules, roll)
        for (const choice of choices) {
          const steps: WalkStep[] = [
            ...naturalSteps([circuit], bounds),
            ...operatorSteps([circuit]),
            { do: 'wait', ms: choice % 9973 },
          ]
          const step = steps[choice % steps.length]!
          const next = circuit.after(step)
          expect(real.do(step)).toBe(next !== undefined)
          circuit = next ?? circuit
          expect(real.seen).toEqual(circuit.seen)
        }
      }),
      { numRuns: 300 },
    )
  })
})

/** The ids of all transitions that a walk has taken. */
function taken(options: CircuitBreakerOptions): Set<string> {
  const found = new Set<string>()
  walk([resolveBreaker(options)], {
    mostPlaces: 3000,
    visit: ({ to }) => {
      for (const id of to.circuits[0]!.taken) found.add(id)
      return true
    },
  })
  return found
}

describe('a walk', () => {
  it('takes every written transition of the breaker but what a restart does', () => {
    const found = new Set(family.flatMap((options) => [...taken(options)]))
    const written = writtenTransitions(breakerMachine).map(
      ({ source, event, index }) => `${source}/${event}/${index}`,
    )
    expect(written.filter((id) => !found.has(id) && !id.includes('/resumed/'))).toEqual([])
  })

  it('says whether it saw everything', () => {
    const rules = [resolveBreaker({})]
    const all = walk(rules)
    expect(all.complete).toBe(true)
    expect(all.places).toBeGreaterThan(50)
    expect(walk(rules, { mostPlaces: 10 }).complete).toBe(false)
  })

  it('comes to a place by the fewest steps, and without an operator where that is possible', () => {
    let steps: WalkStep[] | undefined
    walk([resolveBreaker({ threshold: 3 })], {
      visit: ({ to }) => {
        if (to.circuits[0]!.seen.state !== 'open' || steps !== undefined) return true
        steps = []
        for (let at: typeof to | undefined = to; at?.step !== undefined; at = at.from) steps.unshift(at.step)
        return true
      },
    })
    expect(steps).toEqual(Array.from({ length: 3 }, () => ({ do: 'call', outcome: 'fail' })))
  })
})
