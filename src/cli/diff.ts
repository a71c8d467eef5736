import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import type { ComparedCalls, ComparedCircuits, Difference } from '../audit/diff/diff-audited.ts'
import type { Telling } from '../audit/diff/telling.ts'
import { auditedConfig } from './audited-config.ts'

interface DiffOptions {
  readonly out?: string
  readonly places?: number
  readonly json: boolean
}

const help = `
Circuits are walked side by side through everything that can happen to them; calls are put through the same failures.
Each difference comes with the shortest story that tells the two apart. With --out each is written as a scenario file:
NAME.yaml passes with A, NAME.under-b.yaml is the same story with the rules of B and fails, both in 'switchgear check'.

Exit codes: 0 = no difference, within the bounds that are printed; 1 = they differ; 2 = no difference was found, but not
everything could be compared; 3 = a configuration has faults.

Examples:
  switchgear diff old.yaml new.yaml
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
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', help)
    .action(async (a: string, b: string, options: DiffOptions, command: Command) => {
      const say = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
      const [one, two] = [await read(a, command), await read(b, command)]
      const { diffAudited } = await import('../audit/diff/diff-audited.ts')
      const { places } = options
      const difference = await diffAudited(one, two, places === undefined ? {} : { mostPlaces: places })
      const files = options.out === undefined ? [] : writeStories(difference, options.out)
      say(
        options.json
          ? JSON.stringify({ a, b, ...asJson(difference), files }, null, 2)
          : inWords(a, b, difference, files),
      )
      process.exitCode = { same: 0, different: 1, undecided: 2 }[difference.verdict]
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

const tellingsOf = ({ circuits, calls }: Difference): Telling[] =>
  [...circuits, ...calls].flatMap(({ tellings }) => tellings)

function writeStories(difference: Difference, directory: string): string[] {
  mkdirSync(directory, { recursive: true })
  const used = new Set<string>()
  return tellingsOf(difference).flatMap(({ slug, fileA, fileB }) => {
    let name = slug
    for (let n = 2; used.has(name); n++) name = `${slug}-${n}`
    used.add(name)
    const files = [
      [join(directory, `${name}.yaml`), fileA],
      [join(directory, `${name}.under-b.yaml`), fileB],
    ] as const
    for (const [file, text] of files) writeFileSync(file, text)
    return files.map(([file]) => file)
  })
}

function asJson({ circuits, calls, ...rest }: Difference): object {
  return {
    ...rest,
    circuits: circuits.map(({ targets, how, walks, complete, tellings }) => ({
      targets,
      how,
      complete,
      walks,
      tellings,
    })),
    calls,
  }
}

function inWords(a: string, b: string, difference: Difference, files: readonly string[]): string {
  const { written, structure, circuits, calls, verdict } = difference
  const sections: (readonly [string, readonly string[]])[] = [
    ['Written differently, defaults filled in', written],
    ['Not to be told by a story', structure],
    ...circuits.map((each) => [`Circuits of ${each.targets.join(', ')}`, circuitLines(each)] as const),
    ...calls.map((each) => [each.who.charAt(0).toUpperCase() + each.who.slice(1), callLines(each)] as const),
  ]
  const told = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}`).join('\n')}`)
  const end = {
    same:
      written.length === 0
        ? `${a} and ${b} say the same.`
        : `${a} and ${b} are spelled differently and do the same.`,
    different: `${a} and ${b} behave differently.`,
    undecided: `No difference was found between ${a} and ${b}, but not everything could be compared.`,
  }[verdict]
  const kept = files.length === 0 ? [] : [`${files.length} scenario files are written.`]
  return [...told, ...kept, end].join('\n\n')
}

function storyLines({ given, when, underA, underB, proven }: Telling): string[] {
  return [
    ...given.map(
      (text, i) => `${i === 0 ? 'Given' : '  And'} ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
    ),
    ` When ${when}`,
    ` Then A: ${underA}`,
    `      B: ${underB}${proven ? '' : '   (not shown by a scenario)'}`,
    '',
  ]
}

function circuitLines({ how, walks, complete, tellings }: ComparedCircuits): string[] {
  const stories = tellings.flatMap(storyLines)
  if (how === 'equal') return ['The same, number for number.']
  if (how === 'code') return ['Code of the user’s own decides: it cannot be walked.']
  const places = walks.reduce((sum, walk) => sum + walk.places, 0)
  const steps = walks.reduce((sum, walk) => sum + walk.steps, 0)
  const [first] = walks
  const bounds = first?.bounds
  const limits = [
    ...(bounds !== undefined && bounds.outcomes > 0
      ? [
          `windows of ${bounds.outcomes} calls, which leave them ${bounds.halves ? 'in two halves' : 'together'}`,
        ]
      : []),
    `${bounds?.inside ?? 0} calls under way at a time`,
    ...(bounds !== undefined && bounds.reopens > 0
      ? [`${bounds.reopens} failed trials in a row told apart`]
      : []),
    `chance at ${walks.map(({ roll }) => roll).join(', ')}`,
  ]
  const walked = `Walked side by side: ${places} places, ${steps} steps; ${limits.join('; ')}.`
  if (tellings.length > 0) return [...stories, walked]
  const proof = complete
    ? 'No difference in all of that.'
    : 'No difference in that, but there is more: raise --places.'
  return [`${walked} ${proof}`]
}

function callLines({ plays, tellings }: ComparedCalls): string[] {
  if (plays === 0) return ['The same chain, limits and retries.']
  if (tellings.length === 0) return [`The same in all ${plays} plays of failing targets.`]
  return tellings.flatMap(storyLines)
}
