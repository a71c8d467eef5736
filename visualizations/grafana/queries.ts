import { METRICS } from '../../src/telemetry/names.ts'
import type { MetricKey } from '../../src/telemetry/names.ts'

/** Labels that a scrape or a query adds to those of the table. */
const ADDED = ['instance', 'job', 'le']

/** What the variables of the dashboard choose. */
const CHOSEN: Readonly<Record<string, string>> = {
  instance: 'instance=~"$instance"',
  target: 'target=~"$target"',
}

type Series = '' | '_bucket' | '_sum' | '_count'

/**
 * A metric of the table with what the variables choose and `matchers`.
 *
 * @throws Error for a label that the metric does not have: a query for it would be silently empty
 */
export function metric(
  key: MetricKey,
  matchers: Readonly<Record<string, string>> = {},
  series: Series = '',
): string {
  const { name } = METRICS[key]
  const labels: readonly string[] = [...METRICS[key].labels, ...ADDED]
  const unknown = Object.keys(matchers).filter((label) => !labels.includes(label))
  if (unknown.length > 0) throw new Error(`${name} has no label ${unknown.join(', ')}.`)
  const chosen = Object.entries(CHOSEN).flatMap(([label, matcher]) =>
    labels.includes(label) ? [matcher] : [],
  )
  const own = Object.entries(matchers).map(([label, value]) => `${label}=~"${value}"`)
  return `${name}${series}{${[...chosen, ...own].join(',')}}`
}

const RANGE = '[$__rate_interval]'

/** By these labels, a second. */
export const rate = (by: string, key: MetricKey, matchers?: Readonly<Record<string, string>>) =>
  `sum by (${by}) (rate(${metric(key, matchers)}${RANGE}))`

/** By these labels, over the whole range of the dashboard. */
export const over = (by: string, key: MetricKey, matchers?: Readonly<Record<string, string>>) =>
  `sum by (${by}) (increase(${metric(key, matchers)}[$__range]))`

/** Hops from or to the targets that are chosen. */
export const hops = (
  per: 'rate' | 'increase',
  range: string,
  matchers: Readonly<Record<string, string>> = {},
) => {
  const [from, to] = ['from', 'to'].map((end) => metric('fallbacks', { [end]: '$target', ...matchers }))
  return `${per}(${from}[${range}]) or ${per}(${to}[${range}])`
}

/** A quantile of a histogram by target. */
export const quantile = (q: number, key: MetricKey) =>
  `histogram_quantile(${q}, sum by (target, le) (rate(${metric(key, {}, '_bucket')}${RANGE})))`

const CODES = { closed: 0, degraded: 1, 'half-open': 2, open: 3 }

/** The state of each circuit as a number; the worst of several replicas. */
export const stateCode = () => {
  const states = Object.entries(CODES).map(
    ([state, code]) => `${metric('breakerState', { state })} * ${code}`,
  )
  return `max by (target, model) (\n  ${states.join('\n  or ')}\n)`
}

/** When circuits entered one of these states, in ms of the wall clock. */
export const enteredAt = (states: string) =>
  `(${metric('breakerState', { state: states })} == 1) * ignoring (state) group_left () (${metric('breakerSince')} * 1000)`
