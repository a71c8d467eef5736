import { describe, expect, it } from 'vitest'
import type { CallObserver, CallWatch } from '../../src/core/call-observer.ts'
import type { FailedAttempt } from '../../src/core/switchgear-options.ts'
import type { HeldCircuit } from '../../src/core/transition.ts'
import { fate } from '../support/fate.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const down: Target = {
  name: 'a',
  invoke: failing(status(500)),
  maxRetries: 0,
  circuitBreaker: { threshold: 2, cooldownMs: 1000 },
}
const up: Target = { name: 'b', invoke: answer('yes'), circuitBreaker: true }

/** Writes down what it is told. */
function witness() {
  const seen: string[] = []
  const observer: CallObserver = {
    begin: ({ id }) => {
      seen.push(`begin ${id}`)
      return {
        refused: (target, _, { reason }) => void seen.push(`refused ${target} ${reason}`),
        attempt: ({ target, attempt }, send) => {
          seen.push(`attempt ${target} ${attempt}`)
          send()
        },
        committed: () => void seen.push('committed'),
        attemptEnded: ({ outcome, failure, answer: given }) =>
          void seen.push(['ended', outcome, failure, given].filter(Boolean).join(' ')),
        ended: (end, { target, ok }) => void seen.push(`${end} ${target} ${ok}`),
      }
    },
  }
  return { seen, observer }
}

describe('an observer', () => {
  it('is told the story of a call, in order', async () => {
    const { gear } = rig([down, up])
    const { seen, observer } = witness()
    gear.observe(observer)
    await gear.call('hi')
    gear.openCircuit()
    await gear.call('hi')
    expect(seen).toEqual([
      'begin call-1',
      'attempt a 1',
      'ended failure server_error',
      'attempt b 1',
      'ended success yes',
      'answered b true',
      'begin call-2',
      'refused a open',
      'attempt b 1',
      'ended success yes',
      'answered b true',
    ])
  })

  it('is told of a stream when it commits, and how it ends', async () => {
    async function* stream() {
      yield 'one'
      throw status(500)
    }
    const { gear } = rig([{ name: 's', stream }])
    const { seen, observer } = witness()
    gear.observe(observer)
    const read = async () => {
      for await (const _ of gear.stream('hi'));
    }
    await expect(read()).rejects.toThrow()
    expect(seen).toEqual([
      'begin call-1',
      'attempt s 1',
      'committed',
      'ended failure server_error',
      'interrupted s false',
    ])
  })

  it('is told how a call was cut off', async () => {
    const { clock, gear } = rig([{ ...up, invoke: never }])
    const { seen, observer } = witness()
    gear.observe(observer)
    const leave = new AbortController()
    const calls = [gear.call('hi', { signal: leave.signal }), gear.call('hi', { deadlineMs: 10 })]
    leave.abort()
    clock.advance(10)
    await Promise.allSettled(calls)
    expect(seen.slice(-4)).toEqual([
      'ended neutral aborted',
      'aborted b false',
      'ended neutral deadline',
      'outOfTime b false',
    ])
  })

  const boom = () => {
    throw new Error('observer')
  }
  const silent: CallWatch = { refused() {}, attempt() {}, committed() {}, attemptEnded() {}, ended() {} }
  it.each<[string, CallObserver]>([
    ['throws at once', { begin: boom }],
    ['gives nothing', { begin: () => undefined as never }],
    ['never sends', { begin: () => silent }],
    ['sends twice', { begin: () => ({ ...silent, attempt: (_, send) => (send(), send()) }) }],
    [
      'sends, then throws',
      {
        begin: () => ({
          ...silent,
          attempt(_, send) {
            send()
            boom()
          },
        }),
      },
    ],
    [
      'always throws',
      { begin: () => ({ refused: boom, attempt: boom, committed: boom, attemptEnded: boom, ended: boom }) },
    ],
  ])('that %s hurts no call', async (_, observer) => {
    let asked = 0
    const counting: Target = { ...up, invoke: () => Promise.resolve(`answer ${++asked}`) }
    const { gear } = rig([down, counting])
    gear.observe(observer)
    gear.openCircuit()
    expect(await gear.call('hi')).toBe('answer 1')
    expect(asked).toBe(1)
  })

  // a caller's abort ends everything
  it('that aborts the call ends it, and hears so', async () => {
    let asked = 0
    const { gear } = rig([{ ...up, invoke: () => Promise.resolve(`answer ${++asked}`) }])
    const { seen, observer } = witness()
    const controller = new AbortController()
    gear.observe({
      begin(call) {
        controller.abort('stop')
        return observer.begin(call)
      },
    })
    expect(await fate(gear.call('x', { signal: controller.signal }))).toEqual({ error: 'stop' })
    expect(seen).toEqual(['begin call-1', 'aborted undefined false'])
    expect(asked).toBe(0)
  })

  it('is the only one, until it stops; a reconfiguration keeps it', async () => {
    const { gear } = rig([up])
    const { seen, observer } = witness()
    const stop = gear.observe(observer)
    expect(() => gear.observe(observer)).toThrow('The calls are observed already.')
    gear.reconfigure({ targets: [{ ...up, invoke: answer('new') }] })
    await gear.call('hi')
    expect(seen).toContain('ended success new')
    stop()
    await gear.call('hi')
    expect(seen.filter((line) => line.startsWith('begin'))).toHaveLength(1)
  })
})

describe('what can be listened to besides transitions', () => {
  it('an operator’s hold, whether it changes the state or not', () => {
    const { clock, gear } = rig([up])
    const held: HeldCircuit[] = []
    const stop = gear.on('hold', (told) => held.push(told))
    const hold = { by: 'alice', reason: 'drill', until: null }
    gear.closeCircuit({}, { hold: true, by: 'alice', reason: 'drill' })
    gear.openCircuit({}, { by: 'alice' })
    gear.openCircuit({}, { hold: true, ttlMs: 500, by: 'alice', reason: 'drill' })
    const at = clock.now()
    expect(held).toEqual([
      { bucket: 'b', model: undefined, state: 'closed', at, hold },
      { bucket: 'b', model: undefined, state: 'open', at, hold: { ...hold, until: at + 500 } },
    ])
    stop()
    gear.closeCircuit({}, { hold: true })
    expect(held).toHaveLength(2)
  })

  it('every attempt without an answer', async () => {
    const { gear } = rig([{ ...down, invoke: failing(status(401)) }, up])
    const failed: FailedAttempt[] = []
    gear.on('failure', (told) => failed.push(told))
    gear.on('failure', () => {
      throw new Error('listener')
    })
    expect(await gear.call('hi')).toBe('yes')
    expect(failed).toMatchObject([{ target: 'a', failure: 'auth', alert: true, attempt: 1, call: 'call-1' }])
  })

  // one that the deadline cut counts as a timeout, so it is told as one
  it('also one that the deadline cut: numbers and events agree', async () => {
    const { gear, clock } = rig([{ ...up, invoke: never }], { deadlineMs: 1000 })
    const heard: string[] = []
    gear.on('failure', ({ failure }) => heard.push(failure))
    const call = gear.call('x')
    clock.advance(1000)
    expect(await fate(call)).toMatchObject({ error: { code: 'ERR_DEADLINE_EXCEEDED' } })
    expect(heard).toEqual(['timeout'])
    expect([...gear.stats().targets[0]!.stats.failures]).toEqual([['timeout', 1]])
    expect(gear.getFailureBreakdown()).toEqual({ timeout: 1 })
  })
})
