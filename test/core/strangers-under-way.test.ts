import { describe, expect, it } from 'vitest'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import type { SwitchgearOptions } from '../../src/core/switchgear-options.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** A policy that never trips, and does something when a circuit is forgotten. */
const forgetting = (forget: () => void) => ({
  onSuccess() {},
  onFailure: () => false,
  reset() {},
  forget,
})

describe("somebody else's code in the middle of things", () => {
  it.each(['a policy', 'the journal'])(
    'that hangs up while a circuit is made ends the call once, before anything is sent: %s',
    async (who) => {
      let caller: AbortController | undefined
      const hangUp = () => caller?.abort(new Error('hung up'))
      const tripping = forgetting(() => who === 'a policy' && hangUp())
      let sent = 0
      const invoke = async () => `answer ${++sent}`
      const gear = createSwitchgear({
        maxBuckets: 1,
        ...(who === 'the journal' && { journal: { append: hangUp } }),
        targets: [{ invoke, circuitBreaker: { isolateByModel: true, tripping } }],
      })
      await gear.call({}, { model: 'm1' })
      caller = new AbortController()
      const reports: unknown[] = []
      const options = { model: 'm2', signal: caller.signal, report: (told: unknown) => reports.push(told) }
      await expect(gear.call({}, options)).rejects.toThrow('hung up')
      await Promise.resolve()
      const { calls, running } = gear.stats()
      expect([sent, reports.length, running, calls.answered, calls.aborted]).toEqual([1, 1, 0, 1, 1])
    },
  )

  it('a quick answer is no slow one, though latency began to count while the call was under way', async () => {
    const clock = new VirtualClock(1_000_000)
    const answers: ((text: string) => void)[] = []
    const rules = (tripping: object): SwitchgearOptions => ({
      targets: [
        {
          invoke: () => new Promise((resolve) => answers.push(resolve)),
          circuitBreaker: { tripping } as never,
        },
      ],
    })
    const gear = createSwitchgear({ ...rules({ kind: 'consecutive', threshold: 3 }), clock })
    const calls = [1, 2, 3].map(() => gear.call({}))
    clock.advance(5)
    gear.reconfigure(rules({ kind: 'latency', windowMs: 10_000, minCalls: 2, slowMs: 1000, slowRatio: 0.5 }))
    for (const answer of answers) answer('ok')
    await Promise.all(calls)
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('a policy that is forgotten may hold another circuit, and none is lost by it', async () => {
    const clock = new VirtualClock(1_000_000)
    const invoke = async () => 'ok'
    const a = { name: 'a', invoke, circuitBreaker: { isolateByModel: true } }
    let told = 0
    const tripping = forgetting(() => {
      if (++told === 1) gear.closeCircuit({ name: 'a' }, { hold: true, ttlMs: 700 })
    })
    const gear = createSwitchgear({
      clock,
      targets: [{ name: 'b', invoke, circuitBreaker: { tripping } }, a],
    })
    await gear.call({}, { targets: ['a'] })
    gear.reconfigure({ targets: [a] })
    expect(gear.getStatus({ name: 'a' })?.held).toBe(true)
    await gear.close()
    expect(clock.pending).toBe(0)
  })
})
