import { race, warmUp } from './measure.ts'
import { memoryRows } from './memory.ts'
import type { Group, Row } from './row.ts'
import { holds, json, table } from './row.ts'
import { callClosed, callWithSignal } from './rows-call.ts'
import { executeConsecutive, executeRolling } from './rows-execute.ts'
import { refusal } from './rows-refusal.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)

/** Every subject is warm before any is measured, so that no row profits from being the first. */
async function timeRows(groups: readonly Group[]): Promise<Row[]> {
  say('warming up')
  for (let pass = 0; pass < 2; pass++) {
    for (const { subjects } of groups) for (const subject of subjects) await warmUp(subject)
  }
  const rows: Row[] = []
  for (const { title, subjects, rows: read } of groups) {
    say(title)
    rows.push(...read(await race(subjects)))
  }
  return rows
}

async function main(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc, as npm run bench does.')
  say(`node ${process.version}`)
  const groups = [await executeConsecutive(), executeRolling(), callClosed(), callWithSignal(), await refusal()]
  const rows = await timeRows(groups)
  for (const { close } of groups) await close()
  say('memory')
  rows.push(...(await memoryRows()))
  const output = process.argv.includes('--json') ? json(rows) : table(rows)
  process.stdout.write(`${output}\n`)
  if (!rows.every(holds)) process.exitCode = 1
}

await main()
