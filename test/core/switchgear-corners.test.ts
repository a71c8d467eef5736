import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FallbackExhaustedError, createSwitchgear, isSwitchgearError } from '../../src/index.ts'
import type {
  AttemptContext,
  CallReport,
  JournalEntry,
  SavedCircuit,
  SwitchgearEvent,
  SwitchgearOptions,
  TargetOptions,
  Transition,
} from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Target = TargetOptions<string, string, string>
type Options = Partial<SwitchgearOptions<string, string, string>>
type Line = [level: string, fields: object, text: string]

const answer = (text: string) => () => Promise.resolve(text)
const status = (code: number, text = 'no') => Object.assign(new Error(text), { status: code })
const failing = (error: unknown) => () => Promise.reject(error)

function setUp(targets: Target[], options: Options = {}) {
  const clock = new VirtualClock(1_000_000)
  const lines: Line[] = []
  const write = (level: string) => (fields: object, text: string) => void lines.push([level, fields, text])
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const gear = createSwitchgear<string, string, string>({
    targets,
    clock,
    random: () => 0,
    logger,
    ...options,
  })
  return { clock, gear, lines }
}

async function fate<T>(promise: PromiseLike<T>): Promise<{ value: T } | { error: unknown } | 'pending'> {
  let found: { value: T } | { error: unknown } | 'pending' = 'pending'
  promise.then(
    (value) => (found = { value }),
    (error: unknown) => (found = { error }),
  )
  for (let i = 0; i < 5; i++) await turn()
  return found
}

/** A target that fails for the requests that say so. */
const byRequest = (name: string, rest: Partial<Target> = {}): Target => ({
  name,
  invoke: (request) => (request === 'fail' ? Promise.reject(status(500)) : Promise.resolve(`from ${name}`)),
  maxRetries: 0,
  circuitBreaker: { threshold: 1, cooldownMs: 1000 },
  ...rest,
})

const three = (): Target[] => [
  byRequest('a'),
  { name: 'plain', invoke: answer('from plain') },
  byRequest('iso', {
    model: 'm1',
    circuitBreaker: { threshold: 1, cooldownMs: 1000, isolateByModel: true },
  }),
]

describe('which circuit is meant', () => {
  it('the primary by default; by index, by name, or by both where they agree', () => {
    const { gear } = setUp(three())
    gear.openCircuit()
    for (const target of [undefined, {}, { index: 0 }, { name: 'a' }, { index: 0, name: 'a' }]) {
      expect(gear.getCircuitState(target)).toBe('open')
      expect(gear.canExecute(target)).toBe(false)
    }
    expect(gear.getCircuitState({ index: 2 })).toBe('closed')
  })

  const unknown = [
    { index: 3 },
    { index: -1 },
    { index: 0.5 },
    { index: NaN },
    { name: 'nobody' },
    { name: '' },
    { name: 'toString' },
    { name: 'a', index: 2 },
  ]
  it.each(unknown)('%j throws RangeError from every method', (target) => {
    const { gear } = setUp(three())
    const methods = [
      () => gear.getCircuitState(target),
      () => gear.getStatus(target),
      () => gear.canExecute(target),
      () => gear.getFailureBreakdown(target),
      () => gear.explain(target),
      () => gear.openCircuit(target),
      () => gear.closeCircuit(target),
    ]
    for (const method of methods) expect(method).toThrow(RangeError)
  })

  it('an unknown name is answered with the nearest one, a wrong index with the range', () => {
    const { gear } = setUp([byRequest('openai'), byRequest('anthropic')])
    expect(() => gear.getCircuitState({ name: 'opneai' })).toThrow(/'opneai'.*'openai'/)
    expect(() => gear.getCircuitState({ index: 2 })).toThrow(/index 2.*from 0 to 1/)
  })

  it('a name and an index that disagree are not answered with the very same name', () => {
    const { gear } = setUp(three())
    expect(() => gear.getCircuitState({ name: 'iso', index: 0 })).toThrow(/^(?!.*mean 'iso').*$/)
  })

  it('a target without a breaker reads undefined, admits, and ignores commands', async () => {
    const { gear } = setUp(three())
    const target = { name: 'plain' }
    gear.openCircuit(target, { hold: true })
    gear.closeCircuit(target)
    expect(gear.getCircuitState(target)).toBeUndefined()
    expect(gear.getStatus(target)).toBeUndefined()
    expect(gear.getFailureBreakdown(target)).toBeUndefined()
    expect(gear.explain(target)).toBeUndefined()
    expect(gear.canExecute(target)).toBe(true)
  })

  it('a model on a target that does not isolate works and logs a warning', () => {
    const { gear, lines } = setUp(three())
    gear.openCircuit({ name: 'a', model: 'gpt' })
    expect(gear.getCircuitState({ name: 'a' })).toBe('open')
    const warnings = lines.filter(([, , text]) => text.includes('does not isolate'))
    expect(warnings).toMatchObject([['warn', { target: 'a', model: 'gpt' }, expect.stringContaining("'a'")]])
  })

  it('targets without a name are called primary, fallback[0], fallback[1]', () => {
    const { gear } = setUp([
      { invoke: answer('1'), circuitBreaker: true },
      { invoke: answer('2'), circuitBreaker: true },
      { invoke: answer('3'), circuitBreaker: true },
    ])
    expect(gear.getCircuitStates().map(({ provider }) => provider)).toEqual([
      'primary',
      'fallback[0]',
      'fallback[1]',
    ])
    expect(gear.getCircuitState({ name: 'fallback[1]' })).toBe('closed')
  })

  it('getCircuitStates lists every target in order of declaration', () => {
    const { gear, lines } = setUp(three())
    gear.openCircuit({ name: 'iso', model: 'm2' })
    const states = (model?: string) => gear.getCircuitStates(model).map(({ state }) => state)
    expect(gear.getCircuitStates('m2')).toEqual([
      { provider: 'a', index: 0, isFallback: false, isolateByModel: false, state: 'closed' },
      { provider: 'plain', index: 1, isFallback: true, isolateByModel: false, state: undefined },
      { provider: 'iso', index: 2, isFallback: true, isolateByModel: true, state: 'open' },
    ])
    expect(states()).toEqual(['closed', undefined, 'closed'])
    expect(lines.some(([, , text]) => text.includes('does not isolate'))).toBe(false)
  })

  it('reading changes nothing: no bucket is made, no state moves, no line is written', () => {
    const { gear, clock, lines } = setUp(three())
    gear.openCircuit()
    clock.dropTimers()
    clock.advance(1000)
    const before = lines.length
    for (let i = 0; i < 3; i++) {
      expect(gear.getCircuitState()).toBe('half-open')
      expect(gear.getStatus()?.state).toBe('half-open')
      expect(gear.canExecute()).toBe(true)
      expect(gear.explain()?.sentence).toContain('half-open')
      expect(gear.getStatus({ name: 'iso', model: 'never used' })).toBeUndefined()
      expect(gear.explain({ name: 'iso', model: 'never used' })).toBeUndefined()
      expect(gear.getFailureBreakdown({ name: 'iso', model: 'never used' })).toEqual({})
    }
    expect(lines).toHaveLength(before)
    expect(Object.keys(gear.snapshots())).toEqual(['a'])
  })
})

describe('transitions', () => {
  it('onStateChange hears from, to, consecutive failures, model and detail, once per real change', async () => {
    const heard: unknown[][] = []
    const { gear, clock } = setUp([byRequest('a', { model: 'm' }), { name: 'b', invoke: answer('b') }], {
      onStateChange: (...all) => void heard.push(all),
    })
    await gear.call('fail')
    await gear.call('fail')
    clock.advance(1000)
    await gear.call('ok')
    gear.closeCircuit()
    expect(heard.map(([from, to, n, model]) => [from, to, n, model])).toEqual([
      ['closed', 'open', 1, 'm'],
      ['open', 'half-open', 1, undefined],
      ['half-open', 'closed', 0, 'm'],
    ])
    expect(heard[0]?.[4]).toMatchObject({
      bucket: 'a',
      call: 'call-1',
      cause: { why: 'tripped' },
      at: 1_000_000,
    })
  })

  it('every transition is also an event circuit_state with the id of its call where there is one', async () => {
    const events: SwitchgearEvent[] = []
    const { gear, clock } = setUp([byRequest('a'), { name: 'b', invoke: answer('b') }], {
      onEvent: (event) => void events.push(event),
    })
    await gear.call('fail', { id: 'mine' })
    clock.advance(1000)
    expect(events).toMatchObject([
      {
        type: 'attempt_failed',
        call: 'mine',
        target: 'a',
        attempt: 1,
        failure: 'server_error',
        alert: false,
      },
      { type: 'circuit_state', call: 'mine', bucket: 'a', targets: ['a'], from: 'closed', to: 'open' },
      { type: 'circuit_state', call: undefined, from: 'open', to: 'half-open' },
    ])
  })

  it("on('transition') hears until it is told to stop, each listener in the order it came", () => {
    const { gear } = setUp(three())
    const heard: string[] = []
    const stop = gear.on('transition', ({ to }) => void heard.push(`first ${to}`))
    gear.on('transition', ({ to }) => void heard.push(`second ${to}`))
    gear.openCircuit()
    stop()
    stop()
    gear.closeCircuit()
    expect(heard).toEqual(['first open', 'second open', 'second closed'])
    expect(() => gear.on('transitions' as 'transition', () => {})).toThrow(/transition/)
  })

  it('a log line for every transition names target, from, to and why', async () => {
    const transitions: Transition[] = []
    const { gear, clock, lines } = setUp([byRequest('a'), { name: 'b', invoke: answer('b') }])
    gear.on('transition', (transition) => void transitions.push(transition))
    await gear.call('fail')
    clock.advance(1000)
    await gear.call('fail')
    clock.advance(1000)
    await gear.call('ok')
    gear.openCircuit({}, { by: 'kim', reason: 'maintenance' })
    gear.closeCircuit()
    expect(transitions).toHaveLength(7)
    expect(lines).toHaveLength(7)
    for (const [i, { from, to, cause }] of transitions.entries()) {
      const [level, fields, text] = lines[i]!
      expect(fields).toMatchObject({ bucket: 'a', from, to, why: cause.why })
      expect(text).toContain(`'a': ${from} → ${to}: `)
      expect(level).toBe(to === 'open' ? 'warn' : 'info')
    }
    expect(lines[5]?.[2]).toContain('kim')
    expect(lines[5]?.[2]).toContain('maintenance')
  })

  it('the event names the targets of the bucket, and no target without a breaker', () => {
    const events: SwitchgearEvent[] = []
    const { gear } = setUp(
      [
        byRequest('a', { bucket: 'shared' }),
        byRequest('b', { bucket: 'shared' }),
        { name: 'shared', invoke: answer('no breaker') },
      ],
      { onEvent: (event) => void events.push(event) },
    )
    gear.openCircuit()
    expect(events).toMatchObject([{ type: 'circuit_state', bucket: 'shared', targets: ['a', 'b'] }])
  })
})

describe('what a call tells', () => {
  it('report: who answered, how many requests, how long', async () => {
    const reports: CallReport[] = []
    const report = (told: CallReport) => void reports.push(told)
    const gate = Promise.withResolvers<string>()
    const { gear, clock } = setUp([
      byRequest('a', { maxRetries: 1 }),
      { name: 'b', model: 'mb', invoke: () => gate.promise },
    ])
    const call = gear.call('fail', { report })
    await turn()
    clock.advance(0)
    await turn()
    clock.advance(1234)
    gate.resolve('b')
    expect(await call).toBe('b')
    expect(reports).toEqual([
      { target: 'b', model: 'mb', attempts: 3, fallbackIndex: 1, durationMs: 1234, ok: true },
    ])
  })

  it('report of a failure: the last one asked, fallbackIndex −1', async () => {
    const reports: CallReport[] = []
    const { gear } = setUp([byRequest('a'), byRequest('b')])
    const found = await fate(gear.call('fail', { report: (told) => void reports.push(told) }))
    expect(found).toMatchObject({ error: expect.any(FallbackExhaustedError) })
    expect(reports).toEqual([
      { target: 'b', model: undefined, attempts: 2, fallbackIndex: -1, durationMs: 0, ok: false },
    ])
  })

  it('attempts know target, resolved model, number and the id of the call', async () => {
    const seen: unknown[] = []
    const { gear, clock } = setUp([
      {
        name: 'a',
        model: 'own',
        invoke: (_request, { target, model, attempt, call }: AttemptContext) => {
          seen.push({ target, model, attempt, call })
          throw status(503)
        },
        maxRetries: 1,
      },
    ])
    const call = fate(gear.call('x', { id: 'id-7', model: 'wanted' }))
    await turn()
    clock.advance(0)
    await call
    expect(seen).toEqual([
      { target: 'a', model: 'own', attempt: 1, call: 'id-7' },
      { target: 'a', model: 'own', attempt: 2, call: 'id-7' },
    ])
  })
})

describe('buckets', () => {
  it('isolateByModel: a breaker for each model; the model omitted means the configured one', async () => {
    const { gear } = setUp([
      {
        name: 'iso',
        model: 'own',
        invoke: (_request, { model }) => (model === 'bad' ? Promise.reject(status(500)) : model!),
        maxRetries: 0,
        circuitBreaker: { threshold: 1, isolateByModel: true },
      },
    ])
    expect(await fate(gear.call('x', { model: 'bad' }))).toMatchObject({ error: { status: 500 } })
    expect(await gear.call('x', { model: 'good' })).toBe('good')
    expect(await gear.call('x')).toBe('own')
    expect(gear.getCircuitState({ model: 'bad' })).toBe('open')
    expect(gear.getCircuitState({ model: 'own' })).toBe(gear.getCircuitState())
    gear.openCircuit()
    expect(gear.getCircuitState({ model: 'own' })).toBe('open')
    expect(gear.getCircuitState({ model: 'good' })).toBe('closed')
    expect(Object.keys(gear.snapshots()).toSorted()).toEqual(['iso/bad', 'iso/good', 'iso/own'])
  })

  it('isolated without any model: the transition has no model', async () => {
    const heard: (string | undefined)[] = []
    const { gear } = setUp([byRequest('iso', { circuitBreaker: { threshold: 1, isolateByModel: true } })], {
      onStateChange: (_from, _to, _n, model) => void heard.push(model),
    })
    await fate(gear.call('fail'))
    expect(heard).toEqual([undefined])
  })

  it('targets of one bucket share one breaker: what trips it at one refuses at the other', async () => {
    const { gear } = setUp([
      byRequest('a', { bucket: 'openai' }),
      byRequest('b', { bucket: 'openai' }),
      { name: 'c', invoke: answer('from c') },
    ])
    expect(await gear.call('fail')).toBe('from c')
    expect(gear.getCircuitStates().map(({ state }) => state)).toEqual(['open', 'open', undefined])
    gear.closeCircuit({ name: 'b' })
    expect(gear.getCircuitState({ name: 'a' })).toBe('closed')
  })

  it('one wrong model name of a caller does not open a shared circuit, but does an isolated one', async () => {
    const missing: Partial<Target> = { invoke: failing(status(404)), maxRetries: 0 }
    const { gear } = setUp([
      { name: 'shared', ...missing, circuitBreaker: { threshold: 1 } } as Target,
      { name: 'iso', ...missing, circuitBreaker: { threshold: 1, isolateByModel: true } } as Target,
    ])
    await fate(gear.call('x', { model: 'tpyo' }))
    expect(gear.getCircuitState({ name: 'shared' })).toBe('closed')
    expect(gear.getCircuitState({ name: 'iso', model: 'tpyo' })).toBe('open')
  })

  it('observe: the machine and its events run, nothing is refused, what would have been is asked', async () => {
    const told: string[] = []
    const { gear } = setUp(
      [byRequest('a', { circuitBreaker: { threshold: 1, cooldownMs: 1000, mode: 'observe' } })],
      { onStateChange: (from, to) => void told.push(`${from} → ${to}`) },
    )
    await fate(gear.call('fail'))
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.canExecute()).toBe(true)
    for (let i = 0; i < 3; i++) expect(await gear.call('ok')).toBe('from a')
    expect(told).toEqual(['closed → open'])
  })
})

describe('operators', () => {
  it('hold stays until it is ended or its ttlMs is over, and says who and why', async () => {
    const { gear, clock } = setUp([byRequest('a'), { name: 'b', invoke: answer('b') }])
    gear.openCircuit({}, { hold: true, ttlMs: 5000, by: 'kim', reason: 'bill' })
    clock.advance(4999)
    expect(gear.getStatus()).toMatchObject({ state: 'open', held: true, retryAfterMs: 1 })
    expect(gear.explain()?.sentence).toContain('held by kim ("bill")')
    clock.advance(1)
    expect(gear.getStatus()).toMatchObject({ state: 'half-open', held: false })
    gear.closeCircuit({}, { hold: true })
    for (let i = 0; i < 3; i++) await fate(gear.call('fail'))
    expect(gear.getStatus()).toMatchObject({ state: 'closed', held: true, consecutiveFailures: 3 })
    gear.openCircuit({}, { hold: true })
    clock.advance(1_000_000)
    expect(gear.getStatus()).toMatchObject({ state: 'open', held: true, retryAfterMs: null })
  })

  it("an operator's words are cut, never refused", () => {
    const { gear } = setUp([byRequest('a')])
    gear.openCircuit({}, { by: 'b'.repeat(500), reason: 'r'.repeat(500) })
    expect(gear.getStatus()?.cause).toEqual({ why: 'operator', by: 'b'.repeat(100), reason: 'r'.repeat(200) })
  })

  it('the breakdown is cleared with the bucket', async () => {
    const { gear } = setUp([byRequest('a', { circuitBreaker: { threshold: 9 } })])
    await fate(gear.call('fail'))
    await fate(gear.call('fail'))
    expect(gear.getFailureBreakdown()).toEqual({ server_error: 2 })
    gear.closeCircuit()
    expect(gear.getFailureBreakdown()).toEqual({})
  })
})

describe('journal and snapshots', () => {
  it('the journal has every event that changed a breaker, in order, with the call it belongs to', async () => {
    const journal: JournalEntry[] = []
    const { gear, clock } = setUp([byRequest('a'), { name: 'b', invoke: answer('b') }], {
      journal: { append: (entry) => void journal.push(entry) },
    })
    await gear.call('fail', { id: 'first' })
    clock.advance(1000)
    await turn()
    await gear.call('ok', { id: 'second' })
    gear.openCircuit({}, { by: 'kim' })
    expect(journal.map(({ bucket, event, from, to, call }) => [bucket, event.type, from, to, call])).toEqual([
      ['a', 'breaker.started', 'closed', 'closed', undefined],
      ['a', 'call.failed', 'closed', 'open', 'first'],
      ['a', 'cooldown.elapsed', 'open', 'half-open', undefined],
      ['a', 'probe.requested', 'half-open', 'half-open', 'second'],
      ['a', 'probe.succeeded', 'half-open', 'closed', 'second'],
      ['a', 'operator.opened', 'closed', 'open', undefined],
    ])
    expect(JSON.parse(JSON.stringify(journal))).toHaveLength(6)
  })

  it('snapshots() survive JSON: open keeps its end, half-open begins a fresh trial, a hold stays', async () => {
    const targets = () => ['open', 'half', 'held', 'closed'].map((name) => byRequest(name))
    const before = setUp(targets())
    before.gear.openCircuit({ name: 'half' })
    before.clock.advance(1000)
    before.gear.openCircuit({ name: 'open' })
    before.gear.openCircuit({ name: 'held' }, { hold: true, by: 'kim', reason: 'bill' })
    const saved = JSON.parse(JSON.stringify(before.gear.snapshots())) as Record<string, SavedCircuit>
    await before.gear.close()

    const { gear, clock } = setUp(targets(), { snapshots: saved })
    clock.set(1_001_400)
    const states = gear.getCircuitStates().map(({ state }) => state)
    expect(states).toEqual(['open', 'half-open', 'open', 'closed'])
    expect(gear.getStatus({ name: 'open' })?.retryAfterMs).toBe(600)
    expect(gear.getStatus({ name: 'half' })?.probes.inFlight).toBe(0)
    expect(gear.getStatus({ name: 'held' })).toMatchObject({
      held: true,
      cause: { by: 'kim', reason: 'bill' },
    })
    clock.advance(600)
    expect(gear.getCircuitState({ name: 'open' })).toBe('half-open')
  })

  it('a saved circuit of an isolating target is there before its first use, and again in the next snapshot', () => {
    const isolating = () => [byRequest('iso', { circuitBreaker: { isolateByModel: true } })]
    const before = setUp(isolating())
    before.gear.openCircuit({ model: 'm' })
    const saved = JSON.parse(JSON.stringify(before.gear.snapshots())) as Record<string, SavedCircuit>
    const untouched = setUp(isolating(), { snapshots: saved })
    expect(untouched.gear.snapshots()).toEqual(saved)
    expect(untouched.gear.getCircuitState({ model: 'm' })).toBe('open')
    expect(untouched.gear.canExecute({ model: 'm' })).toBe(false)
  })

  it('an overdue open circuit is half-open at once, and that is told', () => {
    const before = setUp([byRequest('a')])
    before.gear.openCircuit()
    const saved = before.gear.snapshots()
    const clock = new VirtualClock(9_000_000)
    const told: string[] = []
    const { gear } = setUp([byRequest('a')], {
      clock,
      snapshots: saved,
      onStateChange: (from, to) => void told.push(`${from} → ${to}`),
    })
    expect(gear.getCircuitState()).toBe('half-open')
    expect(told).toEqual(['open → half-open'])
  })
})

describe('the end', () => {
  it('close() refuses new calls with ERR_CLOSED and waits for the running ones', async () => {
    const gate = Promise.withResolvers<string>()
    const { gear, clock } = setUp([
      { name: 'a', invoke: () => gate.promise, stream: async function* () {}, circuitBreaker: true },
    ])
    const running = gear.call('x')
    const closing = gear.close()
    expect(await fate(gear.call('y'))).toMatchObject({ error: { code: 'ERR_CLOSED' } })
    expect(await fate(gear.stream('y').next())).toMatchObject({ error: { code: 'ERR_CLOSED' } })
    expect(await fate(closing)).toBe('pending')
    gate.resolve('done')
    expect(await running).toBe('done')
    expect(await fate(closing)).toEqual({ value: undefined })
    expect(clock.pending).toBe(0)
  })

  it('close() twice, at a time and after each other: each resolves', async () => {
    const gate = Promise.withResolvers<string>()
    const { gear } = setUp([{ name: 'a', invoke: () => gate.promise }])
    const running = gear.call('x')
    const [first, second] = [gear.close(), gear.close()]
    gate.resolve('done')
    await running
    expect(await fate(first)).toEqual({ value: undefined })
    expect(await fate(second)).toEqual({ value: undefined })
    expect(await fate(gear[Symbol.asyncDispose]())).toEqual({ value: undefined })
  })

  it('a listener may close the switchgear in the middle of a call', async () => {
    const closings: Promise<void>[] = []
    const { gear, clock } = setUp([byRequest('a'), { name: 'b', invoke: answer('from b') }])
    gear.on('transition', () => void closings.push(gear.close()))
    expect(await gear.call('fail')).toBe('from b')
    expect(await fate(Promise.all(closings))).toEqual({ value: [undefined] })
    expect(clock.pending).toBe(0)
  })

  it('after close() everything can still be read, and commands do nothing', async () => {
    const { gear, clock } = setUp(three())
    gear.openCircuit()
    await gear.close()
    expect(() => {
      gear.getCircuitStates('m2')
      gear.getStatus()
      gear.explain()
      gear.snapshots()
      gear.openCircuit()
      gear.closeCircuit({ name: 'iso', model: 'm2' })
      gear.openCircuit({ name: 'iso' })
    }).not.toThrow()
    expect(clock.pending).toBe(0)
  })
})

describe('no secrets', () => {
  const SECRET = 'sk-live-0123456789 the patient said'

  it('no text of prompt, answer or provider in journal, log, events, errors as JSON, snapshots or explanations', async () => {
    const journal: JournalEntry[] = []
    const events: SwitchgearEvent[] = []
    const reports: CallReport[] = []
    const provider = Object.assign(status(500, SECRET), {
      body: { error: { message: SECRET } },
      headers: { authorization: SECRET },
    })
    const { gear, clock, lines } = setUp(
      [
        {
          name: 'a',
          invoke: failing(provider),
          maxRetries: 0,
          circuitBreaker: { threshold: 1, cooldownMs: 10 },
        },
        {
          name: 'b',
          invoke: failing(SECRET),
          maxRetries: 0,
          circuitBreaker: { threshold: 1, cooldownMs: 10 },
        },
      ],
      {
        journal: { append: (entry) => void journal.push(entry) },
        onEvent: (event) => void events.push(event),
      },
    )
    const errors: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const found = await fate(gear.call(SECRET, { report: (told) => void reports.push(told) }))
      if (found !== 'pending' && 'error' in found) errors.push(found.error)
      if (i === 1) clock.advance(10)
    }
    expect(errors).toHaveLength(3)
    for (const error of errors) expect(isSwitchgearError(error)).toBe(true)
    const told = JSON.stringify([
      journal,
      events,
      reports,
      lines,
      errors,
      gear.snapshots(),
      gear.explain(),
      gear.getStatus(),
      gear.supervisor.getPersistedSnapshot(),
      gear.supervisor.getSnapshot().context,
    ])
    expect(told).not.toContain('sk-live')
    expect(told).not.toContain('patient')
    expect(errors.map(String).join()).not.toContain('patient')
  })

  it("what somebody's own code throws about an answer does not carry the answer's text into the log", async () => {
    const { gear, lines } = setUp([
      {
        name: 'a',
        invoke: answer(SECRET),
        isEmpty: (text) => JSON.parse(text) === null,
        circuitBreaker: true,
      },
    ])
    expect(await gear.call('x')).toBe(SECRET)
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('sk-live')
  })

  it('an error of a provider that a classifier throws on is logged without its text', async () => {
    const { gear, lines } = setUp([
      {
        name: 'a',
        invoke: failing(status(500, SECRET)),
        classify: (error) => {
          throw error
        },
        maxRetries: 0,
        circuitBreaker: true,
      },
    ])
    await fate(gear.call('x'))
    expect(JSON.stringify(lines)).not.toContain('patient')
  })
})
