import { setTimeout as delay } from 'node:timers/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { JournalRow } from '../stores/journal-row.ts'
import type { JournalFilter } from '../stores/journal-store.ts'
import { readJournal } from '../stores/read-only-file.ts'
import type { JournalReader } from '../stores/read-only-file.ts'
import { UnusableFile } from '../stores/unusable-file.ts'
import { CommandFailed, EXIT } from './connection.ts'
import { nothingOf } from './journal-names.ts'
import { parseTime } from './parse-time.ts'

interface ListOptions extends JournalFilter {
  readonly limit: number
  readonly json: boolean
  readonly follow: boolean
}

const DEFAULT_FILE = './switchgear.db'
const POLL_MS = 300

const examples = `
Examples:
  switchgear journal                                 the last 100 rows of ./switchgear.db
  switchgear journal --type transition --since 24h   what opened and closed since yesterday
  switchgear journal --circuit openai --follow       one circuit, as it happens
  switchgear journal --type operator.opened --json   every circuit that was opened by hand
  switchgear journal verify switchgear.db            is every row there, and as it was written?

Exit codes: 0 done, 1 a mistake, or a journal that cannot be read, 4 there is no such circuit in it.`

/** `switchgear journal`: lists what a gateway has written down, also while it runs; `verify` checks the chain. */
export function journalCommand(): Command {
  return new Command('journal')
    .description('list what changed a circuit, when, why and by whom; check that nothing was altered')
    .argument('[file]', 'the journal', DEFAULT_FILE)
    .option('--circuit <name>', 'only this circuit')
    .option(
      '--since <time>',
      'not before: a date and time (UTC without a zone), or how long ago, such as 90s, 15m, 24h, 7d',
      parseTime,
    )
    .option('--until <time>', 'not after; the same', parseTime)
    .option('--type <type>', "only this type of event, such as operator.opened, or 'transition'")
    .addOption(new Option('--limit <n>', 'the newest n rows; 0 for all').default(100).argParser(parseLimit))
    .option('--json', 'print one JSON object a line', false)
    .option('--follow', 'go on as rows are written; Ctrl+C ends it', false)
    .addHelpText('after', examples)
    .action(async (file: string, options: ListOptions, command: Command) => {
      const remark = (text: string) => command.configureOutput().writeErr?.(`${text}\n`)
      await withJournal(
        file,
        command,
        async (journal) => {
          const missing = nothingOf(journal, options)
          // who follows may wait for a circuit that is not there yet
          const mayCome = missing?.exitCode === 0 || (options.follow && missing?.exitCode !== EXIT.refused)
          if (missing !== undefined && !mayCome) throw missing
          if (missing !== undefined) remark(`${file}: ${missing.message}`)
          const isEmpty = await list(journal, options)
          if (isEmpty && missing === undefined && !options.follow) remark(`${file}: No row fits all of this.`)
        },
        options.follow,
      )
    })
    .addCommand(verifyCommand())
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('follow the chain of hashes through all rows; exit code 1 where it is broken')
    .argument('[file]', 'the journal', DEFAULT_FILE)
    .addHelpText(
      'after',
      `
An edited, removed, inserted or moved row breaks the chain, and so do rows that were cut off at the end. What cannot be
seen: a file that was replaced by an older copy of itself, or rewritten as a whole by somebody who computed every hash
anew. Note the printed hash elsewhere from time to time; 'switchgear journal --limit 0 --json' must still have
it, as long as retention has not dropped that row.`,
    )
    .action(async (file: string, _options: object, command: Command) =>
      withJournal(file, command, (journal) => Promise.resolve(verify(journal, file))),
    )
}

/** Opens a journal for `use`; what is wrong with it, and what is not in it, is one line and an exit code. */
export async function withJournal(
  file: string,
  command: Command,
  use: (journal: JournalReader) => Promise<void>,
  live = false,
): Promise<void> {
  try {
    using journal = readJournal(file, { live })
    await use(journal)
  } catch (error) {
    if (error instanceof UnusableFile) command.error(`error: ${file}: ${error.message}.`)
    if (!(error instanceof CommandFailed)) throw error
    command.error(`error: ${file}: ${error.message}`, { exitCode: error.exitCode })
  }
}

function verify(journal: JournalReader, file: string): void {
  const { ok, rows, prunedUpTo, head, faults } = journal.verify()
  const pruned = prunedUpTo === 0 ? '' : ` Rows up to ${prunedUpTo} were dropped by retention.`
  if (ok)
    return say(
      `ok ${file}: ${rows} rows, whole and unaltered.${pruned} Row ${head.seq} has the hash ${head.hash}.`,
    )
  say(`BROKEN ${file}: ${rows} rows.${pruned}`)
  for (const { seq, what } of faults) say(`  row ${seq} ${what}`)
  process.exitCode = 1
}

/** Returns whether there was nothing to list. */
async function list(journal: JournalReader, { json, follow, ...filter }: ListOptions): Promise<boolean> {
  const print = (rows: readonly JournalRow[]) => {
    for (const row of rows.toReversed()) say(json ? JSON.stringify(row) : line(row))
  }
  let rows = journal.rows(filter)
  print(rows)
  let after = rows[0]?.seq ?? 0
  const isEmpty = rows.length === 0
  if (!follow) return isEmpty
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  while (!stop.signal.aborted) {
    await delay(POLL_MS, undefined, { signal: stop.signal }).catch(() => {})
    rows = journal.rows({ ...filter, after, limit: Infinity })
    print(rows)
    after = rows[0]?.seq ?? after
  }
  return isEmpty
}

/** `2026-03-01T12:00:05.120Z  openai  closed → open  5 failures in a row; next try in 30 s`. */
function line({ at, circuit, from, to, why }: JournalRow): string {
  const state = from === to ? from : `${from} → ${to}`
  const parts = [new Date(at).toISOString(), circuit ?? '(journal)', state, why]
  return plain(parts.filter((part) => part !== null).join('  '))
}

/** Names of models and the words of operators come from outside: no control character of theirs reaches the terminal. */
const plain = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')

function parseLimit(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text) || Infinity
  throw new InvalidArgumentError('A limit is a whole number; 0 stands for all.')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
