import { dashboard } from './dashboard.ts'
import { metricsTable } from './metrics-table.ts'

/** Every generated file, by its path below visualizations/. */
export function grafanaFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['grafana/dashboard.json', `${JSON.stringify(dashboard(), null, 2)}\n`],
    ['grafana/metrics.md', metricsTable()],
  ])
}
