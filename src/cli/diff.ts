import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import type { Difference } from '../audit/diff/diff-audited.ts'
import { storyLines, tellDifference } from '../audit/diff/tell-difference.ts'
import type { ToldDifference } from '../audit/diff/tell-difference.ts'
import type { Telling } from '../audit/diff/telling.ts'
import { listed } from '../audit/words.ts'
import { auditedConfig } from './audited-config.ts'
import { showWork } from './progress.ts'
import { HTML, makeDirectory, outputTo, SCENARIO } from './write-output.ts'

interface DiffOptions {
  readonly out?: string
  readonly places?: number
  readonly html?: string
  readonly json: boolean
}

const help = `
Circuits are walked side by side through everything that can happen to them; calls are put through the same failures.
Each difference comes with the shortest story that tells the two apart. With --out each is written as a scenario file:
NAME.yaml passes with A, NAME.under-b.yaml is the same story with the rules of B and fails, both in 'switchgear check'.

Exit codes: 0 = no difference, within the bounds that are printed; 1 = they differ; 2 = no difference was found, but not
everything could be compared, or a file could not be written; 3 = a configuration has faults.

Examples:
  switchgear diff old.yaml new.yaml
  switchgear diff old.yaml new.yaml --html diff.html
  switchgear diff old.yaml new.yaml --out test/scenarios/diff`

/** `switchgear diff`: what two configurations do differently, with the shortest proof of each. */
export function diffCommand(): Command {
  return new Command('diff')
    .description(
      'say what two configurations do differently, each with the shortest story that tells them apart',
    )
    .argument('<a>', 'the configuration before')
    .argument('<b>', 'the configuration after')
    .option('--out <directory>', 'write every story as a scenario file')
    .option('--places <n>', 'places after which a walk gives up (default: 10000)', parsePlaces)
    .option('--html <file>', 'write the same as one HTML file')
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', help)
    .action(async (a: string, b: string, options: DiffOptions, command: Command) => {
      const say = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
      const { html } = options
      const writing = <T>(write: () => T) => written(write, command)
      const inputs = [a, b]
      const page = html === undefined ? undefined : writing(() => outputTo(html, { inputs, endings: HTML }))
      const [one, two] = [await read(a, command), await read(b, command)]
      const { diffAudited } = await import('../audit/diff/diff-audited.ts')
      const { places } = options
      const difference = await diffAudited(one, two, {
        ...(places !== undefined && { mostPlaces: places }),
        onWalk: (targets, nth, of) =>
          showWork(`Walking the circuits of ${listed(targets)} side by side (${nth} of ${of}) …`),
      })
      showWork('')
      const { out } = options
      const files = out === undefined ? [] : writing(() => writeStories(difference, out, inputs))
      const told = tellDifference(a, b, difference)
      // before a reader of the output can go away
      process.exitCode = { same: 0, different: 1, undecided: 2 }[difference.verdict]
      say(
        options.json ? JSON.stringify({ a, b, ...asJson(difference), files }, null, 2) : inWords(told, files),
      )
      if (page !== undefined) {
        const { diffHtml } = await import('../audit/diff/diff-html.ts')
        writing(() => page(diffHtml(told)))
      }
    })
}

function parsePlaces(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of places, 1 to 9999999.')
}

async function read(file: string, command: Command) {
  try {
    return (await auditedConfig(file)).audited
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`, { exitCode: 3 })
  }
}

/** What cannot be written must not end like a difference. */
function written<T>(write: () => T, command: Command): T {
  try {
    return write()
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`, { exitCode: 2 })
  }
}

const tellingsOf = ({ circuits, calls }: Difference): Telling[] =>
  [...circuits, ...calls].flatMap(({ tellings }) => tellings)

function writeStories(difference: Difference, directory: string, inputs: readonly string[]): string[] {
  makeDirectory(directory)
  const used = new Set<string>()
  return tellingsOf(difference).flatMap(({ slug, fileA, fileB }) => {
    let name = slug
    for (let n = 2; used.has(name); n++) name = `${slug}-${n}`
    used.add(name)
    const files = [
      [join(directory, `${name}.yaml`), fileA],
      [join(directory, `${name}.under-b.yaml`), fileB],
    ] as const
    for (const [file, text] of files) outputTo(file, { inputs, endings: SCENARIO })(text)
    return files.map(([file]) => file)
  })
}

function asJson({ circuits, calls, ...rest }: Difference): object {
  return {
    ...rest,
    circuits: circuits.map(({ targets, how, walks, complete, changes, users, tellings }) => ({
      targets,
      how,
      complete,
      walks,
      changes,
      users,
      tellings,
    })),
    calls,
  }
}

function inWords(told: ToldDifference, files: readonly string[]): string {
  const sections = told.sections.map(({ title, lines, stories }) => {
    const body = [
      ...lines.map((line) => `  ${line}`),
      ...stories.flatMap((story) => ['', ...storyLines(story).map((line) => `    ${line}`)]),
    ]
    return [title, ...body].join('\n')
  })
  const kept = files.length === 0 ? [] : [`${files.length} scenario files are written.`]
  return [told.outcome, ...sections, ...kept].join('\n\n')
}
