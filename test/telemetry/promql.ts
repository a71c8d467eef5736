import { failureTable } from '../../src/classify/failure-table.ts'
import { CallStats } from '../../src/core/stats.ts'
import { METRICS } from '../../src/telemetry/names.ts'

const known = new Map(Object.values(METRICS).map((metric) => [metric.name as string, metric]))

/** What a scrape adds, and what a histogram has besides. */
const ADDED = new Set(['instance', 'job', 'le', '__name__'])

const STATES = ['closed', 'degraded', 'open', 'half-open']
const RESULTS = Object.keys(new CallStats()).map((result) => (result === 'outOfTime' ? 'deadline' : result))

/** The words that a label of a metric can have; a label that is not listed can have any. */
function wordsOf(name: string, label: string): readonly string[] | undefined {
  if (label === 'state' || label === 'from' || label === 'to')
    return name === METRICS.fallbacks.name ? undefined : STATES
  if (label === 'outcome') return ['success', 'failure', 'neutral']
  if (label === 'kind') return Object.keys(failureTable)
  if (label === 'result' && name === METRICS.requests.name) return RESULTS
  if (label === 'result' && name === METRICS.fallbacks.name)
    return ['success', 'failure', 'neutral', 'refused']
  if (label === 'result') return ['delivered', 'dropped']
  if (label === 'reason' && name !== METRICS.breakerTransitions.name) return ['open', 'half-open', 'held']
  return undefined
}

/** Why a query would find nothing: names, labels and words that do not exist. Strings are not code. */
export function faultsIn(query: string): string[] {
  const faults: string[] = []
  const labels = new Set(ADDED)
  for (const [, written = '', matchers = ''] of query.matchAll(/\b(switchgear_[a-z_]+)(?:\{([^}]*)\})?/g)) {
    const name = known.has(written) ? written : written.replace(/_(bucket|sum|count)$/, '')
    const metric = known.get(name)
    if (metric === undefined) {
      faults.push(`there is no metric ${written}`)
      continue
    }
    if (name !== written && metric.type !== 'histogram') faults.push(`${name} is no histogram`)
    for (const label of metric.labels) labels.add(label)
    for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)\s*[!=]~?\s*"([^"]*)"/g)) {
      const own: readonly string[] = metric.labels
      if (!own.includes(label) && !ADDED.has(label)) faults.push(`${name} has no label ${label}`)
      const words = wordsOf(name, label)
      const wrong = value.startsWith('$')
        ? []
        : value.split('|').filter((word) => words?.includes(word) === false)
      if (wrong.length > 0) faults.push(`${name}{${label}} is never ${wrong.join(', ')}`)
    }
  }
  for (const [, list = ''] of query.matchAll(/\b(?:by|without|ignoring|on)\s*\(([^)]*)\)/g))
    for (const label of list.split(',').map((word) => word.trim()))
      if (label !== '' && !labels.has(label)) faults.push(`nothing here has a label ${label}`)
  return faults
}

/** Labels that a text fills in and that none of the metrics of a query has. */
export function unknownLabels(text: string, query: string): string[] {
  const used = [...text.matchAll(/\{\{\s*(?:with\s+)?(?:\$labels\.)?(\w+)\s*\}\}/g)].flatMap(
    ([, label = '']) => (['end', 'value'].includes(label) ? [] : [label]),
  )
  const names = [...query.matchAll(/\bswitchgear_[a-z_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  )
  const labels = new Set([...ADDED, ...names.flatMap((name) => known.get(name)?.labels ?? [])])
  return used.filter((label) => !labels.has(label))
}
