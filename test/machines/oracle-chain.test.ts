import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { chainMachine } from '../../machines/chain.machine.ts'
import { chainRuns, eventOf, isOver, startCall, step } from './oracle-chain.ts'
import type { Call, OracleEvent, OraclePlan } from './oracle-chain.ts'

function startChain(plan: OraclePlan) {
  const actor = createActor(chainMachine, { input: { plan } })
  actor.start()
  const look = () => {
    const { value, context } = actor.getSnapshot()
    const { target, ahead, attempt, waitUntil } = context
    return { state: typeof value === 'string' ? value : value.visiting, target, ahead, attempt, waitUntil }
  }
  return { send: (event: OracleEvent) => actor.send(event), look }
}

const expected = ({ state, target, ahead, attempt, waitUntil }: Call) => ({
  ...{ state, target, ahead, attempt, waitUntil },
})

/** Sends a fixed story to both and compares after every event. */
function follow(plan: OraclePlan, events: readonly OracleEvent[]): void {
  const chain = startChain(plan)
  let call = startCall(plan)
  for (const event of events) {
    call = step(plan, call, event)
    chain.send(event)
    expect(chain.look()).toEqual(expected(call))
  }
}

const known = (name: string) => ({
  name,
  maxRetries: 1,
  retry: { baseMs: 100, multiplier: 2, maxMs: 1000 },
})
const plan: OraclePlan = {
  targets: ['a', 'b'],
  known: { a: known('a'), b: known('b'), c: known('c') },
  lists: { 'context-window': {}, 'content-policy': {} },
  noFallback: false,
  whenAllOpen: { kind: 'fail' },
  startedAt: 0,
  deadlineAt: null,
}
const refused = (target: string, retryAt: number): OracleEvent => ({
  ...({ type: 'target.refused', at: 0, target, reason: 'open', retryAt } as const),
})
const admitted = (target: string, bypassed = false): OracleEvent => ({
  ...{ type: 'target.admitted', at: 0, target, bypassed },
})
const tooLong = { failure: 'context_window', retry: 'no', fallback: 'context-window' } as const
const broken = { failure: 'server_error', retry: 'yes', fallback: 'next' } as const
const failed = (verdict: typeof tooLong | typeof broken): OracleEvent => ({
  ...{ type: 'attempt.failed', at: 0, verdict, roll: 0.5, budget: true },
})

describe('chain and oracle', () => {
  it('agree after every step of random sequences', () => {
    let steps = 0
    const seen = new Set<string>()
    fc.assert(
      fc.property(chainRuns, ({ plan, draws }) => {
        const chain = startChain(plan)
        let call = startCall(plan)
        let now = plan.startedAt
        for (const draw of draws) {
          now += draw.afterMs
          const event = eventOf(plan, call, draw, now)
          call = step(plan, call, event)
          chain.send(event)
          seen.add(call.state)
          expect(chain.look()).toEqual(expected(call))
          steps++
          if (isOver(call)) break
        }
      }),
      { numRuns: 4000 },
    )
    expect(steps).toBeGreaterThan(10_000)
    expect(seen.size).toBe(11)
  })

  it('a call that is over waits for nothing', () => {
    follow(plan, [admitted('a'), failed(broken), { type: 'caller.aborted', at: 10 }])
    follow({ ...plan, whenAllOpen: { kind: 'wait', waitMs: 500 } }, [
      ...[refused('a', 100), refused('b', 100)],
      { type: 'deadline.passed', at: 10 },
    ])
  })

  it('a special list that leads back to the first target goes on behind it', () => {
    const back = { ...plan, lists: { ...plan.lists, 'context-window': { b: ['a', 'c'] } } }
    follow(back, [refused('a', 100), admitted('b'), failed(tooLong), admitted('a'), failed(tooLong)])
  })

  it('a last resort is over with its visit: what a list names afterwards is visited like any other', () => {
    const lastResort = {
      ...{ ...plan, whenAllOpen: { kind: 'last-resort' } as const },
      lists: { ...plan.lists, 'context-window': { a: ['b'] } },
    }
    const events = [refused('a', 100), refused('b', 200), failed(tooLong), admitted('b'), failed(broken)]
    follow(lastResort, events)
  })

  it('without fallback, one target is asked, whatever ends its visit', () => {
    const own = { ...plan, noFallback: true, lists: { ...plan.lists, 'context-window': { a: ['c'] } } }
    follow(own, [admitted('a'), failed(tooLong)])
    follow(own, [refused('a', 100), admitted('b'), failed(tooLong)])
    const moved: OracleEvent = { type: 'backoff.elapsed', at: 50, permitIsCurrent: false }
    follow(own, [admitted('a'), failed(broken), moved])
  })

  it('a bypassed circuit is asked once', () => {
    follow(plan, [admitted('a', true), failed(broken), admitted('b'), failed(broken)])
  })

  it('a target that a list names twice is visited once', () => {
    const twice = { ...plan, lists: { ...plan.lists, 'context-window': { a: ['b', 'b'] } } }
    follow(twice, [admitted('a'), failed(tooLong)])
  })
})
