import { Command } from 'commander'

import { systemClock } from '../core/clock.ts'
import { circuitStory } from './circuit-story.ts'
import { withJournal } from './journal.ts'
import { parseTime } from './parse-time.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'

const examples = `  switchgear explain openai
  switchgear explain openai/gpt-5              a circuit of its own for each model
  switchgear explain --journal switchgear.db --at 2026-03-01T12:05Z    the story of an incident, without a gateway`

interface ExplainOptions extends OperateOptions {
  readonly journal?: string
  readonly at?: number
}

/** `switchgear explain`: the story of one circuit. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description('tell the story of one circuit: state, why, evidence, since when, what ends it')
    .argument('[circuit]', 'its name, as `switchgear status` shows it')
    .option('--journal <file>', 'tell the story of an incident out of a journal instead')
    .option(
      '--at <time>',
      'when it was under way: a date and time, or how long ago (default: now)',
      parseTime,
    )
  return operated(command, examples).action(
    (circuit: string | undefined, options: ExplainOptions, self: Command) => {
      if (options.journal !== undefined) return explainIncident(options.journal, options, circuit, self)
      if (circuit === undefined)
        return self.error('error: name the circuit, or the --journal of an incident.')
      return operate(self, options, async ({ client, say, paint }) => {
        const detail = await client.circuit(circuit)
        say(options.json === true ? JSON.stringify(detail, null, 2) : circuitStory(detail, paint))
      })
    },
  )
}

async function explainIncident(
  file: string,
  { at = systemClock.wall(), json = false }: ExplainOptions,
  circuit: string | undefined,
  self: Command,
): Promise<void> {
  const { reportAt, reportText } = await import('../audit/incident/journal-incident.ts')
  const { nothingOf } = await import('./journal-names.ts')
  await withJournal(file, self, async (journal) => {
    const missing = circuit === undefined ? undefined : nothingOf(journal, { circuit })
    if (missing !== undefined) throw missing
    const report = reportAt(journal, at, circuit)
    const text = json ? JSON.stringify(report, null, 2) : reportText(report, circuit)
    self.configureOutput().writeOut?.(`${text}\n`)
  })
}
