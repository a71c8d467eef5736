import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { presets } from '../../src/audit/replay/contenders.ts'
import type { Contender } from '../../src/audit/replay/contenders.ts'
import { incidentModel } from '../../src/audit/replay/incident-model.ts'
import type { Incident } from '../../src/audit/replay/incident-model.ts'
import { IncidentReplay } from '../../src/audit/replay/incident-replay.ts'
import type { PolicyResult } from '../../src/audit/replay/incident-replay.ts'
import { numbersOfPolicy } from '../../src/audit/replay/numbers.ts'
import { readIncidents } from '../../src/audit/replay/read-incidents.ts'
import { readTrace } from '../../src/audit/replay/read-trace.ts'
import type { Trace } from '../../src/audit/replay/read-trace.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import type { TrippingRuleOption } from '../../src/core/tripping-options.ts'
import { trafficAt } from './traffic-at.ts'

const policy = (name: string, options: CircuitBreakerOptions): Contender => ({
  name,
  rules: resolveBreaker(options),
})

type Tripping = readonly [
  Extract<TrippingRuleOption, { kind: 'leaky' }>,
  Extract<TrippingRuleOption, { kind: 'rolling' }>,
  Extract<TrippingRuleOption, { kind: 'rolling' }>,
]
const [leaky, short, long] = llmDefaults.tripping as Tripping
const half = (rule: typeof short) => ({ ...rule, windowMs: rule.windowMs / 2 })
const double = (rule: typeof short) => ({ ...rule, windowMs: rule.windowMs * 2 })
const llm = (name: string, tripping: Tripping) =>
  policy(`llmDefaults with ${name}`, { ...llmDefaults, tripping })

/** The presets, and what each would be with a number of what opens it a step lower or higher. */
const near: Readonly<Record<string, readonly Contender[]>> = {
  llmDefaults: [
    llm('7 more than successes', [{ ...leaky, threshold: 7 }, short, long]),
    llm('13 more than successes', [{ ...leaky, threshold: 13 }, short, long]),
    llm('60 % of 8', [leaky, { ...short, failureRatio: 0.6 }, long]),
    llm('80 % of 8', [leaky, { ...short, failureRatio: 0.8 }, long]),
    llm('6 calls within two minutes', [leaky, { ...short, minCalls: 6 }, long]),
    llm('10 calls within two minutes', [leaky, { ...short, minCalls: 10 }, long]),
    llm('60 % of 5', [leaky, short, { ...long, failureRatio: 0.6 }]),
    llm('80 % of 5', [leaky, short, { ...long, failureRatio: 0.8 }]),
    llm('4 calls within five minutes', [leaky, short, { ...long, minCalls: 4 }]),
    llm('6 calls within five minutes', [leaky, short, { ...long, minCalls: 6 }]),
    llm('windows half as long', [leaky, half(short), half(long)]),
    llm('windows twice as long', [leaky, double(short), double(long)]),
  ],
  toolDefaults: [
    policy('toolDefaults with 2 in a row', { ...toolDefaults, threshold: 2 }),
    policy('toolDefaults with 4 in a row', { ...toolDefaults, threshold: 4 }),
  ],
}

const inARow = policy('half of 20 calls in a minute, or five in a row', {
  ...llmDefaults,
  tripping: [
    { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 },
    { kind: 'consecutive', threshold: 5 },
  ],
})

/** What every seed came to for the presets, and those near the named ones. */
function played(names: readonly string[], incidents: readonly Incident[], trace: Trace, seeds: number) {
  const contenders = [...presets, inARow, ...names.flatMap((name) => near[name]!)]
  const replay = new IncidentReplay({ incidents, trace, seeds, contenders })
  while (replay.step());
  const { policies, context } = replay.report()!
  const valuesOf = ({ tallies }: PolicyResult, key: string) => {
    const { of } = numbersOfPolicy.find((number) => number.key === key)!
    return tallies.map((tally) => of(tally, context)!)
  }
  return policies.map((each) => ({
    name: each.name,
    detectMs: valuesOf(each, 'detectMs'),
    needless: valuesOf(each, 'needless'),
  }))
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** How far `ours` is above `theirs`, in standard errors of the difference seed by seed; Infinity = for every seed alike. */
function above(ours: readonly number[], theirs: readonly number[]): number {
  const differences = ours.map((value, seed) => value - theirs[seed]!)
  const middle = mean(differences)
  if (middle === 0) return 0
  const squares = differences.map((value) => (value - middle) ** 2)
  return middle / Math.sqrt(mean(squares) / (differences.length - 1))
}

/** Who is better in one number, beyond luck and by more than a hair, and not worse in the other. */
function beaters(name: string, all: ReturnType<typeof played>): string[] {
  const elsewhere = Object.entries(near).flatMap(([preset, others]) =>
    preset === name ? [] : others.map((other) => other.name),
  )
  const ours = all.find((each) => each.name === name)!
  const better = (one: readonly number[], other: readonly number[]) =>
    above(one, other) > 3 && mean(other) < 0.95 * mean(one)
  const asGood = (one: readonly number[], other: readonly number[]) => mean(other) <= 1.01 * mean(one)
  return all
    .filter((each) => !elsewhere.includes(each.name))
    .filter(
      ({ detectMs, needless }) =>
        (better(ours.detectMs, detectMs) && asGood(ours.needless, needless)) ||
        (better(ours.needless, needless) && asGood(ours.detectMs, detectMs)),
    )
    .map((each) => each.name)
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')

describe('time to detect an outage against needless refusals', () => {
  const FIXTURES = join(import.meta.dirname, 'fixtures')
  const incidents = readIncidents(read(FIXTURES, 'month-of-incidents.csv'), 'month-of-incidents.csv')
  const trace = readTrace(read(FIXTURES, 'traffic.csv'), 'traffic.csv', incidentModel)

  it.each([
    ['toolDefaults', 'a call a minute', 1 / 60, 10],
    ['toolDefaults', 'a call in ten seconds', 1 / 10, 4],
    ['llmDefaults', 'two calls a second', 2, 2],
  ])('over a month of incidents none beats %s: %s', (name, _rate, perSecond, seeds) => {
    const all = played([name], incidents, trafficAt(perSecond, trace), seeds)
    expect(beaters(name, all)).toEqual([])
    // they open in lesser incidents, even beside a window
    if (perSecond > 1) expect(beaters(inARow.name, all)).toContain('plain default')
  })
})

const SHARED = join(import.meta.dirname, '../../../shared/data')
const FILES = ['anthropic-api-incidents.csv', 'azure-llm-code-2023.csv'] as const

describe.skipIf(!FILES.every((file) => existsSync(join(SHARED, file))))('over a real year', () => {
  const [incidents, traffic] = FILES
  it.each([
    ['a call a minute', 1 / 60, 8, ['llmDefaults', 'toolDefaults']],
    ['a call in ten seconds', 1 / 10, 4, ['llmDefaults', 'toolDefaults']],
    ['a call a second', 1, 2, ['llmDefaults']],
  ])('none beats the presets: %s', (_rate, perSecond, seeds, names) => {
    const trace = trafficAt(perSecond, readTrace(read(SHARED, traffic), traffic, incidentModel))
    const all = played(names, readIncidents(read(SHARED, incidents), incidents), trace, seeds)
    for (const name of names) expect([name, beaters(name, all)]).toEqual([name, []])
    expect(beaters(inARow.name, all)).not.toEqual([])
  })
})
