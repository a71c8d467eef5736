import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { arrivals, rateAt } from '../../src/audit/simulate/arrivals.ts'
import type { TrafficModel } from '../../src/audit/simulate/load.ts'
import { readLoad } from '../../src/audit/simulate/read-load.ts'
import { ScriptedTarget } from '../../src/audit/simulate/scripted-target.ts'
import { outcome } from '../../src/audit/simulate/simulate-text.ts'
import { simulateScenario } from '../../src/audit/simulate/simulate-scenario.ts'
import { simulateCommand } from '../../src/cli/simulate.ts'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'simulate-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

async function run(...args: string[]): Promise<string> {
  let out = ''
  const command = simulateCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
  await command.parseAsync(args, { from: 'user' })
  return out
}

function file(text: string, name = 'load.yaml'): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

interface Told {
  readonly calls: number
  readonly unanswered: number
  readonly interrupted: number
  readonly fallback: number
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  readonly firstPartMs?: { readonly p50: number; readonly p95: number }
  readonly cost?: number
  readonly verdict?: string
  readonly targets: readonly Readonly<Record<string, number>>[]
  readonly faults: readonly { readonly detectMs: number | null; readonly recoverMs: number | null }[]
}

const simulated = async (text: string, ...args: string[]) =>
  JSON.parse(await run(file(text), '--json', ...args)) as Told

const load = (primary: string, more = '', traffic = 'rate: 5') => `kind: load
name: A test
duration: 30m
traffic: { ${traffic} }
switchgear:
  targets:
    - { name: primary, circuitBreaker: { threshold: 5, cooldownMs: 10000 }, maxRetries: 0, timeoutMs: 5000 ${more} }
    - { name: backup, circuitBreaker: true }
providers:
  primary: { latency: 400 ${primary} }
  backup: { latency: 900 }
`

describe('a simulation', () => {
  it('of a healthy chain asks the first target only', async () => {
    const { calls, unanswered, fallback, latencyMs, targets } = await simulated(load(''))
    expect(calls).toBeGreaterThan(8000)
    expect({ unanswered, fallback }).toEqual({ unanswered: 0, fallback: 0 })
    expect(latencyMs).toMatchObject({ p50: 400, p95: 400 })
    expect(targets[0]).toMatchObject({ sent: calls, answered: calls, failed: 0, refused: 0, openings: 0 })
    expect(targets[1]).toMatchObject({ sent: 0 })
  })

  it('of an outage: the circuit opens, the backup answers, probes find the way back', async () => {
    const { calls, unanswered, targets, faults } = await simulated(load(', faults: [{ at: 10m, for: 5m }]'))
    const [primary, backup] = targets
    expect(unanswered).toBe(0)
    expect(faults[0]!.detectMs).toBeGreaterThan(0)
    expect(faults[0]!.detectMs).toBeLessThan(5000)
    expect(faults[0]!.recoverMs).toBeGreaterThan(0)
    expect(faults[0]!.recoverMs).toBeLessThan(11_000)
    expect(primary).toMatchObject({ openings: 1, openMs: expect.closeTo(300_000, -5) as number })
    // five to notice it with what was under way, then one a cooldown
    expect(primary!['wasted']).toBeLessThan(45)
    expect(primary!['probes']).toBeGreaterThan(25)
    expect(primary!['refused']! + primary!['failed']!).toBe(backup!['answered'])
    expect(primary!['answered']! + backup!['answered']!).toBe(calls)
    expect(primary!['refusedHealthy']).toBeLessThan(60)
  })

  it('of targets without answers tells how many callers went away without one', async () => {
    const text = load(', faults: [{ at: 0, for: 30m }]').replace(
      'backup: { latency: 900 }',
      'backup: { failures: 1 }',
    )
    const { calls, unanswered, targets } = await simulated(text)
    expect(unanswered).toBe(calls)
    expect(targets.map(({ answered }) => answered)).toEqual([0, 0])
  })

  it.each([
    ['hanging requests end at their limit', '{ at: 5m, for: 10m, answer: { hang: true } }', 5000],
    ['empty answers are none', '{ at: 5m, for: 10m, answer: { empty: true } }', 400],
    ['refused connections', '{ at: 5m, for: 10m, answer: { error: ECONNREFUSED }, latency: 5 }', 5],
  ])('knows %s', async (_, fault, ms) => {
    const { faults, targets } = await simulated(load(`, faults: [${fault}]`))
    expect(faults[0]!.detectMs).toBeGreaterThanOrEqual(ms)
    expect(targets[0]!['openings']).toBe(1)
  })

  it('knows slow answers, which only a rule for latency notices', async () => {
    const slow = ', faults: [{ at: 5m, for: 10m, slow: 5 }]'
    const rule = '{ kind: latency, windowMs: 60000, minCalls: 20, slowMs: 1500, slowRatio: 0.5 }'
    expect((await simulated(load(slow))).faults[0]!.detectMs).toBeNull()
    const noticed = await simulated(load(slow).replace('threshold: 5', `tripping: ${rule}`))
    expect(noticed.faults[0]!.detectMs).toBeGreaterThan(0)
  })

  it('runs the retries of the real chain', async () => {
    const faulty = load(', failures: 0.5')
      .replace('maxRetries: 0', 'maxRetries: 2')
      .replace('threshold: 5', 'threshold: 1000')
    const { calls, targets } = await simulated(faulty)
    expect(targets[0]!['sent']).toBeGreaterThan(calls * 1.15)
  })

  it('adds up what the answers cost', async () => {
    const priced = load(
      ', price: { input: 1, output: 10 }',
      '',
      'rate: 1, tokens: { input: 500, output: 50 }',
    )
    const { calls, cost } = await simulated(priced)
    expect(cost).toBeCloseTo((calls * (500 + 500)) / 1e6, 9)
    expect(await simulated(load(''))).not.toHaveProperty('cost')
  })

  it('is the same byte for byte with the same seed, and another with another', async () => {
    const path = file(load(', failures: 0.1').replace('latency: 400', 'latency: { median: 500, p95: 4000 }'))
    const pages = ['a.html', 'b.html', 'c.html'].map((name) => join(dir, name))
    await run(path, '--html', pages[0]!)
    await run(path, '--html', pages[1]!)
    await run(path, '--html', pages[2]!, '--seed', '2')
    const [a, b, c] = pages.map((page) => readFileSync(page, 'utf8'))
    expect(a).toBe(b)
    expect(a).not.toBe(c)
    expect(a).not.toMatch(/https?:|<script|NaN|undefined|Infinity/)
    const texts = [await run(path), await run(path), await run(path, '--seed', '2')]
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).not.toBe(texts[2])
    expect(await run(path, '--json')).toBe(await run(path, '--json'))
  })

  it('tells what is there when it is stopped, and draws the part that was played', async () => {
    const path = file(load(', faults: [{ at: 999h, for: 5m }]').replace('30m', '1000h'))
    const page = join(dir, 'page.html')
    const told = run(path, '--html', page)
    setTimeout(() => process.emit('SIGINT'), 100)
    const text = await told
    expect(text).toMatch(/Stopped after .* of 41 d 16 h\./)
    expect(text).toContain('all requests fail with 503: the end came before it.')
    expect(process.exitCode).toBe(130)
    const drawn = readFileSync(page, 'utf8')
    expect(drawn).not.toMatch(/class="mark"|NaN|undefined|Infinity/)
    expect(drawn).not.toContain('>41 d 16 h<')
  })

  it('takes the targets of a configuration', async () => {
    const config = file(
      'targets:\n  - {name: primary, baseUrl: "${URL}", circuitBreaker: {threshold: 3}}\n  - {name: backup, baseUrl: https://b.example}\n',
      'gateway.yaml',
    )
    const text = load(', faults: [{ at: 10m, for: 5m }]').replace(/switchgear:\n(?: {2}.*\n)+/, '')
    const { targets, unanswered } = await simulated(text, '--config', config)
    expect(targets.map(({ name }) => name)).toEqual(['primary', 'backup'])
    expect(targets[0]!['openings']).toBe(1)
    expect(unanswered).toBe(0)
  })

  it('plays a trace, with latencies by tokens', async () => {
    file(
      'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-01-01 00:00:00,10,100\n2023-01-01 00:00:10,20,200\n',
      'trace.csv',
    )
    const text = load('', '', 'trace: trace.csv').replace(
      'latency: 400',
      'latency: { answer: 100, perToken: 10 }',
    )
    const { calls, latencyMs } = await simulated(text)
    expect(calls).toBe(180)
    expect(latencyMs).toMatchObject({ p50: 2100, p95: 2100 })
  })
})

describe('a simulation of streams', () => {
  const streams = (primary: string, traffic = 'rate: 5, stream: true') =>
    load(
      `, stream: { parts: 4, every: 100 } ${primary}`,
      ', firstContentTimeoutMs: 2000, idleTimeoutMs: 1000',
      traffic,
    )
  const faulty = (answer: string) => streams(`, faults: [{ at: 10m, for: 5m, answer: ${answer} }]`)

  it('reads every answer in parts', async () => {
    const { unanswered, interrupted, firstPartMs, latencyMs, targets } = await simulated(streams(''))
    expect({ unanswered, interrupted }).toEqual({ unanswered: 0, interrupted: 0 })
    expect(firstPartMs).toMatchObject({ p50: 400, p95: 400 })
    expect(latencyMs).toMatchObject({ p50: 700, p95: 700 })
    expect(targets[0]).toMatchObject({ failed: 0, openings: 0, interrupted: 0 })
    expect(await simulated(load(''))).not.toHaveProperty('firstPartMs')
    expect((await simulated(load(''))).targets[0]).not.toHaveProperty('interrupted')
  })

  it.each([
    ['is cut off', '{ cut: 0.5 }', 700],
    ['stands still', '{ stall: 0.5 }', 1500],
  ])('that %s after its first part: nobody else answers', async (_, answer, ms) => {
    const { unanswered, interrupted, fallback, targets, faults } = await simulated(faulty(answer))
    const [primary, backup] = targets
    expect(unanswered).toBe(0)
    expect(interrupted).toBeGreaterThan(30)
    // who was refused, and nobody else, came to the backup
    expect(primary!['failed']).toBe(interrupted)
    expect(primary!['interrupted']).toBe(interrupted)
    expect(fallback).toBe(primary!['refused'])
    expect(backup!['sent']).toBe(fallback)
    expect(faults[0]!.detectMs).toBeGreaterThanOrEqual(ms)
  })

  it.each([
    ['is cut off', '{ cut: 0 }', 400],
    ['stands still', '{ stall: 0 }', 2000],
    ['fails at once', '{ status: 503 }', 200],
    ['hangs', '{ hang: true }', 2000],
    ['is empty', '{ empty: true }', 200],
  ])('that %s before its first part: the next one answers', async (_, answer, ms) => {
    const { unanswered, interrupted, fallback, targets, faults } = await simulated(faulty(answer))
    expect({ unanswered, interrupted }).toEqual({ unanswered: 0, interrupted: 0 })
    expect(fallback).toBe(targets[0]!['failed']! + targets[0]!['refused']!)
    expect(faults[0]!.detectMs).toBeGreaterThanOrEqual(ms)
  })

  it('by their tokens come as these do', async () => {
    const text = streams('', 'rate: 5, stream: true, tokens: { input: 1, output: 40 }')
      .replace('latency: 400', 'latency: { answer: 300, perToken: 10 }')
      .replace('{ parts: 4, every: 100 }', '{ parts: 4 }')
    const { firstPartMs, latencyMs } = await simulated(text)
    expect(firstPartMs).toMatchObject({ p50: 300, p95: 300 })
    expect(latencyMs).toMatchObject({ p50: 600, p95: 600 })
  })

  it('says in words and in its picture what broke half way', async () => {
    const page = join(dir, 'page.html')
    const text = await run(file(faulty('{ cut: 0.5 }')), '--html', page)
    expect(text).toMatch(/0 without an answer, \d+ with one that broke half way\./)
    expect(text).toMatch(/ {2}… that broke half way +\d+ +0\n/)
    expect(text).toContain('all requests are cut off after 50 % of their parts')
    expect(readFileSync(page, 'utf8')).toMatch(/class="line watch"/)
  })
})

describe('traffic', () => {
  const traffic: TrafficModel = {
    rate: 10,
    arrivals: 'even',
    daily: undefined,
    bursts: [],
    trace: undefined,
    stream: false,
    tokens: { input: 1, output: 1 },
  }
  const count = (model: TrafficModel, durationMs: number) =>
    [...arrivals(model, durationMs, seededRandom(1))].length

  it('comes evenly, or by chance at the same rate', () => {
    const even = [...arrivals(traffic, 1000, seededRandom(1))].map(({ at }) => at)
    expect(even).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900])
    expect(count({ ...traffic, arrivals: 'poisson' }, 1_000_000) / 10_000).toBeCloseTo(1, 1)
  })

  it('follows the day and bursts', () => {
    const shaped = { ...traffic, daily: { low: 0.2, peakAt: 3_600_000 * 14 } }
    expect(rateAt(shaped, 3_600_000 * 14)).toBe(10)
    expect(rateAt(shaped, 3_600_000 * 2)).toBeCloseTo(2)
    const burst = { ...traffic, bursts: [{ fromAt: 1000, toAt: 2000, rate: 100 }] }
    expect(count(burst, 3000)).toBe(10 + 100 + 10)
    expect(count({ ...burst, arrivals: 'poisson' }, 3000)).toBeGreaterThan(80)
  })
})

describe('a scripted target', () => {
  it('spreads its latencies as its model says', () => {
    const target = new ScriptedTarget(
      {
        latency: { kind: 'spread', median: 800, p95: 3000 },
        stream: { parts: 1, everyMs: undefined },
        failures: 0,
        failure: { status: 503 },
        failureMs: 1,
        faults: [],
        price: undefined,
      },
      seededRandom(5),
    )
    const all = Array.from(
      { length: 20_000 },
      () => target.fateAt(0, { at: 0, input: 0, output: 0 }).ms,
    ).sort((a, b) => a - b)
    expect(all[10_000]! / 800).toBeCloseTo(1, 1)
    expect(all[19_000]! / 3000).toBeCloseTo(1, 1)
  })
})

describe('a load file', () => {
  const read = (text: string) => readLoad(text, 'l.yaml', { trace: () => ({ calls: [], periodMs: 1 }) })

  it.each([
    [
      'kind: load\ntraffic: {rate: 1}\nswitchgear: {targets: [{}]}\n',
      "l.yaml:1 load: The key 'duration' is missing.",
    ],
    [
      'duration: soon\ntraffic: {rate: 1}\nswitchgear: {targets: [{}]}\n',
      "l.yaml:1 duration: This is 'soon'. It must be a duration, such as 90s",
    ],
    ['duration: 1h\ntraffic: {}\nswitchgear: {targets: [{}]}\n', 'l.yaml:2 traffic: Nobody calls.'],
    [
      'duration: 1h\ntraffic: {rate: 1, trace: x}\nswitchgear: {targets: [{}]}\n',
      "'trace' stands beside 'rate'",
    ],
    ['duration: 1h\ntraffic: {rate: 1}\n', 'There is no target.'],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear:\n  targets:\n    - {name: a}\n    - name: b\n      circuitBreaker: {threshold: 0}\n',
      'l.yaml:7 switchgear.targets[1].circuitBreaker.threshold: This is 0; it must be an integer of at least 1',
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear:\n  targets:\n    - name: a\n      circuitBraker: true\n',
      "l.yaml:6 switchgear.targets[0].circuitBraker: Unknown option targets[0].circuitBraker. Did you mean 'circuitBreaker'?",
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear: {targets: [{name: a}, {name: a}]}\n',
      "l.yaml:3 switchgear.targets: Two targets are called 'a'.",
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  b: {}\n',
      "l.yaml:5 providers.b: There is no target 'b'.",
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    faults:\n      - {at: 1m, ratio: 2}\n',
      'l.yaml:7 providers.a.faults[0].ratio: This is 2. It must be a number from 0 to 1.',
    ],
    [
      'duration: 1h\ntraffic: {rate: 1, stream: yes please}\nswitchgear: {targets: [{name: a}]}\n',
      "l.yaml:2 traffic.stream: This is 'yes please'. It must be true or false.",
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    stream: {parts: 3}\n',
      'l.yaml:6 providers.a.stream: Nobody reads a stream. Give traffic: {stream: true}.',
    ],
    [
      'duration: 1h\ntraffic: {rate: 1}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    faults: [{at: 1m, for: 1m, answer: {cut: 0.5}}]\n',
      'l.yaml:6 providers.a.faults[0].answer.cut: Nobody reads a stream.',
    ],
    [
      'duration: 1h\ntraffic: {rate: 1, stream: true}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    stream: {parts: 0}\n',
      'l.yaml:6 providers.a.stream.parts: This is 0. It must be a whole number of at least 1 and at most 100000.',
    ],
    [
      'duration: 1h\ntraffic: {rate: 1, stream: true}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    failure: {cut: 0.5, stall: 0.5}\n',
      "l.yaml:6 providers.a.failure.stall: 'stall' stands beside 'cut'.",
    ],
    [
      'duration: 1h\ntraffic: {rate: 1, stream: true}\nswitchgear: {targets: [{name: a}]}\nproviders:\n  a:\n    failure: {cut: 5}\n',
      'l.yaml:6 providers.a.failure.cut: This is 5. It must be a number from 0 to 1.',
    ],
  ])('names what is wrong: %#', (text, message) => {
    const fault = () => read(text)
    expect(fault).toThrow(message.split('load: ').at(-1))
    if (message.startsWith('l.yaml') && !message.includes('load: ')) expect(fault).toThrow(message)
  })

  const chain = 'switchgear: {targets: [{name: a}]}\n'
  it.each([
    ['rate: .inf', 'l.yaml:2 traffic.rate: This is Infinity. It must be a number of at least 0.'],
    ['rate: 1e300', 'l.yaml:2 traffic.rate: This makes 3.6e+303 calls. A load may have 200 million'],
    ['rate: 1e9', 'l.yaml:2 traffic.rate: This makes 3600000000000 calls.'],
    [
      'rate: 1, bursts: [{at: 1s, for: 1h, rate: 1e9}]',
      'l.yaml:2 traffic.bursts[0].rate: This makes 3599000003600 calls.',
    ],
    [
      'rate: 1, bursts: [{at: 1s, for: 1ms, rate: 1e9}]',
      'l.yaml:2 traffic.bursts[0].rate: This is 1000000000',
    ],
    [
      'rate: 1, bursts: [{at: 1s, for: 1s, rate: .inf}]',
      'l.yaml:2 traffic.bursts[0].rate: This is Infinity.',
    ],
    ['rate: 1, bursts: [{at: 0s, for: 9999999d, rate: 1}]', "l.yaml:2 traffic.bursts[0].for: This is '9999"],
  ])('that nobody could play is refused: %s', (traffic, message) => {
    expect(() => read(`duration: 1h\ntraffic: {${traffic}}\n${chain}`)).toThrow(message)
  })

  it('may have a short burst far above its rate, and a trace within bounds', () => {
    const text = `duration: 1h\ntraffic: {rate: 1, bursts: [{at: 1s, for: 1s, rate: 5000}]}\n${chain}`
    expect(read(text).traffic.bursts).toHaveLength(1)
    const calls = [{ atMs: 0, latencyMs: 1, inputTokens: 0, outputTokens: 0 }]
    const trace = () => ({ calls, periodMs: 1 })
    const traced = (duration: string) => `duration: ${duration}\ntraffic: {trace: t}\n${chain}`
    expect(readLoad(traced('1h'), 'l.yaml', { trace }).durationMs).toBe(3_600_000)
    expect(() => readLoad(traced('100d'), 'l.yaml', { trace })).toThrow('l.yaml:2 traffic.trace: This makes')
  })

  it('never shows the words of a file of secrets', () => {
    for (const text of ['OPENAI_API_KEY=sk-words', '- sk-words', `duration: 1h\ntraffic: sk-words\n${chain}`])
      expect(() => read(text)).toThrow(/This is a (text|list)\. It must be a map/)
    const long = `duration: "OPENAI_API_KEY=sk-words-and-more"\ntraffic: {rate: 1}\n${chain}`
    expect(() => read(long)).toThrow('l.yaml:1 duration: This is a text. It must be a duration')
  })
})

describe('a scenario', () => {
  it('of a breaker counts its calls: what came of each, and how long it took', async () => {
    const report = await simulateScenario(
      parseScenario(`kind: breaker
name: One of each
breaker: { threshold: 2, cooldownMs: 1000 }
steps:
  - { admit: a }
  - { at: 200, succeed: a }
  - calls: { outcome: succeed, times: 3 }
  - calls: { outcome: fail, times: 2 }
  - { reject: b }
  - { at: 1300, admit: c }
`),
    )
    expect(report.verdict).toBe('')
    expect(report).toMatchObject({ calls: 8, unanswered: 4, fallback: 0 })
    expect(report.targets).toMatchObject([{ answered: 4, sent: 7, failed: 2, refused: 1 }])
    expect(report.observed.latencies.all).toContain(200)
    expect(outcome(report)).toContainEqual(expect.stringContaining('50 % of 8 calls answered'))
  })

  const breaker = `kind: breaker
name: It opens and recovers
breaker: {threshold: 2, cooldownMs: 1000}
steps:
  - calls: {outcome: fail, times: 2}
    expect: open
  - {at: 500, reject: a}
  - {at: 1000, admit: b}
  - {at: 1200, succeed: b, expect: closed}
`
  const call = `kind: call
name: An open primary is skipped
switchgear:
  targets:
    - {name: primary, circuitBreaker: {threshold: 1, cooldownMs: 1000}, maxRetries: 0}
    - {name: backup}
script:
  primary: [{status: 503, afterMs: 50}, {ok: fine}]
  backup: [{ok: from-backup}]
calls:
  - at: 0
    expect: {answer: from-backup}
  - at: 100
    expect: {attempts: [backup]}
`

  it('of a breaker is played and drawn', async () => {
    const { targets, verdict, observed } = await simulateScenario(parseScenario(breaker))
    expect(verdict).toBe('')
    expect(targets[0]).toMatchObject({ sent: 3, failed: 2, refused: 1, probes: 1, openings: 1, openMs: 1200 })
    expect(observed.targets[0]!.changes.map(({ at, to }) => [at, to])).toEqual([
      [0, 'open'],
      [1000, 'half-open'],
      [1200, 'closed'],
    ])
  })

  it('of calls is played and drawn', async () => {
    const { targets, verdict, calls, fallback } = await simulateScenario(parseScenario(call))
    expect({ verdict, calls, fallback }).toEqual({ verdict: '', calls: 2, fallback: 2 })
    expect(targets.map(({ sent, failed, answered }) => ({ sent, failed, answered }))).toEqual([
      { sent: 1, failed: 1, answered: 0 },
      { sent: 2, failed: 0, answered: 2 },
    ])
  })

  it('of a stream tells what broke half way', async () => {
    const stream = call
      .replace('{ok: fine}', '{stream: [{text: a}, {cut: true}]}')
      .replace('{status: 503, afterMs: 50}', '{stream: [{text: a}, {cut: true}]}')
      .replace(/calls:[^]*/, 'calls:\n  - {at: 0, stream: true, expect: {text: a, ended: error}}\n')
    const { verdict, calls, unanswered, interrupted, targets } = await simulateScenario(parseScenario(stream))
    expect({ verdict, calls, unanswered, interrupted }).toEqual({
      verdict: '',
      calls: 1,
      unanswered: 0,
      interrupted: 1,
    })
    expect(targets.map(({ interrupted }) => interrupted)).toEqual([1, 0])
  })

  it('that does not hold says which step, with exit code 1', async () => {
    const page = join(dir, 'page.html')
    const told = await run(file(breaker.replace('expect: closed', 'expect: open')), '--html', page)
    expect(told).toContain(
      "The scenario does not hold: step 4: expected the state 'open', got 'closed' (line 9).",
    )
    expect(process.exitCode).toBe(1)
    expect(readFileSync(page, 'utf8')).not.toMatch(/NaN|undefined|Infinity/)
  })
})
