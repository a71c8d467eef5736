import { describe, expect, it } from 'vitest'
import { fate, settle } from '../support/fate.ts'
import { rig, status } from '../support/rig.ts'
import type { Rig, Target } from '../support/rig.ts'

const nothing = () => {}

/** What a call comes to whose first request fails, the second not; and how often it asks. */
async function outcome(
  circuitBreaker: NonNullable<Target['circuitBreaker']>,
  before: (gear: Rig['gear']) => void,
  meanwhile: (gear: Rig['gear']) => void,
) {
  let asked = 0
  const invoke = () => (++asked === 1 ? Promise.reject(status(500)) : Promise.resolve('ok'))
  const { gear, clock } = rig([{ name: 'a', invoke, maxRetries: 1, circuitBreaker }])
  before(gear)
  const call = gear.call('x')
  await settle()
  meanwhile(gear)
  clock.advance(1000)
  return { asked, came: await fate(call) }
}

describe('observe mode changes no result: a visit is retried', () => {
  const open = (gear: Rig['gear']) => gear.openCircuit()
  const hold = (gear: Rig['gear']) => gear.openCircuit({}, { hold: true })

  it.each([
    ['although the circuit would have refused it', open, nothing],
    ['although the circuit was opened in its back-off', nothing, open],
    ['although the circuit is held open', hold, nothing],
    ['although its generation is over', nothing, (gear: Rig['gear']) => gear.closeCircuit()],
  ])('%s', async (_what, before, meanwhile) => {
    expect(await outcome({ mode: 'observe' }, before, meanwhile)).toEqual(
      await outcome(false, nothing, nothing),
    )
  })
})
