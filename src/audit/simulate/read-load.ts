import { didYouMean } from '../../core/validate.ts'
import { namesOf } from '../../testing/scenario/call-shape.ts'
import { checkSwitchgearOptions } from '../../testing/scenario/options-taken.ts'
import * as is from '../../testing/scenario/shape.ts'
import type { Check } from '../../testing/scenario/shape.ts'
import { YamlSource } from '../../testing/scenario/yaml-source.ts'
import type { Price } from '../replay/numbers.ts'
import type { Answer, Fault, LatencyModel, Load, Provider, TrafficModel } from './load.ts'
import { parseSpan } from './span.ts'

type Bag = Readonly<Record<string, unknown>>

/** What a load file reads from elsewhere. */
export interface LoadSources {
  /** The trace that `traffic.trace` names. */
  readonly trace: (file: string) => NonNullable<TrafficModel['trace']>
  /** Options of a switchgear that stand for those in the file. */
  readonly switchgear?: Load['switchgear'] | undefined
}

// times stay such that a date can tell them
const LONGEST_MS = 36_500 * 86_400_000
const MOST_CALLS = 200_000_000
// moments at which a call might come, as often as at the highest rate: far cheaper than calls, yet not free
const MOST_MOMENTS = 1_000_000_000
const MOST_PARTS = 100_000

const span: Check = (value, path, source) => {
  if ((parseSpan(value) ?? Infinity) > LONGEST_MS)
    source.fault(
      path,
      `This is ${is.show(value)}.`,
      'It must be a duration, such as 90s, 15m, 6h or 2d, of at most 36500d.',
    )
}
const number =
  (least: number, most = Infinity): Check =>
  (value, path, source) => {
    if (typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most) return
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
    source.fault(path, `This is ${is.show(value)}.`, `It must be a number ${range}.`)
  }
const share = number(0, 1)

const ANSWERS = ['status', 'error', 'hang', 'empty', 'cut', 'stall']

const answer: Check = (value, path, source) => {
  const known = {
    status: is.errorStatus,
    error: is.text,
    hang: is.yes,
    empty: is.yes,
    cut: share,
    stall: share,
  }
  is.fields({ ...known, headers: is.map(is.code), body: is.anything })(value, path, source)
  is.onlyOne(value, ANSWERS, path, source)
}

const latency: Check = (value, path, source) => {
  if (!is.isBag(value)) return span(value, path, source)
  const byTokens = 'perToken' in value || 'answer' in value
  const fields = byTokens ? { answer: span, perToken: span } : { median: span, p95: span }
  is.fields(fields, Object.keys(fields))(value, path, source)
}

const price = is.fields({ input: number(0), output: number(0) }, ['input', 'output'])

const some: Check = (value, path, source) => {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > MOST_PARTS)
    source.fault(
      path,
      `This is ${is.show(value)}.`,
      `It must be a whole number of at least 1 and at most ${MOST_PARTS}.`,
    )
}

const provider = is.fields({
  latency,
  stream: is.fields({ parts: some, every: span }),
  failures: share,
  failure: answer,
  failureLatency: span,
  price,
  faults: is.list(
    is.fields({ at: span, for: span, ratio: share, answer, latency: span, slow: number(1) }, ['at', 'for']),
  ),
})

const load = is.fields(
  {
    kind: is.word(['load']),
    name: is.text,
    duration: span,
    seed: is.count,
    traffic: is.fields({
      rate: number(0),
      arrivals: is.word(['poisson', 'even']),
      daily: is.fields({ low: share, peakAt: span }, ['low']),
      bursts: is.list(is.fields({ at: span, for: span, rate: number(0) }, ['at', 'for', 'rate'])),
      trace: is.text,
      stream: is.flag,
      tokens: is.fields({ input: number(0), output: number(0) }),
    }),
    switchgear: is.map(is.anything),
    providers: is.map(provider),
  },
  ['duration', 'traffic'],
)

/**
 * Reads a load.
 *
 * @throws ConfigError with every fault as `file:line path: what is wrong, what would be right`
 */
export function readLoad(text: string, file: string, sources: LoadSources): Load {
  const source = new YamlSource(text, file)
  load(source.value, [], source)
  source.throwFaults()
  const raw = source.value as Bag
  const switchgear = sources.switchgear ?? raw['switchgear']
  const names = checkTargets(switchgear, raw, source)
  if ((raw['traffic'] as Bag)['stream'] !== true) checkNoStreams(raw, source)
  source.throwFaults()
  if (sources.switchgear === undefined) checkSwitchgearOptions(switchgear, ['switchgear'], source)
  source.throwFaults()
  const providers = (raw['providers'] ?? {}) as Readonly<Record<string, Bag>>
  const durationMs = spanOf(raw['duration'])
  const traffic = trafficOf(raw['traffic'] as Bag, sources)
  checkSize(traffic, durationMs, source)
  source.throwFaults()
  return {
    name: (raw['name'] as string | undefined) ?? file,
    durationMs,
    seed: (raw['seed'] as number | undefined) ?? 1,
    traffic,
    switchgear: switchgear as Load['switchgear'],
    providers: new Map(
      names.map((name) => [name, providerOf(Object.hasOwn(providers, name) ? providers[name]! : {})]),
    ),
  }
}

function checkTargets(switchgear: unknown, raw: Bag, source: YamlSource): readonly string[] {
  const targets = is.isBag(switchgear) ? switchgear['targets'] : undefined
  if (!Array.isArray(targets) || targets.length === 0) {
    source.fault(['switchgear'], 'There is no target.', 'Give switchgear: {targets: [{name: …}]}.')
    return []
  }
  const names = namesOf(targets)
  for (const name of Object.keys((raw['providers'] ?? {}) as Bag)) {
    if (!names.includes(name))
      source.fault(['providers', name], `There is no target '${name}'.`, didYouMean(name, names))
  }
  const traffic = raw['traffic'] as Bag
  is.onlyOne(traffic, ['rate', 'trace'], ['traffic'], source)
  if (!('rate' in traffic) && !('trace' in traffic))
    source.fault(['traffic'], 'Nobody calls.', 'Give a rate (calls a second) or a trace (a CSV file).')
  return names
}

/** Refuses what would play for longer than anybody waits. */
function checkSize({ rate, bursts, trace }: TrafficModel, durationMs: number, source: YamlSource): void {
  const shares: {
    readonly path: readonly (string | number)[]
    readonly calls: number
    readonly rate: number
  }[] = [
    trace === undefined
      ? { path: ['rate'], calls: (rate * durationMs) / 1000, rate }
      : { path: ['trace'], calls: (trace.calls.length * durationMs) / trace.periodMs, rate: 0 },
    ...bursts.map(({ fromAt, toAt, rate }, i) => ({
      path: ['bursts', i, 'rate'],
      calls: (rate * Math.max(0, Math.min(toAt, durationMs) - fromAt)) / 1000,
      rate,
    })),
  ]
  const calls = shares.reduce((sum, share) => sum + share.calls, 0)
  const largest = shares.reduce((most, share) => (share.calls > most.calls ? share : most))
  if (calls > MOST_CALLS) {
    const hint = 'A load may have 200 million: give a lower rate or a shorter time.'
    return source.fault(['traffic', ...largest.path], `This makes ${Math.round(calls)} calls.`, hint)
  }
  const fastest = shares.reduce((most, share) => (share.rate > most.rate ? share : most))
  const highest = Math.floor((MOST_MOMENTS * 1000) / durationMs)
  // a trace comes without a rate, whatever the bursts beside it say
  if (trace === undefined && fastest.rate > highest) {
    const hint = `In a load this long no rate may be above ${highest} calls a second.`
    source.fault(['traffic', ...fastest.path], `This is ${fastest.rate}.`, hint)
  }
}

/** What only streams can do is a mistake where nobody reads one. */
function checkNoStreams(raw: Bag, source: YamlSource): void {
  const refuse = (bag: unknown, keys: readonly string[], path: readonly (string | number)[]) => {
    for (const key of keys) {
      if (is.isBag(bag) && key in bag)
        source.fault([...path, key], 'Nobody reads a stream.', 'Give traffic: {stream: true}.')
    }
  }
  for (const [name, provider] of Object.entries((raw['providers'] ?? {}) as Readonly<Record<string, Bag>>)) {
    const path = ['providers', name]
    refuse(provider, ['stream'], path)
    refuse(provider['failure'], ['cut', 'stall'], [...path, 'failure'])
    const faults = (provider['faults'] ?? []) as readonly Bag[]
    faults.forEach((fault, i) => refuse(fault['answer'], ['cut', 'stall'], [...path, 'faults', i, 'answer']))
  }
}

const spanOf = (value: unknown, standard = 0): number => parseSpan(value) ?? standard

function trafficOf(raw: Bag, sources: LoadSources): TrafficModel {
  const { rate = 0, arrivals = 'poisson', daily, bursts = [], trace, tokens = {} } = raw
  const { input = 1000, output = 200 } = tokens as { input?: number; output?: number }
  const shape = daily as { low: number; peakAt?: unknown } | undefined
  return {
    rate: rate as number,
    arrivals: arrivals as TrafficModel['arrivals'],
    daily: shape && { low: shape.low, peakAt: spanOf(shape.peakAt, 14 * 3_600_000) },
    bursts: (bursts as Bag[]).map((burst) => ({ ...periodOf(burst), rate: burst['rate'] as number })),
    trace: trace === undefined ? undefined : sources.trace(trace as string),
    stream: raw['stream'] === true,
    tokens: { input, output },
  }
}

function periodOf(raw: Bag): { readonly fromAt: number; readonly toAt: number } {
  const fromAt = spanOf(raw['at'])
  return { fromAt, toAt: fromAt + spanOf(raw['for']) }
}

const UNAVAILABLE: Answer = { status: 503, body: { error: { message: 'unavailable' } } }

function providerOf(raw: Bag): Provider {
  const failure = (raw['failure'] as Answer | undefined) ?? UNAVAILABLE
  const failureMs = spanOf(raw['failureLatency'], 200)
  const { parts = 10, every } = (raw['stream'] ?? {}) as { readonly parts?: number; readonly every?: unknown }
  return {
    latency: latencyOf(raw['latency'] ?? 500),
    stream: { parts, everyMs: parseSpan(every) },
    failures: (raw['failures'] as number | undefined) ?? 0,
    failure,
    failureMs,
    faults: ((raw['faults'] ?? []) as Bag[]).map((fault) => faultOf(fault, failure, failureMs)),
    price: raw['price'] as Price | undefined,
  }
}

function faultOf(raw: Bag, failure: Answer, failureMs: number): Fault {
  const slow = (raw['slow'] as number | undefined) ?? 1
  // who only writes that it is slow means that nothing fails
  const ratio = (raw['ratio'] as number | undefined) ?? ('slow' in raw && !('answer' in raw) ? 0 : 1)
  const answer = (raw['answer'] as Answer | undefined) ?? failure
  return { ...periodOf(raw), ratio, answer, latencyMs: spanOf(raw['latency'], failureMs), slow }
}

function latencyOf(raw: unknown): LatencyModel {
  if (!is.isBag(raw)) return { kind: 'fixed', ms: spanOf(raw) }
  if ('perToken' in raw)
    return { kind: 'tokens', answer: spanOf(raw['answer']), perToken: spanOf(raw['perToken']) }
  return { kind: 'spread', median: spanOf(raw['median']), p95: spanOf(raw['p95']) }
}
