import { describe, expect, it } from 'vitest'

import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { CircuitCharts } from '../../src/gateway/admin/circuit-charts.ts'
import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import { percentileMs } from '../../src/gateway/admin/percentile.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import { ConfigError } from '../../src/core/errors.ts'
import { DURATION_BOUNDS_MS, DurationHistogram } from '../../src/core/stats.ts'
import { SkewedClock } from '../support/skewed-clock.ts'
import { ALICE, START, fakeTarget, json, startAdmin } from './admin-support.ts'
import type { Admin } from './admin-support.ts'

const KEYS = [
  'calls',
  'circuit',
  'consecutiveFailures',
  'explain',
  'failureRatio',
  'failures',
  'fallbacks',
  'generation',
  'held',
  'late',
  'openUntil',
  'p95Ms',
  'probes',
  'refused',
  'reopenCount',
  'retryAfterMs',
  'rules',
  'since',
  'state',
  'targets',
  'why',
]

/** `openai` is down and open; a call was refused and saved. */
async function startOutage() {
  const openai = fakeTarget('openai', { model: 'gpt-5' })
  const backup = fakeTarget('backup')
  const admin = await startAdmin([openai.target, backup.target])
  openai.state.down = true
  for (let i = 0; i < 3; i++) await admin.call()
  return { ...admin, openai, backup }
}

describe('GET /admin/circuits', () => {
  it('tells of every circuit in the order of the chain what it is, why, and what it saved', async () => {
    await using admin = await startOutage()
    admin.clock.advance(12_000)
    const { replica, now, circuits } = await json(await admin.get('/admin/circuits'))
    expect([replica, now]).toEqual(['gateway-1', START + 12_000])
    expect(circuits.map(({ circuit }) => circuit)).toEqual(['openai', 'backup'])
    expect(circuits[0]).toMatchObject({
      targets: ['openai'],
      model: 'gpt-5',
      state: 'open',
      held: false,
      since: START,
      openUntil: START + 30_000,
      retryAfterMs: 18_000,
      reopenCount: 0,
      probes: { inFlight: 0, succeeded: 0, failed: 0 },
      failures: { server_error: 2 },
      consecutiveFailures: 2,
      lastFailureKind: 'server_error',
      failureRatio: null,
      refused: 1,
      calls: { success: 0, failure: 2, neutral: 0 },
      fallbacks: 3,
      rules: 'Opens on 2 failures in a row. After 30 s a trial closes it once 1 of 1 probe succeeded.',
      why: '2 failures in a row, the last of kind server_error',
    })
    expect(circuits[0]?.explain).toMatch(/^Circuit 'openai' is open \(calls refused\)/)
    expect(circuits[1]).toMatchObject({
      state: 'closed',
      retryAfterMs: 0,
      calls: { success: 3 },
      fallbacks: 0,
    })
  })

  it('tells times of the wall clock, shifted once, and says that a circuit is only observed', async () => {
    const clock = new SkewedClock(START)
    clock.skew = 3_600_000
    const at = clock.wall()
    const openai = fakeTarget('openai', {
      circuitBreaker: { mode: 'observe', threshold: 1, cooldownMs: 30_000 },
    })
    const backup = fakeTarget('backup')
    const targets = [openai.target, backup.target]
    const gear = createSwitchgear({ targets, clock })
    const tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
    await using admin = await startAdmin(targets, { clock, present: () => ({ gear, targets, tokens }) })
    openai.state.down = true
    await gear.call('hello')
    gear.closeCircuit({ name: 'backup' }, { hold: true, ttlMs: 60_000, by: 'ada' })
    const { now, circuits } = await json(await admin.get('/admin/circuits'))
    expect(now).toBe(at)
    expect(circuits).toMatchObject([
      { state: 'open', observed: true, since: at, openUntil: at + 30_000, refused: 0 },
      { state: 'closed', held: true, since: at, hold: { until: at + 60_000 } },
    ])
    expect(circuits[0]?.explain).toContain(
      `Circuit 'openai' would be open (only observed: nothing is refused) since ${new Date(at).toISOString()}`,
    )
    expect(circuits[1]).not.toHaveProperty('observed')
    const { explanation } = await json(await admin.get('/admin/circuits/backup'))
    expect(explanation).toMatchObject({ status: { since: at }, hold: { until: at + 60_000 } })
    await gear.close()
  })

  it('shows only what is meant to be shown', async () => {
    await using admin = await startOutage()
    await admin.post('/admin/circuits/backup/open', { hold: true })
    const { circuits } = await json(await admin.get('/admin/circuits'))
    expect(Object.keys(circuits[0] ?? {}).sort()).toEqual([...KEYS, 'lastFailureKind', 'model'].sort())
    expect(Object.keys(circuits[1] ?? {}).sort()).toEqual([...KEYS, 'hold'].sort())
    const all = JSON.stringify([circuits, await json(await admin.get('/admin/circuits/openai'))])
    expect(all).not.toMatch(/provider says|sk-secret/)
  })

  it('gives a target that isolates a circuit for each model, and what the target counted to none of them', async () => {
    const { target } = fakeTarget('openai', { circuitBreaker: { isolateByModel: true } })
    await using admin = await startAdmin([target])
    await admin.call('gpt-5')
    const [only] = (await json(await admin.get('/admin/circuits'))).circuits
    expect(only).toMatchObject({
      circuit: 'openai/gpt-5',
      model: 'gpt-5',
      fallbacks: 0,
      p95Ms: expect.any(Number),
    })
    await admin.call('gpt-5-mini')
    const { circuits } = await json(await admin.get('/admin/circuits'))
    expect(circuits).toMatchObject([
      { circuit: 'openai/gpt-5', calls: { success: 1 }, fallbacks: null, p95Ms: null },
      { circuit: 'openai/gpt-5-mini', calls: { success: 1 }, fallbacks: null, p95Ms: null },
    ])
  })

  it('shows a bucket that targets share once, with all of them', async () => {
    const [one, other] = [
      fakeTarget('one', { bucket: 'openai', model: 'a' }),
      fakeTarget('two', { bucket: 'openai', model: 'b' }),
    ]
    await using admin = await startAdmin([one.target, other.target])
    const { circuits } = await json(await admin.get('/admin/circuits'))
    expect(circuits).toMatchObject([{ circuit: 'openai', targets: ['one', 'two'] }])
    expect(circuits[0]).not.toHaveProperty('model')
  })
})

describe('the configuration in force', () => {
  it('is told by its groups, and by nothing else', async () => {
    const { target } = fakeTarget('openai')
    await using other = await startAdmin([target])
    const group = { name: 'gpt-5', targets: ['openai'], strategy: 'weighted', fallbacks: ['backup'] }
    const present = {
      gear: other.gear,
      targets: [target],
      groups: [{ ...group, apiKey: 'sk-secret' }],
      tokens: adminTokens({ configured: { alice: ALICE }, file: undefined }),
    }
    await using admin = await startAdmin([target], { present: () => present })
    expect((await json(await admin.get('/admin/circuits'))).groups).toEqual([group])
  })

  it('is another one after a reload', async () => {
    const tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
    const [one, two] = [fakeTarget('one'), fakeTarget('two')]
    await using first = await startAdmin([one.target])
    await using second = await startAdmin([two.target])
    let present = { gear: first.gear, targets: [one.target], tokens }
    await using admin = await startAdmin([one.target], { present: () => present })
    expect((await json(await admin.get('/admin/circuits'))).circuits[0]?.circuit).toBe('one')
    present = { gear: second.gear, targets: [two.target], tokens }
    expect((await json(await admin.get('/admin/circuits'))).circuits[0]?.circuit).toBe('two')
    expect((await admin.post('/admin/circuits/one/open')).status).toBe(404)
    expect(first.gear.getCircuitState()).toBe('closed')
  })
})

describe('GET /admin/circuits/:circuit', () => {
  it('adds the data behind the sentence, and the last rows of the journal, newest first', async () => {
    await using admin = await startOutage()
    const { explanation, journal, ...view } = await json(await admin.get('/admin/circuits/openai'))
    expect(view).toMatchObject({ circuit: 'openai', state: 'open' })
    expect(explanation).toMatchObject({
      bucket: 'openai',
      status: { cause: { why: 'tripped', failure: 'server_error' }, openUntil: START + 30_000 },
      breakdown: { server_error: 2 },
      hold: null,
    })
    expect(journal[0]).toMatchObject({ circuit: 'openai', type: 'call.failed', from: 'closed', to: 'open' })
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map(({ seq }) => seq).toSorted((a, b) => b - a))
    expect(journal[0]).not.toHaveProperty('saved')
  })

  it('shows the circuit also where the journal cannot be read', async () => {
    const broken = () => {
      throw new SyntaxError('Unexpected token')
    }
    await using admin = await startAdmin([fakeTarget('openai').target], { journal: { rows: broken } })
    expect(await json(await admin.get('/admin/circuits/openai'))).toMatchObject({
      state: 'closed',
      journal: [],
    })
    const response = await admin.get('/admin/journal')
    expect([response.status, (await json(response)).error.code]).toEqual([500, 'journal_unreadable'])
  })

  it.each([
    ['opnai', "There is no circuit 'opnai'. Did you mean 'openai'?", ['openai']],
    ['something else', "There is no circuit 'something else'. Known: 'openai', 'bucket'.", undefined],
    [
      'shared',
      "There is no circuit 'shared'. The target of that name has another circuit: 'bucket'.",
      ['bucket'],
    ],
    ['plain', "There is no circuit 'plain'. The target of that name has no circuit breaker.", undefined],
    [
      'iso',
      "There is no circuit 'iso'. The target of that name has one for each model, made by the first call.",
      undefined,
    ],
    [
      'iso/gpt-5',
      "There is no circuit 'iso/gpt-5'. It has not been used yet: its first call, or opening it, makes it.",
      undefined,
    ],
    ['__proto__', "There is no circuit '__proto__'. Known: 'openai', 'bucket'.", undefined],
    ['constructor', "There is no circuit 'constructor'. Known: 'openai', 'bucket'.", undefined],
  ])('says of %s what may be meant', async (circuit, message, didYouMean) => {
    await using admin = await startAdmin([
      fakeTarget('openai').target,
      fakeTarget('shared', { bucket: 'bucket' }).target,
      fakeTarget('plain', { circuitBreaker: false }).target,
      fakeTarget('iso', { model: 'gpt-5', circuitBreaker: { isolateByModel: true } }).target,
    ])
    const response = await admin.get(`/admin/circuits/${encodeURIComponent(circuit)}`)
    expect(response.status).toBe(404)
    const { error } = await json(response)
    expect(error).toMatchObject({ code: 'unknown_circuit', message })
    expect(error.didYouMean).toEqual(didYouMean)
  })
})

describe('POST /admin/circuits/:circuit/open and close', () => {
  it('opens and closes by hand, and keeps who and why', async () => {
    await using admin = await startAdmin([fakeTarget('openai').target])
    const opened = await admin.post('/admin/circuits/openai/open', { reason: 'invoice is late' })
    expect(opened.status).toBe(200)
    expect(await json(opened)).toMatchObject({
      circuit: 'openai',
      state: 'open',
      held: false,
      openUntil: START + 30_000,
      why: 'by hand, by alice ("invoice is late")',
    })
    expect(await json(await admin.post('/admin/circuits/openai/close'))).toMatchObject({ state: 'closed' })
    const { rows } = await json(await admin.get('/admin/journal?circuit=openai&limit=2'))
    expect(rows).toMatchObject([
      { type: 'operator.closed', by: 'alice', to: 'closed' },
      { type: 'operator.opened', by: 'alice', reason: 'invoice is late', from: 'closed', to: 'open' },
    ])
  })

  it('holds either way, until somebody ends it or its time is over', async () => {
    const openai = fakeTarget('openai')
    await using admin = await startAdmin([openai.target])
    const held = await json(
      await admin.post('/admin/circuits/openai/open', { hold: true, ttlMs: 600_000 }, undefined),
    )
    expect(held).toMatchObject({
      held: true,
      hold: { by: 'alice', reason: '', until: START + 600_000 },
      openUntil: null,
      retryAfterMs: 600_000,
    })
    admin.clock.advance(600_000)
    expect(await json(await admin.get('/admin/circuits/openai'))).toMatchObject({
      state: 'half-open',
      held: false,
    })
    const closed = await json(await admin.post('/admin/circuits/openai/close', { hold: true }))
    expect(closed).toMatchObject({ state: 'closed', hold: { until: null } })
    openai.state.down = true
    for (let i = 0; i < 5; i++) await admin.call()
    expect(await json(await admin.get('/admin/circuits/openai'))).toMatchObject({
      state: 'closed',
      held: true,
    })
  })

  it('says so where a hold keeps it from opening', async () => {
    await using admin = await startAdmin([fakeTarget('openai').target])
    await admin.post('/admin/circuits/openai/close', { hold: true })
    const response = await admin.post('/admin/circuits/openai/open', { reason: 'down' })
    expect(response.status).toBe(409)
    expect((await json(response)).error).toMatchObject({
      code: 'held',
      message: expect.stringContaining('held closed by alice, and a plain open lifts no hold'),
    })
    const held = await admin.post('/admin/circuits/openai/open', { hold: true })
    expect(await json(held)).toMatchObject({ state: 'open', held: true })
    expect((await admin.post('/admin/circuits/openai/open')).status).toBe(409)
  })

  it('opens a configured circuit that nobody has used yet, and none that nobody has configured', async () => {
    const { target } = fakeTarget('openai', { model: 'gpt-5', circuitBreaker: { isolateByModel: true } })
    await using admin = await startAdmin([target])
    expect((await json(await admin.get('/admin/circuits'))).circuits).toEqual([])
    const opened = await admin.post('/admin/circuits/openai%2Fgpt-5/open', { hold: true })
    expect(await json(opened)).toMatchObject({ circuit: 'openai/gpt-5', model: 'gpt-5', state: 'open' })
    expect((await admin.post('/admin/circuits/openai%2Fgpt-6/open')).status).toBe(404)
    expect((await json(await admin.get('/admin/circuits'))).circuits).toHaveLength(1)
  })

  it.each([
    ['[]', /must be a JSON object/],
    ['"open"', /must be a JSON object/],
    ['{"reason": 7}', /reason must be a text/],
    ['{"hold": "yes"}', /hold must be true or false/],
    ['{"hold": true, "ttlMs": 0}', /ttlMs must be a whole number of ms from 1/],
    ['{"hold": true, "ttlMs": 1.5}', /ttlMs must be a whole number/],
    ['{"hold": true, "ttlMs": 1e300}', /ttlMs must be a whole number/],
    ['{"hold": true, "ttlMs": "10m"}', /ttlMs must be a whole number/],
    ['{"ttlMs": 1000}', /add "hold": true/],
    ['{"reasn": "x"}', /'reasn' is unknown in the body. Did you mean 'reason'\?/],
    ['{"by": "somebody else"}', /'by' is unknown/],
    ['{"__proto__": {"hold": true}}', /no JSON that can be read/],
    ['{"reason": ', /no JSON that can be read/],
  ])('refuses the body %s and says what would be right', async (body, message) => {
    await using admin = await startAdmin([fakeTarget('openai').target])
    const response = await admin.post('/admin/circuits/openai/open', body)
    expect(response.status).toBe(400)
    expect((await json(response)).error.message).toMatch(message)
    expect(admin.gear.getCircuitState()).toBe('closed')
  })

  it('does not say it was opened where the switchgear cannot act any more', async () => {
    const { target } = fakeTarget('openai', { circuitBreaker: { isolateByModel: true } })
    await using admin = await startAdmin([target])
    await admin.gear.close()
    const response = await admin.post('/admin/circuits/openai%2F/open')
    expect([response.status, (await json(response)).error.message]).toEqual([
      404,
      expect.stringContaining('openai/'),
    ])
  })
})

describe('GET /admin/journal', () => {
  it('filters by circuit, type and time, newest first', async () => {
    await using admin = await startOutage()
    admin.clock.advance(5000)
    await admin.post('/admin/circuits/backup/open', { reason: 'drill' })
    const seen = async (query: string) =>
      (await json(await admin.get(`/admin/journal${query}`))).rows.map(
        ({ circuit, type }) => `${circuit} ${type}`,
      )
    expect(await seen('?circuit=backup')).toEqual(['backup operator.opened', 'backup breaker.started'])
    expect(await seen('?type=transition')).toEqual(['backup operator.opened', 'openai call.failed'])
    expect(await seen(`?from=${START + 1}`)).toEqual(['backup operator.opened'])
    expect(await seen('?to=2026-11-30T03:00:00Z&type=call.failed')).toEqual(['openai call.failed'])
    expect(await seen('?limit=1')).toEqual(['backup operator.opened'])
    expect(await seen('')).toHaveLength(4)
  })

  it.each(['?limit=0', '?limit=1001', '?limit=x', '?from=yesterday', '?circuits=a', '?limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      await using admin = await startAdmin([fakeTarget('openai').target])
      expect((await admin.get(`/admin/journal${query}`)).status).toBe(400)
    },
  )

  it('is empty where no journal is kept', async () => {
    await using admin = await startAdmin([fakeTarget('openai').target], { journal: undefined })
    expect(await json(await admin.get('/admin/journal'))).toEqual({ rows: [] })
  })
})

describe('POST /admin/reload', () => {
  it('tells what changed and what goes on as it was', async () => {
    const reload = async () => ({ changed: ['openai'], kept: ['backup'] })
    await using admin = await startAdmin([fakeTarget('openai').target], { reload })
    const response = await admin.post('/admin/reload')
    expect([response.status, await json(response)]).toEqual([200, { changed: ['openai'], kept: ['backup'] }])
    expect((await admin.post('/admin/reload', { force: true })).status).toBe(400)
  })

  it('answers 400 with every fault where the new configuration is broken', async () => {
    const reload = async () => {
      const shown = '  3 | targets\n    | ^'
      throw new ConfigError(`gateway.yaml:3:1: a colon is missing\n${shown}\ngateway.yaml:4 key: unknown key`)
    }
    await using admin = await startAdmin([fakeTarget('openai').target], { reload })
    const response = await admin.post('/admin/reload')
    expect(response.status).toBe(400)
    expect((await json(response)).error).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('the old one stays in force'),
      faults: [
        'gateway.yaml:3:1: a colon is missing\n  3 | targets\n    | ^',
        'gateway.yaml:4 key: unknown key',
      ],
    })
  })

  it('tells an error of another kind to the log alone', async () => {
    const reload = async () => {
      throw new Error('EACCES /etc/secret')
    }
    await using admin = await startAdmin([fakeTarget('openai').target], { reload })
    const response = await admin.post('/admin/reload')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('/etc/secret')
    expect(admin.lines.some(({ level }) => level === 'error')).toBe(true)
  })

  it('says so where there is nothing to read again', async () => {
    await using admin = await startAdmin([fakeTarget('openai').target])
    const response = await admin.post('/admin/reload')
    expect([response.status, (await json(response)).error.message]).toEqual([
      400,
      expect.stringContaining('without a configuration file'),
    ])
  })
})

describe('GET /admin/chart', () => {
  const rules = { threshold: 3, cooldownMs: 3000 }
  const start = () => {
    const charts = new CircuitCharts()
    const targets = [
      fakeTarget('openai', { circuitBreaker: rules }).target,
      fakeTarget('azure', { circuitBreaker: { ...rules } }).target,
      fakeTarget('other', { circuitBreaker: { threshold: 7, degradation: {} } }).target,
    ]
    return startAdmin(targets, { chart: (policy) => charts.of(policy) })
  }
  const drawn = async (admin: Admin, query = '') => {
    const { svg } = (await (await admin.get(`/admin/chart${query}`)).json()) as { svg: string }
    return svg
  }
  const wordsIn = (svg: string) => [...svg.matchAll(/>([^<>]+)<\/text>/g)].map(([, words]) => words).join(' ')
  const idsIn = (svg: string) =>
    [...svg.matchAll(/ id="((?:state|way|in|out|edge):[^"]+)"/g)].map(([, id]) => id).toSorted()

  it('gives the chart with the numbers of the default rules, or with those of a circuit', async () => {
    await using admin = await start()
    const [standard, own, other] = [
      await drawn(admin),
      await drawn(admin, '?circuit=openai'),
      await drawn(admin, '?circuit=other'),
    ]
    expect(wordsIn(standard)).toMatch(/ 5 failures in a row .* after cooldown \(30 s\)/)
    expect(wordsIn(own)).toMatch(/ 3 failures in a row .* after cooldown \(3 s\)/)
    expect(wordsIn(own)).not.toMatch(/5 failures|\(30 s\)|default/)
    expect(wordsIn(other)).toContain(' 7 failures in a row ')
    // what lights up on the one does on the other, but for a state that its rules never enter
    expect(idsIn(other)).toEqual(idsIn(standard))
    expect(idsIn(own)).toEqual(
      idsIn(standard).filter((id) => !/degraded|edge:breaker\.closed\.healthy\//.test(id ?? '')),
    )
    expect(await drawn(admin, '?circuit=azure')).toBe(own)
  })

  it('draws once for all who ask for circuits with the same rules', async () => {
    const charts = new CircuitCharts()
    const policy = (threshold: number) => resolveBreaker({ threshold }).policy
    expect(charts.of(policy(3))).toBe(charts.of(policy(3)))
    expect(charts.of(policy(3))).not.toBe(charts.of(policy(4)))
    expect(charts.of(undefined)).toBe(charts.of(undefined))
    await Promise.all([charts.of(policy(3)), charts.of(policy(4)), charts.of(undefined)])
  })

  it('says so where there is no such circuit, or the question is another one', async () => {
    await using admin = await start()
    const unknown = await admin.get('/admin/chart?circuit=opena')
    expect([unknown.status, (await json(unknown)).error.didYouMean]).toEqual([404, ['openai']])
    expect((await admin.get('/admin/chart?circuit=a&circuit=b')).status).toBe(400)
    expect((await admin.get('/admin/chart?name=openai')).status).toBe(400)
  })
})

describe('the p95', () => {
  const p95 = (...ms: number[]) => {
    const histogram = new DurationHistogram()
    for (const one of ms) histogram.add(one)
    return percentileMs([histogram.counts], 0.95)
  }

  it('is nothing where nothing was counted', () => {
    expect(p95()).toBeNull()
    expect(percentileMs([], 0.95)).toBeNull()
  })

  it('lies within the bucket of the histogram where 95 of 100 are reached', () => {
    expect(p95(...Array<number>(100).fill(100))).toBe(156)
    expect(p95(...Array<number>(94).fill(5), ...Array<number>(6).fill(1000))).toBeGreaterThan(640)
    expect(p95(...Array<number>(96).fill(5), ...Array<number>(4).fill(1000))).toBeLessThanOrEqual(10)
  })

  it('stops at the last bound', () => {
    expect(p95(1_000_000)).toBe(DURATION_BOUNDS_MS.at(-1))
  })

  it('adds the targets of a circuit up', () => {
    const [quick, slow] = [new DurationHistogram(), new DurationHistogram()]
    for (let i = 0; i < 10; i++) quick.add(1)
    for (let i = 0; i < 10; i++) slow.add(2000)
    expect(percentileMs([quick.counts, slow.counts], 0.5)).toBe(10)
    expect(percentileMs([quick.counts, slow.counts], 0.95)).toBeGreaterThan(1280)
  })
})

describe('the rules in words', () => {
  it.each([
    [true, 'Opens on 5 failures in a row. After 30 s a trial closes it once 1 of 1 probe succeeded.'],
    [
      { threshold: Infinity },
      'Never opens by itself. After 30 s a trial closes it once 1 of 1 probe succeeded.',
    ],
    [
      { kinds: { quota_exhausted: { immediateOpen: true } }, halfOpenProbes: 4, halfOpenSuccessRatio: 0.5 },
      'Opens on 5 failures in a row, or one quota_exhausted. After 30 s a trial closes it once 2 of 4 probes succeeded.',
    ],
    [
      { mode: 'observe', tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } },
      'Only observed: refuses nobody. Opens on 50 % of at least 20 calls failed within 60 s. After 30 s a trial closes it once 1 of 1 probe succeeded.',
    ],
  ] as const)('%j', async (circuitBreaker, sentence) => {
    await using admin = await startAdmin([fakeTarget('openai', { circuitBreaker }).target])
    expect(await json(await admin.get('/admin/circuits/openai'))).toMatchObject({ rules: sentence })
  })

  it('the failure ratio is that of the rolling window', async () => {
    const tripping = { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } as const
    const openai = fakeTarget('openai', { circuitBreaker: { tripping } })
    await using admin = await startAdmin([openai.target])
    const ratio = async () => (await json(await admin.get('/admin/circuits/openai'))).failureRatio
    expect(await ratio()).toBeNull()
    for (let i = 0; i < 3; i++) await admin.call()
    openai.state.down = true
    await admin.call()
    expect(await ratio()).toBe(0.25)
  })
})
