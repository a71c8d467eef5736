import type { BreakerAdapter } from './adapter.ts'
import type { ConformanceResult } from './conformance.ts'

/** What came of asking one breaker. */
export interface ConformanceRun {
  readonly adapter: Pick<BreakerAdapter, 'name' | 'version'>
  readonly results: readonly ConformanceResult[]
}

/** `✓ 3/3` and `✗ 1/3` = survived of what could be asked; `–` = nothing could. */
function cell(results: readonly ConformanceResult[]): string {
  const asked = results.filter(({ verdict }) => verdict !== 'cannot be asked')
  if (asked.length === 0) return '–'
  const survived = asked.filter(({ verdict }) => verdict === 'survives').length
  return `${survived === asked.length ? '✓' : '✗'} ${survived}/${asked.length}`
}

/** Breakers side by side as a Markdown table, a row a group. */
export function conformanceTable(runs: readonly ConformanceRun[]): string {
  const groups = new Set(runs.flatMap(({ results }) => results.map(({ group }) => group)))
  const rows = [
    ['survives', ...runs.map(({ adapter: { name, version = '' } }) => `${name} ${version}`.trim())],
    ['---', ...runs.map(() => '---')],
    ...[...groups].map((group) => [
      group,
      ...runs.map(({ results }) => cell(results.filter((result) => result.group === group))),
    ]),
  ]
  return rows.map((row) => `| ${row.join(' | ')} |\n`).join('')
}
