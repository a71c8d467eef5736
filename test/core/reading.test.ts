import { describe, expect, it } from 'vitest'
import type { JournalEntry, SavedCircuit } from '../../src/index.ts'
import { errorOf } from '../support/fate.ts'
import { rig } from '../support/rig.ts'
import { counting, down, isolating, target } from '../support/targets.ts'

const saved = (model: string): Record<string, SavedCircuit> => {
  const { gear } = rig([target('a', down, isolating())])
  gear.openCircuit({ name: 'a', model }, { hold: true, ttlMs: 60_000 })
  return gear.snapshots()
}

describe('reading changes nothing', () => {
  const crowded = (hold: boolean) => {
    const { gear } = rig([target('a', down, isolating())], { maxBuckets: 1, snapshots: saved('m') })
    gear.openCircuit({ name: 'a', model: 'n' }, { hold })
    return gear
  }

  it('to read a saved circuit evicts no other', () => {
    const gear = crowded(false)
    gear.getCircuitState({ name: 'a', model: 'm' })
    expect(gear.getCircuitState({ name: 'a', model: 'n' })).toBe('open')
  })

  it('to read a saved circuit does not throw for want of room', () => {
    expect(crowded(true).getCircuitState({ name: 'a', model: 'm' })).toBe('open')
  })

  it('whatever is read of a saved circuit, it is as it would be, and stays as it is', async () => {
    const entries: JournalEntry[] = []
    const heard: string[] = []
    const a = counting(down)
    const { gear, clock } = rig([target('a', a.invoke, isolating())], {
      snapshots: saved('m'),
      journal: { append: (entry) => void entries.push(entry) },
      onStateChange: (_from, to) => void heard.push(to),
    })
    gear.on('hold', () => heard.push('hold'))
    const m = { name: 'a', model: 'm' }
    const before = [gear.snapshots(), gear.supervisor.getSnapshot().children, clock.pending]
    expect(gear.getCircuitState(m)).toBe('open')
    expect(gear.getCircuitStates('m')).toMatchObject([{ state: 'open' }])
    expect(gear.getStatus(m)).toMatchObject({ held: true, retryAfterMs: 60_000 })
    expect(gear.canExecute(m)).toBe(false)
    expect(gear.getFailureBreakdown(m)).toEqual({})
    expect(gear.explain(m)?.sentence).toContain('held')
    clock.advance(60_000)
    expect(gear.getCircuitState(m)).toBe('half-open')
    expect(gear.canExecute(m)).toBe(true)
    expect([gear.snapshots(), gear.supervisor.getSnapshot().children, clock.pending]).toEqual(before)
    expect([entries, heard]).toEqual([[], []])
    await errorOf(gear.call('x', { model: 'm' }))
    expect(a.asked).toBe(1)
    expect(gear.getCircuitState(m)).toBe('open')
  })

  it('a policy of the user’s own does not hear of it', () => {
    const heard: string[] = []
    const tripping = {
      onSuccess: () => void heard.push('onSuccess'),
      onFailure: () => heard.push('onFailure') > 0,
      reset: () => void heard.push('reset'),
      forget: () => void heard.push('forget'),
    }
    const rules = { circuitBreaker: { tripping, isolateByModel: true } }
    const { gear } = rig([target('a', down, rules)], { snapshots: saved('m') })
    expect(gear.getCircuitState({ model: 'm' })).toBe('open')
    expect(heard).toEqual([])
  })

  it('a held circuit that waits for its first use is shown in the numbers, a closed one is not', () => {
    const { gear, clock } = rig([target('a', down, isolating())], {
      snapshots: { ...saved('m'), 'a/n': { ...saved('n')['a/n']!, state: 'closed', hold: null } },
    })
    const shown = () => gear.stats().breakers
    expect(shown()).toMatchObject([
      { bucket: 'a/m', model: 'm', targets: ['a'], status: { state: 'open', held: true } },
    ])
    gear.closeCircuit({ model: 'm' })
    expect(shown()).toMatchObject([{ bucket: 'a/m', status: { state: 'closed', held: false } }])
    expect(clock.pending).toBe(0)
  })

  it('also after close()', async () => {
    const { gear } = rig([target('a', down, isolating())], { snapshots: saved('m') })
    await gear.close()
    expect(gear.getCircuitState({ model: 'm' })).toBe('open')
  })
})
