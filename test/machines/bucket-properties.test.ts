import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createActor, transition } from 'xstate'
import type { BreakerEvent } from '../../machines/breaker-events.ts'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import { savedCircuit } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot } from '../../machines/circuit-state.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { rootHost } from '../../src/core/host.ts'
import type { BreakerRef, Host } from '../../src/core/host.ts'
import type { JournalEntry } from '../../src/core/journal.ts'
import { Notifier, silentLogger } from '../../src/core/notifier.ts'
import type { Outcome, Permit } from '../../src/core/permit.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { optionsOf, placeOf, runs } from './oracle-breaker.ts'
import type { Run, Step } from './oracle-breaker.ts'

const SLOW = { kind: 'latency', windowMs: 60, minCalls: 2, slowMs: 5, slowRatio: 0.4 } as const

/** Runs of the oracle's kind; some of them judge the latency as well, of which the oracle knows nothing. */
const benches = fc.record({ run: runs, latency: fc.boolean() })
type Setting = { readonly run: Run; readonly latency: boolean }

/** A visit: admitted with a permit, or through the gate without one. */
interface Visit {
  settled: boolean
  readonly permit: Permit | undefined
  readonly gate: number
}

type Settle = Extract<Step, { do: 'settle' }>
type Restart = Extract<Step, { do: 'restart' }>

/** A breaker on a bench: every event that it sends to its actor is seen. */
class Bench {
  readonly clock = new VirtualClock()
  readonly options: CircuitBreakerOptions
  readonly #throughGate: boolean
  /** Since the start or the last restart. */
  startedAt = 0
  sent: BreakerEvent[] = []
  entries: JournalEntry[] = []
  visits: Visit[] = []
  breaker: CircuitBreaker
  #ref!: BreakerRef

  constructor({ run, latency }: Setting, throughGate = false) {
    const options = optionsOf(run.policy)
    this.options = latency ? { ...options, tripping: [...options.tripping, SLOW] } : options
    this.#throughGate = throughGate
    this.breaker = this.#start(run.rolls)
  }

  get actor(): BreakerSnapshot {
    return this.#ref.getSnapshot()
  }

  #start(rolls: readonly number[], saved: Partial<CircuitBreakerOptions> = {}): CircuitBreaker {
    const { clock } = this
    const notifier = new Notifier(silentLogger)
    const root = rootHost(clock, notifier)
    const host: Host = {
      ...root,
      spawn: (bucket, policy, at) => (this.#ref = this.#spied(root.spawn(bucket, policy, at))),
    }
    let drawn = 0
    this.startedAt = clock.now()
    this.sent = []
    this.entries = []
    this.visits = []
    return new CircuitBreaker('bench', resolveBreaker({ ...this.options, ...saved }), {
      clock,
      notifier,
      host,
      onTransition: () => {},
      random: () => rolls[drawn++] ?? 0.5,
      journal: { append: (entry) => this.entries.push(entry) },
    })
  }

  #spied(ref: BreakerRef): BreakerRef {
    const send = ref.send.bind(ref)
    ref.send = (event) => {
      this.sent.push(event)
      send(event)
    }
    return ref
  }

  /** Takes a step; what it returns is the decision. */
  take(todo: Step): unknown {
    const { breaker, visits } = this
    switch (todo.do) {
      case 'acquire':
        return this.#acquire()
      case 'settle':
        return this.#settle(todo)
      case 'renew': {
        const permit = visits[placeOf(todo, visits)]?.permit
        return permit && breaker.renew(permit)
      }
      case 'advance':
        return this.clock.advance(todo.ms)
      case 'restart':
        return this.#restart(todo)
      default: {
        const { do: command, ...order } = todo
        return breaker[command](order)
      }
    }
  }

  #acquire(): unknown {
    const gate = this.#throughGate ? this.breaker.openGate : 0
    if (gate > 0) {
      this.visits.push({ settled: false, permit: undefined, gate })
      return { probe: false, generation: gate }
    }
    const answer = this.breaker.tryAcquire()
    if (!answer.admitted) return answer
    this.visits.push({ settled: false, permit: answer, gate: 0 })
    const { probe, generation } = answer
    return { probe, generation }
  }

  #settle(todo: Settle): void {
    const visit = this.visits[placeOf(todo, this.visits)]
    if (visit === undefined) return
    const { permit, gate, settled } = visit
    visit.settled = true
    if (permit !== undefined) this.breaker.settle(permit, todo.outcome)
    else if (!settled) this.#settleGate(gate, todo.outcome)
  }

  #settleGate(gate: number, outcome: Outcome): void {
    if (outcome.outcome === 'success') this.breaker.succeeded(gate)
    else this.breaker.settle(this.breaker.ticket(gate), outcome)
  }

  #restart({ downMs, rolls }: Restart): void {
    const saved = this.breaker.snapshot()
    this.breaker.dispose()
    this.clock.advance(downMs)
    this.breaker = this.#start(rolls, { snapshot: saved })
  }

  /** Everything that can be read of it. */
  read() {
    const { breaker } = this
    return structuredClone({
      state: breaker.state,
      status: breaker.getStatus(),
      canExecute: breaker.canExecute(),
      refusal: breaker.refusal(),
      breakdown: breaker.getFailureBreakdown(),
      saved: breaker.snapshot(),
      idle: breaker.isIdle,
      stats: breaker.stats,
      why: breaker.explain(),
    })
  }
}

/**
 * What it decides. That a probe was lost, or that a state has changed, is counted, for people, when somebody notices it:
 * by a timer, or by the next call.
 */
function decided(bench: Bench) {
  const { breakdown: _breakdown, why: _why, idle: _idle, status, stats, ...rest } = bench.read()
  const { failureCount: _count, lastFailureKind: _kind, ...decisive } = status
  const { transitions: _transitions, ...counted } = stats
  return { ...rest, status: decisive, stats: counted }
}

/** Steps that send at once whatever is overdue. */
const CATCHES_UP = new Set<Step['do']>(['acquire', 'open', 'close', 'restart'])

const NUM_RUNS = 150

describe('the bucket of a breaker', () => {
  it('decides the same whether timers fire or not', async () => {
    await fc.assert(
      fc.asyncProperty(benches, async (setting) => {
        const [withTimers, without] = [new Bench(setting), new Bench(setting)]
        for (const todo of setting.run.steps) {
          const decision = withTimers.take(todo)
          await Promise.resolve()
          const blind = without.take(todo)
          without.clock.dropTimers()
          expect(blind).toEqual(decision)
          expect(decided(without)).toEqual(decided(withTimers))
          if (CATCHES_UP.has(todo.do)) expect(without.read()).toEqual(withTimers.read())
        }
      }),
      { numRuns: NUM_RUNS },
    )
  })

  it('keeps back no success that would have moved the machine', () => {
    let kept = 0
    fc.assert(
      fc.property(benches, fc.boolean(), (setting, throughGate) => {
        const bench = new Bench(setting, throughGate)
        for (const todo of setting.run.steps) {
          const visit = todo.do === 'settle' ? bench.visits[placeOf(todo, bench.visits)] : undefined
          const fresh = visit !== undefined && !visit.settled
          const before = bench.sent.length
          bench.take(todo)
          if (!fresh || todo.do !== 'settle' || todo.outcome.outcome !== 'success') continue
          if (bench.sent.slice(before).some(({ type }) => type.endsWith('.succeeded'))) continue
          const generation = visit.permit?.generation ?? visit.gate
          const [at, { reading }] = [bench.clock.now(), bench.breaker.getStatus()]
          for (const roll of [0, 0.999]) {
            const event = { type: 'call.succeeded', at, generation, reading, roll } as const
            expect(transition(breakerMachine, bench.actor, event)[0]).toBe(bench.actor)
          }
          kept++
        }
      }),
      { numRuns: NUM_RUNS },
    )
    expect(kept).toBeGreaterThan(500)
  })

  it('writes a journal that replays to the same snapshot', () => {
    fc.assert(
      fc.property(benches, (setting) => {
        const bench = new Bench(setting)
        const { policy } = resolveBreaker(bench.options)
        const compare = () => {
          const never = { setTimeout: () => 0, clearTimeout: () => {} }
          const input = { policy, at: bench.startedAt }
          const replay = createActor(breakerMachine, { input, clock: never }).start()
          for (const { event } of bench.entries) replay.send(JSON.parse(JSON.stringify(event)))
          const { value, context } = replay.getSnapshot()
          expect({ value, context }).toEqual({ value: bench.actor.value, context: bench.actor.context })
          return savedCircuit(replay.getSnapshot())
        }
        for (const todo of setting.run.steps) {
          if (todo.do === 'restart') compare()
          bench.take(todo)
        }
        compare()
        // what is due this very moment is thought of by a reader, and written down by the next who asks
        bench.breaker.tryAcquire()
        expect(compare()).toEqual(bench.breaker.snapshot())
      }),
      { numRuns: NUM_RUNS },
    )
  })

  it('journals only what changed it, with the states before and after', () => {
    fc.assert(
      fc.property(benches, (setting) => {
        const bench = new Bench(setting)
        const { policy } = resolveBreaker(bench.options)
        for (const todo of setting.run.steps) bench.take(todo)
        const never = { setTimeout: () => 0, clearTimeout: () => {} }
        const replay = createActor(breakerMachine, { input: { policy, at: bench.startedAt }, clock: never })
        replay.start()
        let state = 'closed'
        const [started, ...events] = bench.entries
        expect(started?.event.type).toBe('breaker.started')
        for (const { event, from, to } of events) {
          const before = replay.getSnapshot()
          replay.send(event as BreakerEvent)
          expect(replay.getSnapshot()).not.toBe(before)
          expect(from).toBe(state)
          state = to
        }
      }),
      { numRuns: NUM_RUNS },
    )
  })

  it('changes nothing when it is read', () => {
    fc.assert(
      fc.property(benches, (setting) => {
        const [watched, alone] = [new Bench(setting), new Bench(setting)]
        for (const todo of setting.run.steps) {
          expect(watched.take(todo)).toEqual(alone.take(todo))
          const { actor, clock, entries } = watched
          const [pending, journalled] = [clock.pending, entries.length]
          const first = watched.read()
          expect(watched.read()).toEqual(first)
          expect(watched.actor).toBe(actor)
          expect([clock.pending, entries.length]).toEqual([pending, journalled])
        }
        expect(watched.read()).toEqual(alone.read())
        expect(watched.sent).toEqual(alone.sent)
      }),
      { numRuns: NUM_RUNS },
    )
  })

  it('decides the same through the gate without a ticket', () => {
    fc.assert(
      fc.property(benches, (setting) => {
        const [ticketed, gated] = [new Bench(setting), new Bench(setting, true)]
        for (const todo of setting.run.steps) {
          expect(gated.take(todo)).toEqual(ticketed.take(todo))
          expect(gated.read()).toEqual(ticketed.read())
        }
      }),
      { numRuns: NUM_RUNS },
    )
  })
})
