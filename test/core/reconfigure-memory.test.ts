import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, it } from 'vitest'
import { answer, rig } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('what is not in force any more is let go of, however often the rules change', async () => {
  const gone: WeakRef<object>[] = []
  const target = (cooldownMs: number): Target => {
    const invoke = answer('ok')
    gone.push(new WeakRef(invoke))
    return { name: 'a', invoke, maxRetries: 0, circuitBreaker: { cooldownMs } }
  }
  const { gear } = rig([target(0)])
  for (let round = 1; round <= 20; round++) {
    await gear.call('x')
    // now the circuit goes on, now it gets other rules
    gear.reconfigure({ targets: [target(Math.floor(round / 2))] })
  }
  await turn()
  collect()
  // the one in force, and what the rig was made of
  expect(gone.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(3)
})
