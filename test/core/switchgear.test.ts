import { describe, expect, it } from 'vitest'
import { ConfigError, createSwitchgear } from '../../src/index.ts'
import type { CallReport, CircuitState, JournalEntry, SwitchgearEvent, Transition } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { errorOf, fate, settle, unhandledIn } from '../support/fate.ts'
import { HOSTILE, answer, failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

const flaky = (name: string, more: Partial<Target> = {}): Target => ({
  name,
  invoke: (request) =>
    request.includes(name) ? Promise.reject(status(500)) : Promise.resolve(`from ${name}`),
  maxRetries: 0,
  circuitBreaker: { threshold: 2, cooldownMs: 1000 },
  ...more,
})
const three = (options: Options = {}) =>
  rig([flaky('a'), flaky('b'), { name: 'plain', invoke: answer('from plain') }], options)

function recorder() {
  const lines: { readonly level: string; readonly fields: object; readonly text: string }[] = []
  const at = (level: string) => (fields: object, text: string) => void lines.push({ level, fields, text })
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}

describe('targets are found', () => {
  it('without a name they are primary, fallback[0], fallback[1]', () => {
    const { gear } = rig([{ invoke: answer('') }, { invoke: answer('') }, { invoke: answer('') }])
    expect(gear.getCircuitStates().map(({ provider }) => provider)).toEqual([
      'primary',
      'fallback[0]',
      'fallback[1]',
    ])
    expect(gear.getCircuitState({ name: 'fallback[1]' })).toBeUndefined()
  })

  it('getCircuitStates lists all, in order of declaration', () => {
    const { gear } = rig([
      flaky('a'),
      flaky('b', { circuitBreaker: { isolateByModel: true } }),
      { name: 'c', invoke: answer('') },
    ])
    gear.openCircuit({ name: 'b', model: 'm' })
    expect(gear.getCircuitStates('m')).toEqual([
      { provider: 'a', index: 0, isFallback: false, isolateByModel: false, state: 'closed' },
      { provider: 'b', index: 1, isFallback: true, isolateByModel: true, state: 'open' },
      { provider: 'c', index: 2, isFallback: true, isolateByModel: false, state: undefined },
    ])
    expect(gear.getCircuitStates()[1]?.state).toBe('closed')
  })

  it('default the primary; by index, by name, by both when they agree', () => {
    const { gear } = three()
    gear.openCircuit({ index: 1 })
    expect(gear.getCircuitState()).toBe('closed')
    expect(gear.getCircuitState({})).toBe('closed')
    expect(gear.getCircuitState({ name: 'b' })).toBe('open')
    expect(gear.getCircuitState({ name: 'b', index: 1 })).toBe('open')
  })

  it.each([
    { index: 3 },
    { index: -1 },
    { index: 0.5 },
    { index: NaN },
    { name: 'nobody' },
    { name: 'b', index: 0 },
  ])('an unknown one is a RangeError, for reading and for commands: %j', (target) => {
    const { gear } = three()
    const all = [
      () => gear.getCircuitState(target),
      () => gear.getStatus(target),
      () => gear.canExecute(target),
      () => gear.getFailureBreakdown(target),
      () => gear.explain(target),
      () => gear.openCircuit(target),
      () => gear.closeCircuit(target),
    ]
    for (const ask of all) expect(ask).toThrow(RangeError)
  })

  it('one without a breaker reads undefined, admits, and ignores commands', () => {
    const { gear } = three()
    const plain = { name: 'plain' }
    gear.openCircuit(plain, { hold: true })
    gear.closeCircuit(plain)
    expect(gear.getCircuitState(plain)).toBeUndefined()
    expect(gear.getStatus(plain)).toBeUndefined()
    expect(gear.getFailureBreakdown(plain)).toBeUndefined()
    expect(gear.explain(plain)).toBeUndefined()
    expect(gear.canExecute(plain)).toBe(true)
  })

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'a target may be called %s, whatever objects inherit',
    async (name) => {
      const tooLong = status(400, { code: 'context_length_exceeded' })
      const { gear } = rig([{ name, invoke: failing(tooLong), circuitBreaker: true }, flaky('b')])
      expect(await errorOf(gear.call('x'))).toBe(tooLong)
      const filtered = status(400, { code: 'content_filter' })
      const other = rig([{ name, invoke: failing(filtered), circuitBreaker: true }, flaky('b')])
      expect(await errorOf(other.gear.call('x'))).toBe(filtered)
    },
  )
})

describe('reading', () => {
  it('changes nothing, and is right although no timer has fired', () => {
    const told: unknown[] = []
    const { gear, clock } = three({ onEvent: (event) => told.push(event) })
    gear.openCircuit()
    clock.dropTimers()
    clock.advance(1000)
    told.length = 0
    expect(gear.getCircuitState()).toBe('half-open')
    expect(gear.getStatus()).toMatchObject({ state: 'half-open', retryAfterMs: 0 })
    expect(gear.canExecute()).toBe(true)
    expect(gear.explain()?.sentence).toContain('half-open')
    expect(told).toEqual([])
  })

  it('getFailureBreakdown counts by kind, {} without a failure, cleared with the bucket', async () => {
    const { gear } = three()
    expect(gear.getFailureBreakdown()).toEqual({})
    await gear.call('a')
    expect(gear.getFailureBreakdown()).toEqual({ server_error: 1 })
    await gear.call('fine')
    expect(gear.getFailureBreakdown()).toEqual({})
    await gear.call('a')
    gear.closeCircuit()
    expect(gear.getFailureBreakdown()).toEqual({})
  })

  it('canExecute predicts what the next admission says, in every state', async () => {
    const { gear, clock } = three()
    const a = { name: 'a' }
    const asked = async () => (await gear.call('x')) === 'from a'
    for (const act of [
      () => {},
      () => gear.openCircuit(a),
      () => clock.advance(999),
      () => clock.advance(1),
      () => gear.openCircuit(a, { hold: true }),
      () => clock.advance(10_000),
      () => gear.closeCircuit(a),
    ]) {
      act()
      const predicted = gear.canExecute(a)
      expect(await asked()).toBe(predicted)
    }
  })

  it('explain names state, holder, reason, cause and failures in one sentence', async () => {
    const { gear } = three()
    await gear.call('a')
    await gear.call('a')
    expect(gear.explain()?.sentence).toMatch(
      /^Circuit 'a' is open \(calls refused\) since .+: 2 failures in a row, the last of kind server_error\. Failures counted: server_error 2\. Worth another try in 1 s\.$/,
    )
    gear.openCircuit({}, { hold: true, by: 'kim', reason: 'maintenance' })
    expect(gear.explain()?.sentence).toContain('held by kim ("maintenance")')
    expect(gear.explain()?.status.retryAfterMs).toBeNull()
  })
})

describe('commands', () => {
  it('a hold open outlives every timer and every success; only a close ends it', async () => {
    const { gear, clock } = three()
    gear.openCircuit({}, { hold: true })
    clock.advance(10 ** 9)
    gear.openCircuit()
    clock.advance(10 ** 9)
    expect(gear.getStatus()).toMatchObject({ state: 'open', held: true, retryAfterMs: null })
    expect(await gear.call('x')).toBe('from b')
    gear.closeCircuit()
    expect(await gear.call('x')).toBe('from a')
  })

  it('a hold with ttlMs ends by itself: open in half-open, closed in closed', () => {
    const { gear, clock } = three()
    gear.openCircuit({ name: 'a' }, { hold: true, ttlMs: 500 })
    gear.closeCircuit({ name: 'b' }, { hold: true, ttlMs: 500 })
    expect(gear.getStatus()?.retryAfterMs).toBe(500)
    clock.advance(500)
    expect(gear.getStatus({ name: 'a' })).toMatchObject({ state: 'half-open', held: false })
    expect(gear.getStatus({ name: 'b' })).toMatchObject({ state: 'closed', held: false })
  })

  it('a hold closed refuses nobody, whatever happens', async () => {
    const { gear } = three()
    gear.closeCircuit({}, { hold: true })
    for (let i = 0; i < 10; i++) await gear.call('a')
    expect(gear.getStatus()).toMatchObject({ state: 'closed', held: true, failureCount: 10 })
  })

  it('a model on a target that does not isolate works, and warns', () => {
    const { lines, logger } = recorder()
    const { gear } = three({ logger })
    gear.openCircuit({ name: 'b', model: 'gpt' })
    expect(gear.getCircuitState({ name: 'b', model: 'other' })).toBe('open')
    const warnings = lines.filter(({ text }) => text.includes('does not isolate'))
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toMatchObject({ level: 'warn', fields: { target: 'b', model: 'gpt' } })
  })
})

describe('isolateByModel and buckets', () => {
  const isolating = (more: Partial<Target> = {}): Target => ({
    name: 'a',
    model: 'm1',
    invoke: (request, { model }) =>
      request === model ? Promise.reject(status(500)) : Promise.resolve(`${model}`),
    maxRetries: 0,
    circuitBreaker: { threshold: 1, isolateByModel: true },
    ...more,
  })

  it('every model has its own breaker; the model left out means the configured one', async () => {
    const { gear } = rig([isolating()])
    await errorOf(gear.call('m1'))
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.getCircuitState({ model: 'm1' })).toBe('open')
    expect(gear.getCircuitState({ model: 'm2' })).toBe('closed')
    expect(await gear.call('x', { model: 'm2' })).toBe('m2')
    expect(gear.getFailureBreakdown({ model: 'm2' })).toEqual({})
  })

  it('a bucket never used reads closed and {}; reading makes no breaker', () => {
    const { gear } = rig([isolating()])
    expect(gear.getCircuitState({ model: 'never' })).toBe('closed')
    expect(gear.getFailureBreakdown({ model: 'never' })).toEqual({})
    expect(gear.canExecute({ model: 'never' })).toBe(true)
    expect(gear.snapshots()).toEqual({})
  })

  it('targets of one bucket share one breaker; with isolateByModel one a model', async () => {
    const shared = { bucket: 'openai', circuitBreaker: { threshold: 1 } } as const
    const { gear } = rig([flaky('a', shared), flaky('b', shared), { name: 'c', invoke: answer('from c') }])
    expect(await gear.call('a')).toBe('from c')
    expect(gear.getCircuitStates().map(({ state }) => state)).toEqual(['open', 'open', undefined])

    const both = { bucket: 'openai', circuitBreaker: { threshold: 1, isolateByModel: true } } as const
    const second = rig([isolating({ name: 'x', ...both }), isolating({ name: 'y', model: 'm2', ...both })])
    expect(await second.gear.call('m1')).toBe('m2')
    expect(Object.keys(second.gear.snapshots()).sort()).toEqual(['openai/m1', 'openai/m2'])
    expect(second.gear.getCircuitState({ name: 'y', model: 'm1' })).toBe('open')
  })

  it('a shared breaker tells one transition, with every target it stands for', async () => {
    const events: SwitchgearEvent[] = []
    const shared = { bucket: 'openai', circuitBreaker: { threshold: 1 } } as const
    const { gear } = rig([flaky('a', shared), flaky('b', shared)], { onEvent: (event) => events.push(event) })
    gear.openCircuit({ name: 'b' })
    expect(events).toMatchObject([
      { type: 'circuit_state', bucket: 'openai', targets: ['a', 'b'], to: 'open' },
    ])
  })
})

describe('what is told', () => {
  it('onStateChange(from, to, consecutiveFailures, model, detail), once per real change, of breaker and switchgear', async () => {
    const told: unknown[][] = []
    const heard: unknown[][] = []
    const { gear } = rig(
      [
        flaky('a', {
          model: 'm1',
          circuitBreaker: { threshold: 2, onStateChange: (...change) => void heard.push(change) },
        }),
        flaky('b'),
      ],
      { onStateChange: (...change) => void told.push(change) },
    )
    for (let i = 0; i < 4; i++) await gear.call('a')
    gear.openCircuit()
    gear.closeCircuit()
    gear.closeCircuit()
    expect(told.map((change) => change.slice(0, 4))).toEqual([
      ['closed', 'open', 2, 'm1'],
      ['open', 'closed', 0, undefined],
    ])
    expect(told[0]?.[4]).toMatchObject({ bucket: 'a', generation: 2, call: expect.any(String) })
    expect(heard).toEqual(told)
  })

  it('circuit_state carries the call it belongs to, and none for a timer or an operator', async () => {
    const calls: [CircuitState, string | undefined][] = []
    const { gear, clock } = three({
      onEvent: (event) => {
        if (event.type === 'circuit_state') calls.push([event.to, event.call])
      },
    })
    await gear.call('a', { id: 'first' })
    await gear.call('a', { id: 'second' })
    clock.advance(1000)
    await gear.call('x', { id: 'third' })
    gear.openCircuit()
    expect(calls).toEqual([
      ['open', 'second'],
      ['half-open', undefined],
      ['closed', 'third'],
      ['open', undefined],
    ])
  })

  it('attempt_failed names call, target, attempt, kind and alert, no text of the provider', async () => {
    const events: SwitchgearEvent[] = []
    const { gear } = rig(
      [
        {
          name: 'a',
          model: 'm',
          invoke: failing(status(401, { message: 'key sk-secret' })),
          circuitBreaker: true,
        },
        flaky('b'),
      ],
      { onEvent: (event) => events.push(event) },
    )
    await gear.call('x', { id: 'c1' })
    expect(events).toEqual([
      {
        type: 'attempt_failed',
        call: 'c1',
        target: 'a',
        model: 'm',
        attempt: 1,
        failure: 'auth',
        alert: true,
      },
    ])
  })

  it('every transition is one line of the log: circuit, from, to and why', async () => {
    const { lines, logger } = recorder()
    const { gear, clock } = three({ logger })
    await gear.call('a')
    await gear.call('a')
    clock.advance(1000)
    await gear.call('x')
    gear.openCircuit({ name: 'b' }, { by: 'kim', reason: 'upgrade' })
    expect(lines.map(({ level, text }) => `${level} ${text}`)).toEqual([
      "warn circuit 'a': closed → open: 2 failures in a row, the last of kind server_error",
      "info circuit 'a': open → half-open: the cooldown is over, probes may pass",
      "info circuit 'a': half-open → closed: the trial succeeded: 1 of 1 probe succeeded",
      `warn circuit 'b': closed → open: by hand, by kim ("upgrade")`,
    ])
    expect(lines[0]?.fields).toMatchObject({ bucket: 'a', from: 'closed', to: 'open', why: 'tripped' })
  })

  it('on(transition) hears every change until it is stopped; another event is refused', async () => {
    const { gear } = three()
    const heard: Transition[] = []
    const stop = gear.on('transition', (transition) => heard.push(transition))
    gear.openCircuit()
    stop()
    stop()
    gear.closeCircuit()
    expect(heard).toMatchObject([{ bucket: 'a', from: 'closed', to: 'open', cause: { why: 'operator' } }])
    expect(() => gear.on('transitions' as 'transition', () => {})).toThrow(ConfigError)
  })

  it('the report: who answered, after how much', async () => {
    const reports: CallReport[] = []
    const report = (told: CallReport) => void reports.push(told)
    const { gear, clock } = rig([flaky('a', { model: 'm1', maxRetries: 1 }), flaky('b', { model: 'm2' })], {
      random: () => 0.5,
    })
    const call = gear.call('a', { report })
    await settle()
    clock.advance(250)
    await call
    await errorOf(rig([flaky('a')]).gear.call('a', { report }))
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    await errorOf(gear.call('x', { report }))
    expect(reports).toEqual([
      { target: 'b', model: 'm2', attempts: 3, fallbackIndex: 1, durationMs: 250, ok: true },
      { target: 'a', model: undefined, attempts: 1, fallbackIndex: -1, durationMs: 0, ok: false },
      { target: undefined, model: undefined, attempts: 0, fallbackIndex: -1, durationMs: 0, ok: false },
    ])
  })

  it('degraded is told, read and listed, and admits', async () => {
    const told: string[] = []
    const { gear } = rig([flaky('a', { circuitBreaker: { threshold: 5, degradation: {} } }), flaky('b')], {
      onStateChange: (from, to) => void told.push(`${from} → ${to}`),
    })
    for (let i = 0; i < 3; i++) await gear.call('a')
    expect(gear.getCircuitStates()[0]?.state).toBe('degraded')
    expect(gear.canExecute()).toBe(true)
    expect(await gear.call('x')).toBe('from a')
    expect(told).toEqual(['closed → degraded', 'degraded → closed'])
  })
})

describe('the journal', () => {
  it('gets every event that changed a breaker, in order, with the call, and nothing of a provider', async () => {
    const entries: JournalEntry[] = []
    const { gear, clock } = three({ journal: { append: (entry) => void entries.push(entry) } })
    await gear.call('a secret', { id: 'c1' })
    await gear.call('a secret', { id: 'c2' })
    clock.advance(1000)
    await gear.call('x', { id: 'c3' })
    const story = entries.map(({ bucket, event, from, to, call }) => [bucket, event.type, from, to, call])
    expect(story).toEqual([
      ['a', 'breaker.started', 'closed', 'closed', undefined],
      ['b', 'breaker.started', 'closed', 'closed', undefined],
      ['a', 'call.failed', 'closed', 'open', 'c2'],
      ['a', 'cooldown.elapsed', 'open', 'half-open', undefined],
      ['a', 'probe.requested', 'half-open', 'half-open', 'c3'],
      ['a', 'probe.succeeded', 'half-open', 'closed', 'c3'],
    ])
    expect(JSON.stringify(entries)).not.toMatch(/secret|status 500/)
    expect(entries.every(({ event }) => Number.isInteger(event.at))).toBe(true)
  })
})

describe('observe mode', () => {
  it('runs the machine and the events, refuses nobody, and counts what it would have refused', async () => {
    const told: string[] = []
    const { gear } = rig([flaky('a', { circuitBreaker: { threshold: 1, mode: 'observe' } }), flaky('b')], {
      onStateChange: (_from, to) => void told.push(to),
    })
    await gear.call('a')
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.canExecute()).toBe(true)
    expect(await gear.call('x')).toBe('from a')
    expect(gear.getCircuitState()).toBe('open')
    expect(told).toEqual(['open'])
  })
})

describe('snapshots', () => {
  it('go through JSON and back: open, held, half-open, the model buckets too', async () => {
    const isolating = flaky('m', { circuitBreaker: { isolateByModel: true, threshold: 1 } })
    const targets = [flaky('a'), flaky('b'), flaky('c'), isolating]
    const first = rig(targets)
    first.gear.openCircuit({ name: 'a' })
    first.gear.openCircuit({ name: 'b' }, { hold: true, by: 'kim', reason: 'upgrade' })
    first.gear.openCircuit({ name: 'm', model: 'gpt' })
    const text = JSON.stringify(first.gear.snapshots())
    expect(text).not.toMatch(/null,null|Infinity|policy/)

    const second = rig(targets, { snapshots: JSON.parse(text) })
    expect(second.gear.getCircuitStates('gpt').map(({ state }) => state)).toEqual([
      'open',
      'open',
      'closed',
      'open',
    ])
    expect(second.gear.getStatus({ name: 'b' })).toMatchObject({ held: true, cause: { by: 'kim' } })
    second.clock.advance(1000)
    expect(second.gear.getCircuitState({ name: 'a' })).toBe('half-open')
    expect(second.gear.getCircuitState({ name: 'b' })).toBe('open')
    expect(JSON.parse(JSON.stringify(second.gear.snapshots()))).toEqual(second.gear.snapshots())
  })

  it('the policy is never saved: new options apply to an old circuit', () => {
    const first = rig([flaky('a', { circuitBreaker: { threshold: Infinity, cooldownBackoff: () => 5000 } })])
    first.gear.openCircuit()
    const saved = JSON.parse(JSON.stringify(first.gear.snapshots()))
    const second = rig(
      [flaky('a', { circuitBreaker: { threshold: 1, cooldownMs: 700, maxRetryAfterMs: 0 } })],
      {
        snapshots: saved,
      },
    )
    expect(second.gear.getStatus()?.retryAfterMs).toBe(700)
  })

  it('survive for buckets that nobody has used yet, and unknown ones', () => {
    const first = rig([flaky('a')])
    first.gear.openCircuit()
    const saved = { ...first.gear.snapshots(), 'a/unused': first.gear.snapshots().a! }
    const second = rig([flaky('b')], { snapshots: saved })
    expect(Object.keys(second.gear.snapshots()).sort()).toEqual(['a', 'a/unused', 'b'])
  })

  it('can still be taken after close(): that is when they are saved', async () => {
    const { gear } = three()
    gear.openCircuit()
    await gear.close()
    expect(gear.snapshots()).toMatchObject({ a: { state: 'open' } })
  })
})

describe('close()', () => {
  it('refuses new calls and streams, waits for the running ones, then leaves no timer', async () => {
    const gate = Promise.withResolvers<string>()
    const { gear, clock } = rig([{ ...flaky('a'), invoke: () => gate.promise }])
    const running = gear.call('x')
    const closing = gear.close()
    expect(await errorOf(gear.call('y'))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await fate(closing)).toBe('pending')
    gate.resolve('done')
    expect(await running).toBe('done')
    expect(await fate(closing)).toEqual({ value: undefined })
    expect(clock.pending).toBe(0)
  })

  it('called twice, every one of them ends', async () => {
    const gate = Promise.withResolvers<string>()
    const { gear } = rig([{ name: 'a', invoke: () => gate.promise }])
    const running = gear.call('x')
    const closings = [gear.close(), gear.close(), gear[Symbol.asyncDispose]()]
    gate.resolve('done')
    await running
    for (const closing of closings) expect(await fate(closing)).toEqual({ value: undefined })
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('waits for a call in its back-off and for one that waits for a circuit', async () => {
    const { gear, clock } = rig([flaky('a', { maxRetries: 1 })], {
      random: () => 0.5,
      whenAllOpen: { waitMs: 5000 },
    })
    const call = gear.call('a').catch(() => 'failed')
    await settle()
    const closing = gear.close()
    expect(await fate(closing)).toBe('pending')
    clock.advance(1000)
    expect(await call).toBe('failed')
    expect(await fate(closing)).toEqual({ value: undefined })
  })

  it('await using closes', async () => {
    const clock = new VirtualClock(1)
    {
      await using gear = createSwitchgear({ targets: [flaky('a')], clock })
      gear.openCircuit()
      expect(clock.pending).toBe(1)
    }
    expect(clock.pending).toBe(0)
  })
})

describe('a listener that throws', () => {
  it.each(HOSTILE)('%s: the others are told, and told of what comes later', async (_name, thrown) => {
    const heard: string[] = []
    const { gear } = rig([flaky('a', { circuitBreaker: { threshold: 1 } }), flaky('b')], {
      onStateChange: () => {
        throw thrown
      },
    })
    gear.on('transition', () => {
      throw thrown
    })
    gear.on('transition', ({ bucket, to }) => heard.push(`${bucket} ${to}`))
    expect(await gear.call('a')).toBe('from b')
    gear.openCircuit({ name: 'b' })
    expect(heard).toEqual(['a open', 'b open'])
  })

  it.each(HOSTILE)('%s, later, in a promise: nothing is left unhandled', async (_name, thrown) => {
    const unhandled = await unhandledIn(async () => {
      const later = () => Promise.reject(thrown)
      const { gear } = rig(
        [flaky('a', { circuitBreaker: { threshold: 1, onStateChange: later } }), flaky('b')],
        {
          onStateChange: later,
          onEvent: later,
        },
      )
      gear.on('transition', later)
      expect(await gear.call('a')).toBe('from b')
    })
    expect(unhandled).toHaveLength(0)
  })
})

describe('waiting for a circuit', () => {
  it('wakes on every change and still ends with a bounded story', async () => {
    const { gear, clock } = rig([flaky('a'), flaky('b')], { whenAllOpen: { waitMs: 100_000 } })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    const call = gear.call('x')
    call.catch(() => {})
    for (let i = 0; i < 300; i++) {
      gear.openCircuit({ name: 'a' })
      clock.advance(1)
    }
    gear.openCircuit({ name: 'a' }, { hold: true })
    gear.openCircuit({ name: 'b' }, { hold: true })
    const error = (await errorOf(call)) as { attempts: unknown[]; message: string }
    expect(error).toMatchObject({ code: 'ERR_FALLBACK_EXHAUSTED' })
    expect(error.attempts.length).toBeLessThan(20)
    expect(error.message.length).toBeLessThan(500)
  })

  it('a hundred waiters and one probe slot: one asks at a time, all are answered', async () => {
    const gates: PromiseWithResolvers<string>[] = []
    const { gear, clock } = rig(
      [
        {
          name: 'a',
          invoke: () => {
            const gate = Promise.withResolvers<string>()
            gates.push(gate)
            return gate.promise
          },
          circuitBreaker: { cooldownMs: 1000 },
        },
      ],
      { whenAllOpen: { waitMs: 50_000 } },
    )
    gear.openCircuit()
    const calls = Array.from({ length: 100 }, () => gear.call('x'))
    await settle()
    clock.advance(1000)
    await settle()
    expect(gates).toHaveLength(1)
    gates[0]?.resolve('ok')
    await settle()
    expect(gates).toHaveLength(100)
    for (const gate of gates) gate.resolve('ok')
    expect(await fate(Promise.all(calls))).toEqual({ value: Array(100).fill('ok') })
    expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
  })

  it('nobody waits for a circuit that is held without an end', async () => {
    const { gear } = rig([{ name: 'a', invoke: never, circuitBreaker: true }], {
      whenAllOpen: { waitMs: 50_000 },
    })
    gear.openCircuit({}, { hold: true })
    expect(await errorOf(gear.call('x'))).toMatchObject({ code: 'ERR_CIRCUIT_OPEN', retryAfterMs: undefined })
  })
})
