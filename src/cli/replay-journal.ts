import type { Command } from 'commander'
import { cleanWords } from '../audit/incident/clean-words.ts'
import { presets } from '../audit/replay/contenders.ts'
import { openingsOf } from '../audit/replay/journal-openings.ts'
import type { Opening, OpeningAnswer } from '../audit/replay/journal-openings.ts'
import { lasting, plural } from '../audit/words.ts'
import { readJournal } from '../stores/read-only-file.ts'
import { UnusableFile } from '../stores/unusable-file.ts'
import { nothingOf } from './journal-names.ts'
import { readPolicies } from './read-policies.ts'

interface Options {
  readonly journal: string
  readonly policy?: readonly string[]
  readonly target?: string
  readonly json: boolean
}

const LIMITS =
  'A journal holds what changed a circuit, not every outcome. It tells whether another policy would have opened on the evidence of an opening. It cannot tell whether that would have happened earlier, what the refused calls would have met, or what would have happened afterwards: for that, record outcomes and replay them with --outcomes.'

/** What other policies would have said to the openings of a journal. */
export async function replayJournalFile(options: Options, command: Command): Promise<void> {
  const { journal: file, policy, target, json } = options
  const policies = policy && (await readPolicies(policy))
  const contenders = (circuit: string) =>
    policies?.flatMap(({ name, of }) => {
      const rules = of(circuit)
      return rules === undefined ? [] : [{ name, rules }]
    }) ?? presets
  const openings = openingsOf(rowsOf(file, target, command), contenders)
  const write = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
  write(json ? JSON.stringify({ kind: 'journal', limits: LIMITS, openings }, null, 2) : textOf(openings))
}

function rowsOf(file: string, circuit: string | undefined, command: Command) {
  try {
    using journal = readJournal(file)
    const missing = circuit === undefined ? undefined : nothingOf(journal, { circuit })
    if (missing !== undefined) command.error(`error: ${file}: ${missing.message}`, missing)
    return journal.rows({ limit: Infinity, ...(circuit !== undefined && { circuit }) }).toReversed()
  } catch (error) {
    if (error instanceof UnusableFile) command.error(`error: ${file}: ${error.message}.`)
    throw error
  }
}

function textOf(openings: readonly Opening[]): string {
  const told = openings.flatMap((opening) => [
    '',
    `${new Date(opening.at).toISOString()} ${opening.circuit}: ${opening.why}; ${aftermath(opening)}.`,
    ...(opening.byHand ? ['  opened by hand: no policy was asked'] : opening.answers.map(answerLine)),
  ])
  return [LIMITS, '', plural(openings.length, 'opening'), ...told, ...summary(openings)]
    .map(cleanWords)
    .join('\n')
}

function aftermath({ lastedMs, failedTrials }: Opening): string {
  const trials = failedTrials === 0 ? '' : ` after ${plural(failedTrials, 'failed trial')}`
  return lastedMs === null ? `still open${trials}` : `closed ${lasting(lastedMs)} later${trials}`
}

function answerLine({ policy, opens, why, cooldownMs }: OpeningAnswer): string {
  const verdict = opens === null ? 'cannot be told' : opens ? 'opens' : 'stays closed'
  const [low, high] = cooldownMs ?? []
  const range = low === high ? lasting(low ?? 0) : `${lasting(low ?? 0)} to ${lasting(high ?? 0)}`
  return `  ${policy}: ${verdict}: ${why}${cooldownMs === undefined ? '' : `; first cooldown ${range}`}`
}

function summary(openings: readonly Opening[]): string[] {
  const byPolicy = Map.groupBy(
    openings.flatMap(({ answers }) => answers),
    ({ policy }) => policy,
  )
  const count = (answers: readonly OpeningAnswer[], opens: boolean | null) =>
    answers.filter((answer) => answer.opens === opens).length
  return byPolicy.size === 0
    ? []
    : [
        '',
        ...[...byPolicy].map(
          ([policy, answers]) =>
            `${policy}: opens on ${count(answers, true)}, stays closed on ${count(answers, false)}, cannot be told for ${count(answers, null)} of ${answers.length}`,
        ),
      ]
}
