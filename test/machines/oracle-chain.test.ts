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
          const over = isOver(call)
          call = step(plan, call, event)
          seen.add(call.state)
          chain.send(event)
          expect(chain.look()).toEqual(expected(call))
          steps++
          // one stray event after the end is enough
          if (over) break
        }
      }),
      { numRuns: 2000 },
    )
    expect(steps).toBeGreaterThan(5000)
    expect(seen.size).toBe(11)
  })
})
