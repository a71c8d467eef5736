import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { presets } from '../../src/audit/replay/contenders.ts'
import { Fates } from '../../src/audit/replay/fates.ts'
import { incidentModel, phasesOf } from '../../src/audit/replay/incident-model.ts'
import { IncidentReplay } from '../../src/audit/replay/incident-replay.ts'
import type { IncidentReport } from '../../src/audit/replay/incident-replay.ts'
import { incidentHtml } from '../../src/audit/replay/incident-html.ts'
import { incidentText } from '../../src/audit/replay/incident-text.ts'
import { numberRows } from '../../src/audit/replay/number-rows.ts'
import { play } from '../../src/audit/replay/play.ts'
import { readIncidents } from '../../src/audit/replay/read-incidents.ts'
import { readTrace } from '../../src/audit/replay/read-trace.ts'
import { sum, tally } from '../../src/audit/replay/tally.ts'
import { Traffic } from '../../src/audit/replay/traffic.ts'
import { frontOf, verdictOf } from '../../src/audit/replay/verdict.ts'
import { lasting } from '../../src/audit/words.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { runReplay } from './run-replay.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const SHARED = join(import.meta.dirname, '../../../shared/data')
const fixture = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const incidents = readIncidents(fixture('incidents.csv'), 'incidents.csv')
const trace = readTrace(fixture('traffic.csv'), 'traffic.csv', incidentModel)

function replayed(options: Partial<ConstructorParameters<typeof IncidentReplay>[0]> = {}): IncidentReport {
  const replay = new IncidentReplay({ incidents, trace, contenders: presets, seeds: 3, ...options })
  while (replay.step());
  return replay.report()!
}

describe('incidents', () => {
  it('end when they were mitigated, else when they were resolved', () => {
    expect(incidents.map(({ name, endAt, impact }) => [name, new Date(endAt).toISOString(), impact])).toEqual(
      [
        ['short-major', '2024-03-05T12:20:00.000Z', 2],
        ['long-minor', '2024-03-06T10:00:00.000Z', 1],
        ['whole', '2024-03-07T00:10:00.000Z', 3],
      ],
    )
  })

  it.each([
    [
      'incident,started_at,impact\n',
      /^i\.csv:1 The column 'resolved_at' is missing\. The first line must name/,
    ],
    ['incident,started_at,resolved_at,impact\na,b', /^i\.csv:2 This line has 2 of 4 columns/],
    [
      'incident,started_at,resolved_at,impact\na,soon,2024-01-01T00:00Z,1',
      /^i\.csv:2 started_at: This is 'soon'\. It must be a date/,
    ],
    [
      'incident,started_at,resolved_at,impact\na,2024-01-02,2024-01-01,1',
      /^i\.csv:2 resolved_at: .* later than started_at, 2024-01-02/,
    ],
    [
      'incident,started_at,resolved_at,impact\na,2024-01-01,2024-01-02,huge',
      /^i\.csv:2 impact: This is 'huge'\. It must be one of: 0 \(none\)/,
    ],
    ...['1960-01-01', '2200-01-02', '9000-01-01'].map((year): [string, RegExp] => [
      `incident,started_at,resolved_at,impact\na,${year},${year},1`,
      /^i\.csv:2 started_at: .* It must be a date and time from 1970 to 2200/,
    ]),
    ['incident,started_at,resolved_at,impact\n', /^i\.csv: There is no incident/],
  ])('names what is wrong in %j', (text, message) => {
    expect(() => readIncidents(text, 'i.csv')).toThrow(message)
  })

  it('are as bad as the table in the docs says', () => {
    const table = readFileSync(join(import.meta.dirname, '../../visualizations/incident-model.md'), 'utf8')
    const rows = [...table.matchAll(/^\| ([–\d]) \| .*? \| ([\d.]+) % \|/gm)]
    const told = Object.fromEntries(rows.map(([, impact, ratio]) => [impact, Number(ratio) / 100]))
    expect(told).toEqual({ '–': incidentModel.noise, ...incidentModel.failureRatios })
  })

  it('that overlap are as bad as the worst of them', () => {
    const at = (startAt: number, endAt: number, impact: number) => ({ name: '', startAt, endAt, impact })
    const phases = phasesOf([at(10, 50, 1), at(20, 30, 3), at(50, 60, 0)], incidentModel, 0, 100)
    expect(phases.map(({ fromAt, failureRatio, health }) => [fromAt, failureRatio, health])).toEqual([
      [0, 0.002, 'healthy'],
      [10, 0.2, 'impaired'],
      [20, 1, 'down'],
      [30, 0.2, 'impaired'],
      [50, 0.05, 'impaired'],
      [60, 0.002, 'healthy'],
    ])
  })
})

describe('traffic', () => {
  const calls = [
    { atMs: 0, latencyMs: 150, inputTokens: 1, outputTokens: 10 },
    { atMs: 30, latencyMs: 5, inputTokens: 2, outputTokens: 20 },
    { atMs: 30, latencyMs: 1, inputTokens: 3, outputTokens: 30 },
  ]
  const traffic = new Traffic(calls, 100, 1000)

  it('repeats', () => {
    expect([0, 1, 2, 3, 302].map((call) => traffic.arrivalAt(call))).toEqual([1000, 1030, 1030, 1100, 11_030])
    expect([999, 1000, 1001, 1030, 1031, 1100].map((at) => traffic.firstAt(at))).toEqual([0, 0, 1, 1, 3, 3])
  })

  it('knows how many calls are answered by when, as counting does', () => {
    for (let at = 990; at < 1600; at++) {
      const counted = Array.from({ length: 30 }, (_, i) => i).filter(
        (call) => traffic.arrivalAt(call) + traffic.latencyOf(call) <= at,
      )
      expect(traffic.answeredBy(at)).toBe(counted.length)
    }
  })

  it('knows what stretches of calls ask for', () => {
    expect(traffic.tokens(1, 5)).toEqual({ input: 2 + 3 + 1 + 2, output: 20 + 30 + 10 + 20 })
    expect(traffic.tokensOf(5)).toEqual({ input: 3, output: 30 })
  })

  it('is read with its latencies, whatever the order of its lines', () => {
    const text = 'TIMESTAMP,GeneratedTokens\n2023-01-01 00:00:01.5000000,100\n2023-01-01 00:00:00,5'
    expect(readTrace(text, 't.csv', incidentModel)).toEqual({
      calls: [
        { atMs: 0, latencyMs: 600, inputTokens: 0, outputTokens: 5 },
        { atMs: 1500, latencyMs: 2500, inputTokens: 0, outputTokens: 100 },
      ],
      periodMs: 3000,
    })
    const atOnce = `TIMESTAMP\n${'2023-01-01 00:00:00\n'.repeat(5)}`
    expect(readTrace(atOnce, 't.csv', incidentModel).periodMs).toBe(1000)
    expect(() => readTrace('TIMESTAMP\nnow', 't.csv', incidentModel)).toThrow(
      /^t\.csv:2 TIMESTAMP: This is 'now'/,
    )
  })
})

describe('fates', () => {
  it('are the same for a seed, and as frequent as the phase says', () => {
    const traffic = new Traffic([{ atMs: 0, latencyMs: 10, inputTokens: 0, outputTokens: 0 }], 100, 0)
    const phases = [
      { fromAt: 0, toAt: 1_000_000, failureRatio: 0.2, health: 'impaired' },
      { fromAt: 1_000_000, toAt: 1_100_000, failureRatio: 1, health: 'down' },
      { fromAt: 1_100_000, toAt: 1_200_000, failureRatio: 0, health: 'healthy' },
    ] as const
    const fates = new Fates(traffic, phases, 1, incidentModel)
    expect(fates.failing).toEqual(new Fates(traffic, phases, 1, incidentModel).failing)
    expect(fates.failing).not.toEqual(new Fates(traffic, phases, 2, incidentModel).failing)
    expect(fates.failures(0, 10_000) / 10_000).toBeCloseTo(0.2, 1)
    expect(fates.failures(10_000, 11_000)).toBe(1000)
    expect(fates.failures(11_000, 12_000)).toBe(0)
    expect(fates.fails(10_500)).toBe(true)
    expect(fates.fails(11_500)).toBe(false)
    expect(fates.fails(10_000)).toBe(true)
  })
})

describe('a replay of incidents', () => {
  const report = replayed()

  it('gives every call one fate: answered, failed or refused', () => {
    for (const { tallies } of report.policies)
      for (const { calls, answered, failed, refused } of tallies)
        expect(answered + sum(failed) + sum(refused)).toBe(calls)
  })

  it('counts what a plain look at every call counts', () => {
    const { fates } = report
    const rules = presets[0]!.rules
    const course = play(fates, rules)
    const counted = tally(course, fates, incidents)
    const refused = new Set<number>()
    for (let i = 0; i < course.refusals; i++) {
      const [from, to] = course.refusalAt(i)
      for (let call = from; call < to; call++) refused.add(call)
    }
    const byHealth = { healthy: 0, impaired: 0, down: 0 }
    const [sent, vain, spared] = [{ ...byHealth }, { ...byHealth }, { ...byHealth }]
    const tokens = { input: 0, output: 0 }
    const failing = new Set(fates.failing)
    for (let call = 0; call < fates.end; call++) {
      const at = fates.traffic.arrivalAt(call)
      const { health } = fates.phases.find(({ fromAt, toAt }) => fromAt <= at && at < toAt)!
      if (refused.has(call)) spared[health]++
      if (refused.has(call) && !failing.has(call)) vain[health]++
      if (!refused.has(call) && failing.has(call)) sent[health]++
      if (refused.has(call) || failing.has(call)) {
        tokens.input += fates.traffic.tokensOf(call).input
        tokens.output += fates.traffic.tokensOf(call).output
      }
    }
    expect(counted).toMatchObject({ failed: sent, refused: spared, refusedInVain: vain })
    expect(counted.tokens.others).toEqual(tokens)
    expect(counted.probesFailed).toBeLessThanOrEqual(counted.probes)
  })

  it('notices the outages and not the lesser incident, where the policy is made for that', () => {
    const rules = resolveBreaker({ tripping: { kind: 'leaky', threshold: 10 } })
    const { policies, outages } = replayed({ contenders: [{ name: 'leaky', rules }] })
    expect(outages).toBe(2)
    const [first] = policies[0]!.tallies
    expect(first!.outages.map(({ incident }) => incident)).toEqual(['short-major', 'whole'])
    for (const { detectMs, recoverMs } of first!.outages) {
      expect(detectMs).toBeGreaterThan(0)
      expect(detectMs).toBeLessThan(5 * 60_000)
      expect(recoverMs).toBeGreaterThan(0)
    }
    expect(first!.falseAlarms).toBe(0)
  })

  it('counts an outage that is never noticed with its whole length', () => {
    const never = { name: 'never', rules: resolveBreaker({ threshold: Infinity }) }
    const { policies } = replayed({ contenders: [never], seeds: 1 })
    expect(policies[0]!.numbers).toMatchObject({
      undetected: { mean: 2 },
      detectMs: { mean: (20 * 60_000 + 10 * 60_000) / 2 },
      needless: { mean: 0 },
      probes: { mean: 0 },
    })
    expect(policies[0]!.numbers).not.toHaveProperty('recoverMs.mean', NaN)
  })

  it('costs what was answered, by the target or by the backup', () => {
    const never = { name: 'never', rules: resolveBreaker({ threshold: Infinity }) }
    const options = { contenders: [never], seeds: 1, price: { input: 1, output: 10 } }
    const free = replayed({ ...options, backupPrice: { input: 0, output: 0 } })
    const [{ tokens }] = free.policies[0]!.tallies as [ReturnType<typeof tally>]
    const answered = (tokens.answered.input + 10 * tokens.answered.output) / 1e6
    expect(free.policies[0]!.numbers['cost']!.mean).toBeCloseTo(answered, 9)
    expect(replayed(options).policies[0]!.numbers['cost']!.mean).toBeGreaterThan(answered)
    expect(report.policies[0]!.numbers).not.toHaveProperty('cost')
  })

  it('says which policy serves best, and why', () => {
    const { verdict } = report
    const best = report.policies.find(({ name }) => name === verdict.best)!
    for (const { numbers } of report.policies)
      expect(numbers['misled']!.mean).toBeGreaterThanOrEqual(best.numbers['misled']!.mean)
    expect(verdict.why).toHaveLength(4)
    expect(verdict.why[0]).toContain(
      `Measured by the calls that went wrong, failed in an outage or refused in vain, ${verdict.best} has the fewest: `,
    )
  })

  it('knows the front: whoever is beaten in both is not on it', () => {
    const policy = (name: string, detectMs: number, needless: number) => {
      const spread = (mean: number) => ({ mean, low: mean, high: mean })
      return { name, numbers: { detectMs: spread(detectMs), needless: spread(needless) } }
    }
    const all = [policy('a', 10, 5), policy('b', 20, 1), policy('c', 20, 5), policy('d', 10, 6)]
    expect(frontOf(all).map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('calls no difference one that luck alone makes', () => {
    const policy = (name: string, detect: readonly number[], needless: number, misled: number) => {
      const [low, mean, high] = detect as readonly [number, number, number]
      const exactly = (value: number) => ({ mean: value, low: value, high: value })
      const numbers = { needless: exactly(needless), misled: exactly(misled), wasted: exactly(0) }
      return { name, numbers: { ...numbers, detectMs: { low, mean, high } } }
    }
    const best = policy('best', [60_000, 70_000, 80_000], 10, 100)
    const verdict = verdictOf([
      best,
      policy('close', [62_000, 72_000, 82_000], 20, 103),
      policy('late', [90_000, 95_000, 99_000], 10, 250),
      policy('early', [5000, 5000, 5000], 90, 9000),
    ])
    expect(verdict).toMatchObject({ best: 'best', front: ['best', 'early'] })
    const told = verdict.why.slice(1).map((sentence) => sentence.split(':')[0])
    expect(told).toEqual([
      'close notices outages about as soon, but a few more calls go wrong',
      'late notices outages 25 s later, but 2.5 times as many calls go wrong',
      'early notices outages 1 min 5 s sooner, but 90 times as many calls go wrong',
      'In time to detect and needless refusals together best and early are beaten by none; close is beaten by best, which is about as soon and refuses fewer without need; late is beaten by best, which is sooner and refuses as few without need.',
    ])
    expect(verdictOf([best, policy('other', [1, 1, 1], 99, 999)]).why.at(-1)).toBe(
      'In time to detect and needless refusals together no policy beats another: whichever is sooner also refuses more without need.',
    )
  })

  it('tells a tie as a tie', () => {
    const exactly = (value: number) => ({ mean: value, low: value, high: value })
    const policy = (name: string, misled: number) => ({
      name,
      numbers: { misled: exactly(misled), wasted: exactly(misled) },
    })
    const { why } = verdictOf([policy('a', 10), policy('b', 10), policy('c', 20)])
    expect(why[0]).toContain(', a and b have equally many, and the fewest; of a: 10, of which 10 were sent')
    expect(why[1]).toContain('b notices outages about as soon, and as many calls go wrong: 10')
    expect(why[2]).toContain('but 2.0 times as many calls go wrong: 20')
  })

  it('says what the best costs, and in nothing where it is better in everything', () => {
    const policy = (name: string, misled: number, recover: number, refusedHealthy: number) => {
      const exactly = (value: number) => ({ mean: value, low: value, high: value })
      const numbers = {
        misled: exactly(misled),
        recoverMs: exactly(recover),
        refusedHealthy: exactly(refusedHealthy),
      }
      return { name, numbers }
    }
    const best = policy('best', 10, 60_000, 300)
    expect(verdictOf([best, policy('other', 20, 50_000, 100)]).price).toEqual([
      'What that costs: best lets calls flow again, once an outage is over, after 1 min (other 50 s); it refuses 300 calls while the target is healthy, the most of all (other 100).',
    ])
    expect(verdictOf([best, policy('other', 20, 70_000, 400)]).price).toEqual([])
  })

  it('counts what no breaker at all comes to, as a policy that never opens does', () => {
    const never = { name: 'never', rules: resolveBreaker({ threshold: Infinity }) }
    const { policies, without } = replayed({ contenders: [never], seeds: 2 })
    for (const key of ['misled', 'needless', 'availability', 'alone'])
      expect(without[key]).toEqual(policies[0]!.numbers[key])
    expect(without).not.toHaveProperty('detectMs')
  })

  it('sums up: what failed in an outage and what was refused in vain is what went wrong', () => {
    for (const { numbers } of report.policies)
      expect(numbers['wasted']!.mean + numbers['inVain']!.mean).toBeCloseTo(numbers['misled']!.mean, 6)
  })

  it('plays the same with another severity, and says whether the best stays the best', () => {
    const varied = replayed({ seeds: 2, otherShares: [0.6, 0.7, 0.9] })
    expect(varied.otherShares.map(({ share, seeds }) => [share, seeds])).toEqual([
      [0.6, 1],
      [0.7, 2],
      [0.9, 1],
    ])
    const model = { ...incidentModel, failureRatios: { ...incidentModel.failureRatios, 2: 0.9 } }
    const alone = replayed({ seeds: 1, model })
    expect(varied.otherShares[2]!.policies[0]!.misled).toBe(alone.policies[0]!.numbers['misled']!.mean)
    const stays = varied.otherShares.every(({ best }) => best === varied.verdict.best)
    const told = incidentText(varied)
    expect(told).toContain('Played with 60 %, 70 % and 90 %, ')
    expect(told.includes('is the best each time')).toBe(stays)
    expect(incidentText(report)).toContain('It was not varied here')
  })

  it('marks as the best whatever reads the same', () => {
    const spread = (mean: number) => ({ mean, low: mean, high: mean })
    const rows = numberRows(
      [{ availability: 0.999991 }, { availability: 0.999992 }, { availability: 0.9 }].map(
        ({ availability }) => ({
          numbers: { availability: spread(availability) },
        }),
      ),
      {},
    )
    expect(rows[0]!.slice(1).map(({ best = false }) => best)).toEqual([true, true, false, false])
  })

  it('says what was assumed, and how long nobody called', () => {
    const told = incidentText(report)
    expect(told).toContain(
      'Calls that fail, as assumed: 0.2 % without an incident, 20 % where the impact is minor, 70 % where the impact is major and 100 % where the impact is critical',
    )
    const times = trace.calls.map(({ atMs }) => atMs)
    const pauses = [...times.slice(1), trace.periodMs].map((at, i) => at - times[i]!)
    expect(report.trace.pauseMs).toBe(Math.max(...pauses))
    expect(told).toContain(`Its longest pause is ${lasting(report.trace.pauseMs)}:`)
  })

  it('is the same byte for byte when it is played again', () => {
    const again = replayed()
    expect(incidentText(again)).toBe(incidentText(report))
    expect(incidentHtml(again)).toBe(incidentHtml(report))
  })

  it('draws every incident on a page that needs nothing from elsewhere', () => {
    const html = incidentHtml(report)
    expect(html.match(/<svg/g)).toHaveLength(incidents.length + 2)
    expect(html).not.toMatch(/https?:|<script|NaN|undefined|Infinity/)
  })

  it('tells what is there when it is stopped', () => {
    const replay = new IncidentReplay({ incidents, trace, contenders: presets, seeds: 5 })
    expect(replay.report()).toBeUndefined()
    for (let i = 0; i < 4; i++) replay.step()
    const stopped = replay.report()!
    expect(stopped.seeds).toBe(1)
    expect(incidentText(stopped)).toContain('Played with 1 seed (stopped; 5 were wanted)')
  })
})

describe('switchgear replay', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'replay-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
    process.exitCode = undefined
  })

  const files = ['--incidents', join(FIXTURES, 'incidents.csv'), '--traffic', join(FIXTURES, 'traffic.csv')]

  it('compares the presets, unless it is told of policies', async () => {
    const told = JSON.parse(await runReplay(...files, '--seeds', '1', '--json')) as {
      policies: { name: string }[]
    }
    expect(told.policies.map(({ name }) => name)).toEqual(['llmDefaults', 'toolDefaults', 'plain default'])
  })

  it('reads policies from options, from a configuration and by name, and writes a page', async () => {
    const config = join(dir, 'gateway.yaml')
    writeFileSync(
      config,
      `targets:\n  - {name: a, baseUrl: "\${A_URL}", circuitBreaker: {threshold: 9}}\n  - {name: b, baseUrl: https://b.example}\n`,
    )
    const page = join(dir, 'page.html')
    const policies = ['--policy', join(FIXTURES, 'rolling.yaml'), '--policy', config, '--policy', 'default']
    const told = JSON.parse(
      await runReplay(...files, ...policies, '--seeds', '1', '--json', '--html', page),
    ) as {
      policies: { name: string; opensAt: string }[]
    }
    expect(told.policies.map(({ name, opensAt }) => [name, opensAt])).toEqual([
      ['rolling.yaml', '60 % of at least 10 calls failed within 60 s'],
      ['gateway.yaml', '9 failures in a row'],
      ['plain default', '5 failures in a row'],
    ])
    expect(readFileSync(page, 'utf8')).toContain('gateway.yaml')
    const other = await runReplay(...files, '--policy', config, '--target', 'b', '--seeds', '1', '--json')
    expect(other).toContain('5 failures in a row')
    await expect(runReplay(...files, '--policy', config, '--target', 'bb', '--seeds', '1')).rejects.toThrow(
      `gateway.yaml has no circuit for a target 'bb'. Did you mean`,
    )
  })

  it('takes another table and prices', async () => {
    const told = JSON.parse(
      await runReplay(
        ...files,
        '--seeds',
        '1',
        '--json',
        '--impact',
        '2=0.3',
        '--noise',
        '0',
        '--price',
        '3/15',
      ),
    ) as { outages: number; policies: { numbers: Record<string, unknown> }[] }
    expect(told.outages).toBe(1)
    expect(told.policies[0]!.numbers).toHaveProperty('cost')
  })

  it('names the line of a fault in a policy', async () => {
    const file = join(dir, 'bad.yaml')
    writeFileSync(file, 'threshold: 3\ncooldownMs: -5\n')
    await expect(runReplay(...files, '--policy', file)).rejects.toThrow(
      `${file}:2 cooldownMs is -5; it must be a number of at least 0`,
    )
    writeFileSync(file, 'treshold: 3\n')
    await expect(runReplay(...files, '--policy', file)).rejects.toThrow(/bad\.yaml:1 Unknown option treshold/)
    await expect(runReplay(...files, '--policy', join(dir, 'none.yaml'))).rejects.toThrow(
      'there is no such file',
    )
  })

  it('says what is missing', async () => {
    await expect(runReplay('--incidents', 'x.csv')).rejects.toThrow('--traffic is missing')
    await expect(runReplay()).rejects.toThrow('say what to replay')
    await expect(runReplay(...files, '--price', '3')).rejects.toThrow('such as 3/15')
  })
})

const real = ['anthropic-api-incidents.csv', 'azure-llm-code-2023.csv'].map((name) => join(SHARED, name))

describe.skipIf(!real.every((file) => existsSync(file)))('a real year', () => {
  it('of 72 incidents over real traffic is crossed in seconds', () => {
    const [incidents, traffic] = real.map((file) => readFileSync(file, 'utf8'))
    const { calls, policies, outages } = replayed({
      incidents: readIncidents(incidents!, 'incidents'),
      trace: readTrace(traffic!, 'traffic', incidentModel),
      seeds: 1,
    })
    expect(calls).toBeGreaterThan(80_000_000)
    expect(outages).toBe(30)
    for (const { numbers } of policies) {
      expect(numbers['undetected']!.mean).toBe(0)
      expect(numbers['detectMs']!.mean).toBeLessThan(120_000)
    }
  })
})
