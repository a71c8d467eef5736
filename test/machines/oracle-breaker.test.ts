import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Permit } from '../../src/core/permit.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { inFlight, optionsOf, placeOf, refusal, runs, startCircuit, step } from './oracle-breaker.ts'
import type { Circuit, OracleEvent, OraclePolicy, Run, Step } from './oracle-breaker.ts'

function figures(breaker: CircuitBreaker) {
  const { state, held, consecutiveFailures, reopenCount, openUntil, probes, retryAfterMs } =
    breaker.getStatus()
  const canExecute = breaker.canExecute()
  return { state, held, consecutiveFailures, reopenCount, openUntil, probes, retryAfterMs, canExecute }
}

function expected(p: OraclePolicy, c: Circuit): ReturnType<typeof figures> {
  const no = refusal(p, c)
  return {
    state: c.state,
    held: c.hold !== undefined,
    consecutiveFailures: c.consecutive,
    reopenCount: c.reopens,
    openUntil: c.openUntil,
    probes: { inFlight: inFlight(c).length, succeeded: c.trial.succeeded, failed: c.trial.failed },
    retryAfterMs: no === undefined ? 0 : no.retryAfterMs,
    canExecute: p.observe || no === undefined,
  }
}

const chance = (rolls: readonly number[]) => {
  let drawn = 0
  return () => rolls[drawn++] ?? 0.5
}

/** A breaker and its oracle, side by side. */
class Pair {
  readonly #clock = new VirtualClock()
  readonly #policy: OraclePolicy
  #permits: Permit[] = []
  #breaker: CircuitBreaker
  #circuit: Circuit

  constructor({ policy, rolls }: Run) {
    this.#policy = policy
    this.#circuit = startCircuit(rolls)
    this.#breaker = createBreaker({
      ...optionsOf(policy),
      clock: this.#clock,
      random: chance(rolls),
    })
  }

  take(todo: Step): void {
    const event = this.#eventOf(todo)
    if (event === undefined) return
    const before = this.#circuit
    const saysNo = refusal(this.#policy, before)
    this.#circuit = step(this.#policy, before, event)
    this.#perform(event, saysNo)
    expect(figures(this.#breaker)).toEqual(expected(this.#policy, this.#circuit))
    const { state, generation } = this.#circuit
    if (state === 'closed' && generation !== before.generation) {
      expect(this.#breaker.getFailureBreakdown()).toEqual({})
    }
  }

  #eventOf(todo: Step): OracleEvent | undefined {
    if (todo.do !== 'settle' && todo.do !== 'renew') return todo
    const id = placeOf(todo, this.#permits)
    return id < 0 ? undefined : { ...todo, id }
  }

  #perform(event: OracleEvent, saysNo: ReturnType<typeof refusal>): void {
    const breaker = this.#breaker
    switch (event.do) {
      case 'acquire':
        return this.#acquire(saysNo)
      case 'settle':
        return breaker.settle(this.#permits[event.id]!, event.outcome)
      case 'renew':
        return breaker.renew(this.#permits[event.id]!)
      case 'advance':
        return this.#clock.advance(event.ms)
      case 'restart':
        return this.#restart(event)
      default: {
        const { do: command, ...order } = event
        return breaker[command](order)
      }
    }
  }

  #acquire(saysNo: ReturnType<typeof refusal>): void {
    const predicted = this.#breaker.refusal()
    const answer = this.#breaker.tryAcquire()
    if (answer.admitted) {
      this.#permits.push(answer)
      expect(this.#circuit.tickets).toHaveLength(this.#permits.length)
      const { probe, generation } = this.#circuit.tickets.at(-1)!
      expect({ probe: answer.probe, decides: answer.generation > 0 }).toEqual({
        probe,
        decides: generation > 0,
      })
    } else {
      expect(answer).toEqual(predicted)
      expect(answer).toEqual({ admitted: false, ...saysNo })
    }
  }

  #restart({ downMs, jumpMs, rolls }: Extract<OracleEvent, { do: 'restart' }>): void {
    const saved = this.#breaker.snapshot()
    this.#breaker.dispose()
    this.#clock.advance(downMs)
    const openUntil = saved.openUntil === null ? null : saved.openUntil + jumpMs
    this.#permits = []
    this.#breaker = createBreaker({
      ...optionsOf(this.#policy),
      clock: this.#clock,
      random: chance(rolls),
      snapshot: JSON.parse(JSON.stringify({ ...saved, openUntil })),
    })
  }
}

describe('breaker and oracle', () => {
  it('agree after every step of random sequences', () => {
    let steps = 0
    fc.assert(
      fc.property(runs, (run) => {
        const pair = new Pair(run)
        for (const todo of run.steps) {
          pair.take(todo)
          steps++
        }
      }),
      { numRuns: 400 },
    )
    expect(steps).toBeGreaterThan(20_000)
  })
})
