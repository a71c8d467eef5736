import { describe, expect, it } from 'vitest'
import { createBreakerRegistry } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { answer, rig } from '../support/rig.ts'
import { down, isolating, target } from '../support/targets.ts'

// XState takes a target that begins with '#_' for an address of its own
const ODD = ['#_parent', '#_internal', '#_x', '#_#_x', '#x', 'parent', 'internal', 'x.y', '*']

describe('a circuit may be called anything', () => {
  it.each(ODD)('an operator reaches the circuit of %s', (name) => {
    const { gear } = rig([target('x', answer('ok')), target(name, answer('ok'))])
    gear.openCircuit({ name })
    expect(gear.getCircuitState({ name })).toBe('open')
    expect(gear.getCircuitState({ name: 'x' })).toBe('closed')
    gear.closeCircuit({ name })
    expect(gear.getCircuitState({ name })).toBe('closed')
  })

  it.each(ODD)('one that fails is replaced: %s', (name) => {
    const registry = createBreakerRegistry({ clock: new VirtualClock(1) })
    const breaker = registry.get(name)
    const poisoned = { type: 'call.failed', at: 1, generation: 1, failure: 'x', reading: null, roll: 0 }
    registry.supervisor.getSnapshot().children[name]?.send(poisoned as never)
    expect(registry.supervisor.getSnapshot().context.replaced).toBe(1)
    breaker.open()
    expect(breaker.state).toBe('open')
  })

  it('one of another target is not taken over as one of a model', () => {
    const { gear } = rig([target('z', answer('ok'), { bucket: 'a/m' })])
    gear.openCircuit({ name: 'z' }, { hold: true })
    gear.reconfigure({ targets: [target('a', answer('ok'), isolating())] })
    expect(gear.getCircuitState({ name: 'a', model: 'm' })).toBe('closed')
  })

  it('nor the other way round, used or saved', () => {
    const before = rig([target('a', down, isolating())])
    before.gear.openCircuit({ model: 'm' }, { hold: true })
    for (const used of [true, false]) {
      const { gear } = rig([target('a', down, isolating())], { snapshots: before.gear.snapshots() })
      if (used) gear.openCircuit({ model: 'm' }, { hold: true })
      gear.reconfigure({ targets: [target('z', answer('ok'), { bucket: 'a/m' })] })
      expect(gear.getStatus()).toMatchObject({ state: 'closed', held: false })
    }
  })
})
