import { pathRows } from './rows-paths.ts'
import { race, warmUp } from './measure.ts'
import { memoryRows } from './memory.ts'
import type { Group, Row } from './row.ts'
import { holds, json, table } from './row.ts'
import { callClosed, callWithSignal } from './rows-call.ts'
import { executeConsecutive, executeRolling } from './rows-execute.ts'
import { refusal } from './rows-refusal.ts'
import { virtualRows } from './rows-virtual.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)

/** A row stands for a program that does just this: its subjects are warmed up, raced, and closed before the next row's. */
async function timeRows(groups: readonly (() => Group | Promise<Group>)[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const open of groups) {
    const { title, subjects, rows: read, close } = await open()
    say(title)
    for (let pass = 0; pass < 2; pass++) for (const subject of subjects) await warmUp(subject)
    rows.push(...read(await race(subjects)))
    await close()
  }
  return rows
}

async function main(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc, as npm run bench does.')
  say(`node ${process.version}`)
  const rows = await timeRows([executeConsecutive, executeRolling, callClosed, callWithSignal, refusal])
  say('memory')
  rows.push(...(await memoryRows()))
  say('paths')
  rows.push(...pathRows())
  say('virtual time')
  rows.push(...(await virtualRows()))
  const output = process.argv.includes('--json') ? json(rows) : table(rows)
  process.stdout.write(`${output}\n`)
  if (!rows.every(holds)) process.exitCode = 1
}

await main()
