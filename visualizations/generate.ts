import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configSchemaText } from '../src/gateway/config/json-schema.ts'
import { chartFiles } from './chart-files.ts'
import { grafanaFiles } from './grafana/grafana-files.ts'

const folder = join(import.meta.dirname, 'charts')
const files = await chartFiles()

mkdirSync(folder, { recursive: true })
const present = readdirSync(folder)
const superfluous = present.filter((name) => !files.has(name))
const changed = [...files].flatMap(([name, text]) =>
  present.includes(name) && readFileSync(join(folder, name), 'utf8') === text ? [] : [name],
)
// read by editors, by Grafana, by people
const others = new Map([['gateway.schema.json', configSchemaText()], ...grafanaFiles()])
const pathOf = (name: string) => join(import.meta.dirname, name)
const drifted = [...others].flatMap(([name, text]) =>
  existsSync(pathOf(name)) && readFileSync(pathOf(name), 'utf8') === text ? [] : [name],
)

if (process.argv.includes('--check')) {
  for (const name of [...changed, ...superfluous]) console.error(`visualizations/charts/${name} has drifted.`)
  for (const name of drifted) console.error(`visualizations/${name} has drifted.`)
  if (changed.length + superfluous.length + drifted.length > 0) {
    console.error('Run `npm run charts` and commit what it writes.')
    process.exitCode = 1
  }
} else {
  for (const name of changed) writeFileSync(join(folder, name), files.get(name) ?? '')
  for (const name of superfluous) rmSync(join(folder, name), { recursive: true })
  for (const name of drifted) writeFileSync(pathOf(name), others.get(name) ?? '')
  console.log(`visualizations/charts/: ${files.size} files, ${changed.length + superfluous.length} changed`)
}
