import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartFiles } from './chart-files.ts'

const folder = join(import.meta.dirname, 'charts')
const files = await chartFiles()

mkdirSync(folder, { recursive: true })
const present = readdirSync(folder)
const superfluous = present.filter((name) => !files.has(name))
const changed = [...files].flatMap(([name, text]) =>
  present.includes(name) && readFileSync(join(folder, name), 'utf8') === text ? [] : [name],
)

if (process.argv.includes('--check')) {
  for (const name of [...changed, ...superfluous]) console.error(`visualizations/charts/${name} has drifted.`)
  if (changed.length + superfluous.length > 0) {
    console.error('Run `npm run charts` and commit what it writes.')
    process.exitCode = 1
  }
} else {
  for (const name of changed) writeFileSync(join(folder, name), files.get(name) ?? '')
  for (const name of superfluous) rmSync(join(folder, name), { recursive: true })
  console.log(`visualizations/charts/: ${files.size} files, ${changed.length + superfluous.length} changed`)
}
