import { describe, expect, it } from 'vitest'
import type { CallOptions, CallReport } from '../../src/index.ts'
import { errorOf, fate, settle } from '../support/fate.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const target = (name: string, invoke: NonNullable<Target['invoke']>, more: Partial<Target> = {}): Target => ({
  name,
  invoke,
  maxRetries: 0,
  circuitBreaker: { threshold: 3, cooldownMs: 10_000 },
  ...more,
})
const down = failing(status(500))
const tooLong = failing(status(400, { code: 'context_length_exceeded' }))

/** A target that counts how often it was asked. */
function counting(invoke: NonNullable<Target['invoke']>) {
  const counted = { asked: 0, invoke }
  counted.invoke = (request, context) => {
    counted.asked++
    return invoke(request, context)
  }
  return counted
}

describe('noFallback', () => {
  const two = (options: CallOptions, openFirst: boolean) => {
    const b = counting(answer('b'))
    const setup = rig([target('a', down, { maxRetries: 1 }), target('b', b.invoke)], { random: () => 0.9 })
    if (openFirst) setup.gear.openCircuit({ name: 'a' })
    const call = setup.gear.call('x', options)
    call.catch(() => {})
    return { ...setup, b, call }
  }

  // README, CallOptions: "Once a target was asked, nobody else is."
  it('asks nobody else when the circuit opens during a back-off', async () => {
    const { gear, clock, call, b } = two({ noFallback: true }, false)
    await settle()
    gear.openCircuit({ name: 'a' })
    clock.advance(60_000)
    expect(await errorOf(call)).toMatchObject({ status: 500 })
    expect(b.asked).toBe(0)
  })

  // x-switchgear-target with x-switchgear-bypass is exactly this
  it('asks nobody else after a bypassed circuit', async () => {
    const { clock, call, b } = two({ noFallback: true, bypassCircuit: true }, true)
    await settle()
    clock.advance(60_000)
    expect(await errorOf(call)).toMatchObject({ status: 500 })
    expect(b.asked).toBe(0)
  })

  it.each<[string, NonNullable<Target['invoke']>, object]>([
    ['a list for such requests', tooLong, { contextWindowFallbacks: { a: ['b'] } }],
    ['fallbackOn', down, { fallbackOn: () => 'next' }],
  ])('asks nobody else, whatever is said by %s', async (_what, invoke, options) => {
    const b = counting(answer('b'))
    const { gear } = rig([target('a', invoke), target('b', b.invoke)], options)
    await errorOf(gear.call('x', { noFallback: true }))
    expect(b.asked).toBe(0)
  })

  it('asks one target after a wait for the first circuit to return', async () => {
    const b = counting(answer('b'))
    const { gear, clock } = rig([target('a', down), target('b', b.invoke)], {
      whenAllOpen: { waitMs: 60_000 },
    })
    gear.openCircuit({ name: 'b' })
    clock.advance(1)
    gear.openCircuit({ name: 'a' })
    const call = gear.call('x', { targets: ['a', 'b'], noFallback: true })
    call.catch(() => {})
    clock.advance(9999)
    expect(await fate(call)).toEqual({ value: 'b' })
    expect(b.asked).toBe(1)
  })

  // a timeout is not retried "while an untried target is left"; here none is, as for a single target
  it('is as good as a single target: a timeout is retried', async () => {
    const a = counting(never)
    const { gear, clock } = rig(
      [target('a', a.invoke, { maxRetries: 1, timeoutMs: 100 }), target('b', answer('b'))],
      { random: () => 0.9 },
    )
    const call = gear.call('x', { noFallback: true })
    call.catch(() => {})
    clock.advance(100)
    await settle()
    clock.advance(1000)
    await settle()
    clock.advance(100)
    expect(await errorOf(call)).toMatchObject({ code: 'ERR_ATTEMPT_TIMEOUT' })
    expect(a.asked).toBe(2)
  })
})

describe('a bypassed circuit', () => {
  // gives the last resort, which has the same permit, no retries
  it('does not keep its caller waiting for a retry that is never sent', async () => {
    const { gear } = rig([target('a', down, { maxRetries: 2, retry: { baseMs: 10_000 } })], {
      random: () => 0.9,
    })
    gear.openCircuit()
    expect(await fate(gear.call('x', { bypassCircuit: true }))).toMatchObject({ error: { status: 500 } })
  })

  it('is bypassed for one visit: the next target has its retries', async () => {
    const b = counting(down)
    const { gear, clock } = rig(
      [target('a', down, { maxRetries: 2 }), target('b', b.invoke, { maxRetries: 1 })],
      {
        random: () => 0.9,
      },
    )
    gear.openCircuit({ name: 'a' })
    const call = gear.call('x', { bypassCircuit: true })
    call.catch(() => {})
    await settle()
    clock.advance(1000)
    expect(await errorOf(call)).toMatchObject({
      attempts: [{ target: 'a' }, { target: 'b' }, { target: 'b' }],
    })
    expect(b.asked).toBe(2)
  })
})

// "a retry costs 1"
describe('the retry budget: a retry that is never sent costs nothing', () => {
  const scarce = { retryBudget: { capacity: 1, perCall: 0 } }
  const scene = () => {
    const a = counting(down)
    return { a, ...rig([target('a', a.invoke, { maxRetries: 1 })], scarce) }
  }
  const runs = async ({ gear, clock }: ReturnType<typeof scene>, options: CallOptions) => {
    const call = gear.call('x', options)
    call.catch(() => {})
    await settle()
    clock.advance(1000)
    await errorOf(call)
  }

  it('after a bypassed circuit', async () => {
    const all = scene()
    all.gear.openCircuit()
    await runs(all, { bypassCircuit: true })
    all.gear.closeCircuit()
    all.a.asked = 0
    await runs(all, {})
    expect(all.a.asked).toBe(2)
  })

  it.each<[string, (gear: ReturnType<typeof scene>['gear'], hangUp: () => void) => void]>([
    ['when the circuit has opened meanwhile', (gear) => gear.openCircuit()],
    ['when the caller has hung up meanwhile', (_gear, hangUp) => hangUp()],
  ])('%s', async (_when, meanwhile) => {
    const all = scene()
    const controller = new AbortController()
    const call = all.gear.call('x', { signal: controller.signal })
    call.catch(() => {})
    // in its back-off
    await settle()
    meanwhile(all.gear, () => controller.abort('enough'))
    all.clock.advance(1000)
    await errorOf(call)
    expect(all.a.asked).toBe(1)
    all.gear.closeCircuit()
    await runs(all, {})
    expect(all.a.asked).toBe(3)
  })
})

// what a call may do is settled when it starts
describe('the list of targets belongs to its caller', () => {
  it('one that is emptied after the call has begun loses no fallback', async () => {
    const { gear } = rig([target('a', down), target('b', answer('b'))])
    const targets = ['a', 'b']
    const call = gear.call('x', { targets })
    targets.length = 0
    expect(await fate(call)).toEqual({ value: 'b' })
  })

  it('one that is changed after the call has begun does not hang it', async () => {
    const { gear } = rig([target('a', down), target('b', answer('b'))])
    const targets = ['a', 'b']
    const call = gear.call('x', { targets })
    targets[1] = 'nobody'
    expect(await fate(call)).toEqual({ value: 'b' })
  })

  it('a list for such requests that is changed later neither hangs nor leads a call', async () => {
    const list = ['b']
    const { gear } = rig([target('a', tooLong), target('b', answer('b'))], {
      contextWindowFallbacks: { a: list },
    })
    list[0] = 'nobody'
    expect(await fate(gear.call('x'))).toEqual({ value: 'b' })
  })
})

describe('the report', () => {
  // CallReport: "−1 = nobody answered"; the gateway's x-switchgear-attempted-fallbacks is made of it
  it('of an answer from a list for such requests has a place, behind the chain', async () => {
    const targets = [target('long', answer('ok')), target('a', tooLong)]
    const { gear } = rig(targets, { contextWindowFallbacks: { a: ['long'] } })
    let told: CallReport | undefined
    await gear.call('x', { targets: ['a'], report: (report) => (told = report) })
    expect(told).toMatchObject({ ok: true, target: 'long', fallbackIndex: 1 })
  })

  // "Told once, when the call has ended."
  it.each<[string, CallOptions]>([
    ['names nobody', { targets: ['nobody'] }],
    ['has a deadline that is none', { deadlineMs: Number.NaN }],
    ['has a signal that cannot be listened to', { signal: { aborted: false } as never }],
  ])('is told where the call itself %s; no target is held to be down', async (_what, options) => {
    const { gear } = rig([target('a', answer('ok'))])
    const told: CallReport[] = []
    await errorOf(gear.call('x', { ...options, report: (report) => told.push(report) }))
    expect(told).toMatchObject([{ ok: false, target: undefined, attempts: 0 }])
    expect(gear.stats()).toMatchObject({ running: 0, calls: { rejected: 1, failed: 0 } })
  })
})
