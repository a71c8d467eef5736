import { forPeople } from '../src/audit/chart-model.ts'
import { charts, drawChart, modelOf } from '../src/audit/charts.ts'
import { toMermaid } from '../src/audit/mermaid.ts'
import { toCsv, toMarkdown } from '../src/audit/transition-table.ts'

/** Every generated file, by its name. */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const chart of charts) {
    const model = modelOf(chart)
    const { id } = model
    files.set(`${id}.svg`, await drawChart(chart))
    files.set(`${id}.mmd`, toMermaid(forPeople(model)))
    files.set(`${id}.md`, toMarkdown(model, chart.numbers))
    files.set(`${id}.csv`, toCsv(model))
    files.set(`${id}.json`, `${JSON.stringify(chart.machine.config, null, 2)}\n`)
  }
  return files
}
