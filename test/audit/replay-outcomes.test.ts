import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OutcomeReplay } from '../../src/audit/replay/outcome-replay.ts'
import type { CircuitReport } from '../../src/audit/replay/outcome-replay.ts'
import { outcomeHtml } from '../../src/audit/replay/outcome-html.ts'
import { outcomeText } from '../../src/audit/replay/outcome-text.ts'
import { judgement } from '../../src/audit/replay/outcome-verdict.ts'
import { readOutcomes } from '../../src/audit/replay/read-outcomes.ts'
import { recordedRules } from '../../src/audit/replay/recorded-rules.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults } from '../../src/core/presets.ts'
import { isOutcome } from '../../src/stores/outcome-row.ts'
import type { RecordedRow } from '../../src/stores/outcome-row.ts'
import { OutcomeSampler } from '../../src/stores/outcome-sampler.ts'
import { asText, recordedRows } from './recorded.ts'
import { runReplay } from './run-replay.ts'

const outage = (call: number) => (call >= 200 && call < 260 ? 1 : 0)
const rules: CircuitBreakerOptions = { threshold: 3, cooldownMs: 20_000 }

function replayed(
  text: string,
  policies: Readonly<Record<string, CircuitBreakerOptions>>,
  seeds = 3,
): CircuitReport {
  const contenders = Object.entries(policies).map(([name, options]) => ({
    name,
    rules: resolveBreaker(options),
  }))
  const replay = new OutcomeReplay({
    recording: readOutcomes([['r.jsonl', text]]),
    contenders: () => contenders,
    seeds,
  })
  while (replay.step());
  return replay.report()!.circuits[0]!
}

const means = (report: CircuitReport, policy: number, assumption: 'best' | 'worst') =>
  Object.fromEntries(
    Object.entries(report.policies[policy]!.results[assumption].numbers).map(([key, { mean }]) => [
      key,
      mean,
    ]),
  )

describe('a replay of recorded outcomes', () => {
  const text = asText(recordedRows(rules, { ratio: outage }))

  it('under the rules of the recording is what was recorded', () => {
    const report = replayed(text, { same: rules })
    for (const assumption of ['best', 'worst'] as const) {
      const { answered, failed, refused, openings, openMs, assumed } = means(report, 0, assumption)
      expect({ answered, failed, refused, openings, openMs }).toEqual({
        answered: report.recorded.answered,
        failed: report.recorded.failed,
        refused: report.recorded.refused,
        openings: report.recorded.openings,
        openMs: report.recorded.openMs,
      })
      expect(assumed).toBe(0)
    }
  })

  it('lets no control character of the recording reach the terminal', () => {
    const report = replayed(text, { same: rules })
    const circuit = { ...report.circuit, name: 'a\u001B]0;x\u0007\nb' }
    const policies = report.policies.map((policy) => ({ ...policy, name: 's\u202Eame' }))
    const told = outcomeText({
      circuits: [{ ...report, circuit, policies }],
      seeds: 3,
      sample: 1,
      unreadable: 0,
    })
    expect(told).toContain('a\uFFFD]0;x\uFFFD\uFFFDb: ')
    expect(told).not.toMatch(/[^\P{Cc}\n]|\u202E|^b/mu)
  })

  it('tells the best and the worst case apart where calls are sent that were refused then', () => {
    const report = replayed(text, { never: { threshold: Infinity } })
    const [best, worst] = [means(report, 0, 'best'), means(report, 0, 'worst')]
    expect(best['assumed']).toBe(report.recorded.refused)
    expect(best['answered']).toBe(report.recorded.answered + report.recorded.refused)
    expect(worst['failed']).toBe(report.recorded.failed + report.recorded.refused)
    expect(best['refused']).toBe(0)
    expect(outcomeText({ circuits: [report], seeds: 3, sample: 1, unreadable: 0 })).toMatch(
      /\d+ of them were refused: what they would have met is unknown\. Best case: all would have been answered\./,
    )
  })

  it('says that nothing was assumed where nothing was refused', () => {
    const report = replayed(asText(recordedRows({ threshold: Infinity }, { ratio: outage })), {
      strict: { threshold: 2 },
    })
    const told = outcomeText({ circuits: [report], seeds: 3, sample: 1, unreadable: 0 })
    expect(told).toContain('None was refused when they were recorded: nothing has to be assumed.')
    expect(told).not.toContain('worst case')
    expect(report.policies[0]!.results.best.numbers).toEqual(report.policies[0]!.results.worst.numbers)
  })

  it('counts what was refused in vain', () => {
    const report = replayed(asText(recordedRows({ threshold: Infinity }, { ratio: outage })), {
      long: { threshold: 2, cooldownMs: 100_000 },
    })
    // open from call 201 on for 100 s, of which the last 40 are no outage any more
    const { refused, refusedInVain, failed } = means(report, 0, 'best')
    expect(failed).toBe(2)
    expect(refused).toBeGreaterThan(95)
    expect(refusedInVain).toBe(refused! - 58)
  })

  describe('judges', () => {
    const judged = (policies: Readonly<Record<string, CircuitBreakerOptions>>) =>
      judgement(replayed(text, policies))
    const [strict, lax]: CircuitBreakerOptions[] = [
      { threshold: 3, cooldownMs: 500_000 },
      { threshold: Infinity },
    ]

    it('refused calls that would have been answered as gone wrong in the best case', () => {
      const report = replayed(text, { strict: strict!, lax: lax! })
      const { refusedUnknown } = means(report, 0, 'best')
      expect(refusedUnknown).toBe(report.recorded.refused)
      const [best, worst, whole] = judgement(report)
      expect(best).toMatch(/^In the best case lax has the fewest calls that went wrong: 5 \(5 failed/)
      expect(worst).toMatch(/^In the worst case lax has the fewest calls that went wrong/)
      expect(whole).toMatch(/^So lax has the fewest calls that went wrong, whatever/)
    })

    it('that nothing is decided where it depends on the unknown', () => {
      const [best, worst, whole] = judged({ strict: { threshold: 3, cooldownMs: 30_000 }, lax: lax! })
      expect(best).toMatch(/^In the best case lax/)
      expect(worst).toMatch(/^In the worst case strict/)
      expect(whole).toMatch(/^So the recording does not say which/)
    })

    it('a tie as a tie', () => {
      const [best, worst, whole] = judged({ one: rules, two: rules })
      expect(best).toMatch(
        /^In the best case one and two have equally many calls that went wrong: \d+ each\./,
      )
      expect(worst).toMatch(/^In the worst case one and two have equally many/)
      expect(whole).toBe(
        'So one and two serve equally well by that, whatever the refused calls would have met.',
      )
    })

    it('one policy alone as the best of nothing', () => {
      expect(judged({ one: rules }).join(' ')).not.toMatch(/fewest|best\b(?! case)/)
    })
  })

  it('draws what was recorded of every circuit, also of one that never changed', () => {
    const quiet = replayed(asText(recordedRows(rules, { ratio: () => 0 })), { same: rules })
    const lanes = (report: CircuitReport) =>
      outcomeHtml({ circuits: [report], seeds: 3, sample: 1, unreadable: 0 }).split('<svg')[1]!
    const bands = lanes(quiet).match(/as recorded/g)!.length
    expect(bands).toBe(lanes(replayed(text, { same: rules })).match(/as recorded/g)!.length)
  })

  it('spreads over the seeds only where chance decides', () => {
    const report = replayed(text, { plain: rules, jitter: llmDefaults }, 8)
    const [plain, jitter] = report.policies.map(({ results }) => results.worst.numbers.openMs)
    expect(plain!.low).toBe(plain!.high)
    expect(jitter!.low).toBeLessThan(jitter!.high)
  })

  it('knows the rules that were in force', () => {
    const circuit = readOutcomes([['r', text]]).circuits.get('openai')!
    expect(recordedRules(circuit)!.policy).toEqual(resolveBreaker(rules).policy)
    const infinite = asText(recordedRows(llmDefaults, { ratio: outage }))
    expect(recordedRules(readOutcomes([['r', infinite]]).circuits.get('openai')!)!.policy).toEqual(
      resolveBreaker(llmDefaults).policy,
    )
  })

  it('of a sample tells nearly what that of the whole tells', () => {
    const rows = recordedRows(
      { threshold: Infinity },
      { ratio: (call) => (outage(call) === 1 ? 0.6 : 0.02), calls: 2000 },
    )
    const sampler = new OutcomeSampler(0.1)
    const sampled = rows.flatMap((row): readonly RecordedRow[] =>
      isOutcome(row) ? sampler.rowsFor(row) : [row],
    )
    const policies = {
      rolling: { tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 10, failureRatio: 0.5 } },
    } as const
    const whole = replayed(asText(rows), policies)
    const part = replayed(asText([...sampled, ...sampler.rest()]), policies)
    expect(sampled.length).toBeLessThan(rows.length / 3)
    expect(part.calls).toBe(whole.calls)
    expect(part.recorded).toEqual(whole.recorded)
    expect(means(part, 0, 'best')['openings']).toBe(means(whole, 0, 'best')['openings'])
  })
})

describe('a recording', () => {
  const good = '{"at":1,"target":"a","outcome":"success","ms":5}'

  it('leaves out a line that was cut off, and says so', () => {
    const { unreadable, circuits } = readOutcomes([['r', `${good}\n{"at":2,"target":"a","outc`]])
    expect(unreadable).toBe(1)
    expect(circuits.get('a')!.rows).toHaveLength(1)
  })

  it('leaves out rows that are none, and names the first of them', () => {
    const bad = '{"at":2,"target":"a","outcome":"success","n":1e9}'
    const { unreadable, firstUnreadable, circuits } = readOutcomes([
      ['1', good],
      ['2', `\uFEFF${good}\n${bad}\n{"at":1,"circuit":"a","rules":[]}`],
    ])
    expect([unreadable, circuits.get('a')!.rows.length]).toEqual([2, 2])
    expect(firstUnreadable).toBe('2:2 n is 1000000000. It must be a whole number from 1 to 1000000.')
  })

  it('tells of lines that were left out', () => {
    const text = `${asText(recordedRows(rules, { ratio: outage }))}\n[]`
    const replay = new OutcomeReplay({
      recording: readOutcomes([['r', text]]),
      contenders: () => [{ name: 'same', rules: resolveBreaker(rules) }],
      seeds: 1,
    })
    while (replay.step());
    expect(outcomeText(replay.report()!)).toMatch(
      /1 line could not be read and is left out\. The first: r:\d+ This is no JSON object/,
    )
  })

  it('is put in order of admission, over all of its files, by circuit', () => {
    const other =
      '{"at":0,"target":"a","outcome":"failure","kind":"timeout","ms":60000}\n{"at":3,"target":"a","circuit":"a/m","outcome":"refused"}'
    const { circuits } = readOutcomes([
      ['1', good],
      ['2', other],
    ])
    expect(circuits.get('a')!.rows.map(({ at }) => at)).toEqual([0, 1])
    expect(circuits.get('a/m')!.rows).toHaveLength(1)
  })

  it.each([
    ['{"at":"x","target":"a","outcome":"success"}', 'r:1 at is a text. It must be ms since 1970.'],
    ['{"at":1,"target":"a","outcome":"fine"}', "r:1 outcome is 'fine'. It must be one of: success"],
    ['{"at":1,"target":"a","outcome":"success","ms":-1}', 'r:1 ms is -1. It must be a number'],
    ['{"hello":1}', 'r:1 This is no row of a recording.'],
    ['', 'r: There is no outcome in this recording.'],
    ['{"at":1,"target":5,"outcome":"success"}', 'r:1 target is 5. It must be a text.'],
    ['{"at":1,"target":"a","circuit":{},"outcome":"success"}', 'r:1 circuit is a map.'],
    ['{"at":1,"target":"a","outcome":"success","n":1e9}', 'r:1 n is 1000000000. It must be a whole number'],
    ['{"at":1,"target":"a","outcome":"success","n":0}', 'r:1 n is 0.'],
    ['{"at":1,"target":"a","outcome":"success","ms":1e13}', 'r:1 ms is 10000000000000.'],
    ['{"at":8e15,"target":"a","outcome":"success"}', 'r:1 at is 8000000000000000.'],
    ['{"at":1,"circuit":"a","rules":"none"}', 'r:1 rules is a text. It must be a map.'],
    ['{"at":null,"circuit":"a","from":"closed","to":"open","why":"x"}', 'r:1 at is null.'],
    ['{"outcomes":99,"at":1,"sample":1}', 'r:1 This recording is of version 99. Only version 1 can be read.'],
  ])('that is none is refused: %s', (text, message) => {
    expect(() => readOutcomes([['r', text]])).toThrow(message)
  })
})

describe('switchgear replay --outcomes', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outcomes-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
    process.exitCode = undefined
  })

  it('compares the rules then with the presets, over all files of the recording', async () => {
    const file = join(dir, 'outcomes.jsonl')
    const rows = recordedRows(rules, { ratio: outage })
    writeFileSync(join(dir, 'outcomes.20240506T000500Z.jsonl'), asText(rows.slice(0, 300)))
    writeFileSync(file, asText(rows.slice(300)))
    const page = join(dir, 'page.html')
    const told = JSON.parse(
      await runReplay('--outcomes', file, '--seeds', '2', '--json', '--html', page),
    ) as {
      circuits: { calls: number; policies: { name: string }[] }[]
    }
    expect(told.circuits[0]!.calls).toBe(600)
    expect(told.circuits[0]!.policies.map(({ name }) => name)).toEqual([
      'rules then',
      'llmDefaults',
      'toolDefaults',
      'plain default',
    ])
    expect(readFileSync(page, 'utf8')).not.toMatch(/https?:|<script|NaN|undefined|Infinity/)
  })

  it('plays one circuit, and names those there are', async () => {
    const file = join(dir, 'o.jsonl')
    const rows = [
      ...recordedRows(rules, { ratio: outage }),
      ...recordedRows(rules, { circuit: 'azure', ratio: () => 0 }),
    ]
    writeFileSync(file, asText(rows))
    const told = await runReplay(
      '--outcomes',
      file,
      '--target',
      'azure',
      '--policy',
      'default',
      '--seeds',
      '1',
    )
    expect(told).toContain('azure: 600 calls')
    expect(told).not.toContain('openai')
    await expect(runReplay('--outcomes', file, '--target', 'azur')).rejects.toThrow(
      "no circuit 'azur'. Did you mean 'azure'?",
    )
  })

  it('gives the rules of each target of a configuration to its own circuit', async () => {
    const file = join(dir, 'o.jsonl')
    const config = join(dir, 'gateway.yaml')
    const rows = [
      ...recordedRows(rules, { ratio: outage }),
      ...recordedRows(rules, { circuit: 'azure', ratio: () => 0 }),
    ]
    writeFileSync(file, asText(rows))
    writeFileSync(
      config,
      'targets:\n  - {name: openai, baseUrl: https://a.example, circuitBreaker: {threshold: 7}}\n  - {name: azure, baseUrl: https://b.example, circuitBreaker: {threshold: 8}}\n',
    )
    const told = JSON.parse(
      await runReplay('--outcomes', file, '--policy', config, '--json', '--seeds', '1'),
    ) as {
      circuits: { circuit: string; policies: { opensAt: string }[] }[]
    }
    expect(told.circuits.map(({ circuit, policies }) => [circuit, policies[0]!.opensAt])).toEqual([
      ['openai', '7 failures in a row'],
      ['azure', '8 failures in a row'],
    ])
  })

  it('plays a thousand seeds at most', async () => {
    await expect(runReplay('--outcomes', 'a', '--seeds', '1001')).rejects.toThrow('from 1 to 1000')
  })

  it('never prints the words of a file that holds no rules', async () => {
    const [file, policy] = [join(dir, 'o.jsonl'), join(dir, '.env')]
    writeFileSync(file, asText(recordedRows(rules, { ratio: outage })))
    for (const text of ['OPENAI_API_KEY=sk-words', '- sk-words', 'circuitBreaker: sk-words']) {
      writeFileSync(policy, text)
      const fault = await runReplay('--outcomes', file, '--policy', policy).catch(
        (error: Error) => error.message,
      )
      expect(fault).toMatch(/\.env:1 .*This is a (text|list)\. It must be a map/)
      expect(fault).not.toContain('sk-words')
    }
  })

  it('replays one thing at a time', async () => {
    await expect(runReplay('--outcomes', 'a', '--journal', 'b')).rejects.toThrow('replay one thing at a time')
  })
})
