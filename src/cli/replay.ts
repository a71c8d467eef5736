import { Command, InvalidArgumentError } from 'commander'
import type { Price } from '../audit/replay/numbers.ts'

interface ReplayOptions {
  readonly incidents?: string
  readonly traffic?: string
  readonly outcomes?: string
  readonly journal?: string
  readonly policy?: readonly string[]
  readonly target?: string
  readonly seeds: number
  readonly impact?: readonly (readonly [number, number])[]
  readonly noise?: number
  readonly price?: Price
  readonly backupPrice?: Price
  readonly json: boolean
  readonly html?: string
}

const help = `
Without --policy the presets and the plain default are compared. A policy is the name of a preset (llmDefaults, toolDefaults,
default), a YAML file with the options of a breaker, or the configuration of a gateway (--target says which of its targets;
otherwise the first).

--incidents wants the columns incident, started_at, mitigated_at, resolved_at and impact (0 none, 1 minor, 2 major,
3 critical); --traffic wants TIMESTAMP, and perhaps ContextTokens and GeneratedTokens. Traffic that is shorter than the
incidents repeats. How many calls an incident makes fail is a table: see --impact and --noise.

--outcomes wants a recording (see the option record). What calls would have met that were refused then is unknown: the best
and the worst case are told apart.

--journal holds transitions only. It can tell whether another policy would have opened on the same evidence, not what would
have happened instead.

Examples:
  switchgear replay --incidents incidents.csv --traffic trace.csv
  switchgear replay --incidents incidents.csv --traffic trace.csv --policy a.yaml --policy llmDefaults --html report.html
  switchgear replay --incidents incidents.csv --traffic trace.csv --impact 2=0.9 --noise 0.005 --price 3/15
  switchgear replay --outcomes outcomes.jsonl --policy a.yaml --policy b.yaml
  switchgear replay --journal switchgear.db --policy a.yaml`

/** `switchgear replay`: what would have happened under other policies. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('play incidents that happened against policies and compare what would have come of it')
    .option('--incidents <file>', 'CSV: incidents of a status page')
    .option('--traffic <file>', 'CSV: calls as they arrived')
    .option('--outcomes <file>', 'a recording of outcomes, as a switchgear or a gateway writes it')
    .option(
      '--journal <file>',
      'the journal of a gateway: tells of every opening whether others would have opened',
    )
    .option('--policy <file>', 'a policy; may be given several times', collect<string>(String))
    .option('--target <name>', 'the target of a configuration, or of a recording')
    .option('--seeds <n>', 'how often everything is played, each time with other luck', seedCount, 20)
    .option(
      '--impact <level=ratio>',
      'share of calls that fail at an impact, such as 2=0.9',
      collect(parseImpact),
    )
    .option('--noise <ratio>', 'share of calls that fail while there is no incident', parseShare)
    .option('--price <input/output>', 'what a million tokens cost at the target, such as 3/15', parsePrice)
    .option('--backup-price <input/output>', 'the same at the backup (default: the same price)', parsePrice)
    .option('--json', 'print one JSON object', false)
    .option('--html <file>', 'write the report with its pictures as one HTML file')
    .addHelpText('after', help)
    .action(async (options: ReplayOptions, command: Command) => {
      const { incidents, traffic, outcomes, journal } = options
      const given = [incidents ?? traffic, outcomes, journal].filter((file) => file !== undefined)
      if (given.length > 1)
        return command.error(
          'error: replay one thing at a time: incidents with traffic, outcomes, or a journal',
        )
      if (incidents !== undefined && traffic !== undefined) {
        const { replayIncidents } = await import('./replay-incidents.ts')
        return await replayIncidents({ ...options, incidents, traffic }, command)
      }
      if (outcomes !== undefined) {
        const { replayOutcomes } = await import('./replay-outcomes.ts')
        return await replayOutcomes({ ...options, outcomes }, command)
      }
      if (journal !== undefined) {
        const { replayJournalFile } = await import('./replay-journal.ts')
        return await replayJournalFile({ ...options, journal }, command)
      }
      return command.error(
        given.length === 1
          ? `error: --${incidents === undefined ? 'incidents' : 'traffic'} is missing: incidents are played over traffic`
          : 'error: say what to replay: --incidents FILE --traffic FILE, or --outcomes FILE, or --journal FILE',
      )
    })
}

/** An option that may be given several times. */
const collect =
  <T>(parse: (text: string) => T) =>
  (text: string, before: readonly T[] = []): readonly T[] => [...before, parse(text)]

function seedCount(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= 1000) return number
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000.')
}

function parseShare(text: string): number {
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}

function parseImpact(text: string): readonly [number, number] {
  const [, level, ratio] = /^([0-4])=(.+)$/.exec(text) ?? []
  if (level === undefined || ratio === undefined)
    throw new InvalidArgumentError('Write an impact from 0 to 4 and a ratio, such as 2=0.9.')
  return [Number(level), parseShare(ratio)]
}

function parsePrice(text: string): Price {
  const [input, output, ...rest] = text.split('/').map(Number)
  if (input !== undefined && output !== undefined && rest.length === 0 && input >= 0 && output >= 0)
    return { input, output }
  throw new InvalidArgumentError('Write the price of input and of output, such as 3/15.')
}
