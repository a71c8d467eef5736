import { cleanWords } from '../incident/clean-words.ts'
import { listed } from '../words.ts'
import type { PolicyPath, PolicyPaths } from './policy-paths.ts'

/** Paths of one set of rules, and whose they are. */
export interface NamedPaths {
  readonly targets: readonly string[]
  /** Undefined = code of the user's own decides. */
  readonly found: PolicyPaths | undefined
}

export type PathFormat = 'vitest' | 'json' | 'gherkin'

/** A name that does not end the line, or the comment, it stands in. */
const namesOf = (targets: readonly string[]) => cleanWords(listed(targets))

/** What was covered, and what was not. */
function coverInWords({ targets, found }: NamedPaths): string {
  const who = `Rules of ${namesOf(targets)}`
  if (found === undefined) return `${who}: code of the user's own decides, which cannot be walked.`
  const { paths, cover, all, walked } = found
  const { outcomes, inside, reopens } = walked.bounds
  const limits = `${inside} calls under way at a time${outcomes > 0 ? `, windows of ${outcomes} calls` : ''}${reopens > 0 ? `, ${reopens} failed trials in a row` : ''}`
  if (cover === 'edges')
    return `${who}: ${paths.length} paths take each of ${walked.steps} steps between ${walked.places} places (${limits}).`
  const why = walked.complete
    ? `all ${all} paths would be too many (--most ${all} takes them)`
    : `there are more than ${walked.places} places`
  return `${who}: ${why}, so ${paths.length} paths take every sort of step once (${limits}).`
}

const comment = (named: NamedPaths) => `// ${coverInWords(named)}`

const scenarioOf = ({ name, scenario: { steps } }: PolicyPath) => JSON.stringify({ name, steps })

function vitestText(all: readonly NamedPaths[]): string {
  const suites = all.map((named) => {
    const { targets, found } = named
    const [first] = found?.paths ?? []
    if (found === undefined || first === undefined) return comment(named)
    const { breaker, roll } = first.scenario
    return `${comment(named)}
describe(${JSON.stringify(`the rules of ${namesOf(targets)}`)}, () => {
  const rules = { random: [${roll}], breaker: ${inCode(breaker)} }
  it.each([
${found.paths.map((path) => `    ${scenarioOf(path)},`).join('\n')}
  ])('$name', async (path) => {
    const { failure } = await runScenario({ ...parseScenario(JSON.stringify({ kind: 'breaker', breaker: {}, ...path })), ...rules })
    const step = failure && JSON.stringify(path.steps[failure.step - 1])
    expect(failure && \`step \${failure.step} \${step}: \${failure.what}\`).toBeUndefined()
  })
})`
  })
  return `import { parseScenario, runScenario } from 'switchgear/testing'
import { describe, expect, it } from 'vitest'

${suites.join('\n\n')}
`
}

const NEVER = '"Infinity"'

/** JavaScript has a word for what JSON does not know. */
const inCode = (value: unknown) =>
  JSON.stringify(value, (_key, each: unknown) => (each === Infinity ? 'Infinity' : each)).replaceAll(
    NEVER,
    'Infinity',
  )

function gherkinText(all: readonly NamedPaths[]): string {
  const features = all.map((named) => {
    const head = [`Feature: The circuit of ${namesOf(named.targets)}`, `  ${coverInWords(named)}`]
    const scenarios = (named.found?.paths ?? []).map(({ name, story }) =>
      [
        `  Scenario: ${name}`,
        ...story.given.map(
          (text, i) => `    ${i === 0 ? 'Given' : 'And'} ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
        ),
        `    When ${story.when}`,
        `    Then ${story.result}`,
      ]
        .map(cleanWords)
        .join('\n'),
    )
    return [head.join('\n'), ...scenarios].join('\n\n')
  })
  return `${features.join('\n\n')}\n`
}

function jsonText(all: readonly NamedPaths[]): string {
  const told = all.map(({ targets, found }) =>
    found === undefined
      ? { targets, cover: 'none' }
      : {
          targets,
          cover: found.cover,
          paths: found.paths.length,
          allPaths: found.all,
          places: found.walked.places,
          steps: found.walked.steps,
          complete: found.walked.complete,
          bounds: found.walked.bounds,
          breaker: found.paths[0]?.scenario.breaker,
          random: found.paths[0] === undefined ? [] : [found.paths[0].scenario.roll],
          scenarios: found.paths.map(({ name, story, scenario }) => ({
            name,
            ...story,
            steps: scenario.steps,
          })),
        },
  )
  return `${JSON.stringify(told, (_key, each: unknown) => (each === Infinity ? 'Infinity' : each), 2)}\n`
}

/** Paths as tests, as data, or as text. */
export function formatPaths(all: readonly NamedPaths[], format: PathFormat): string {
  return { vitest: vitestText, json: jsonText, gherkin: gherkinText }[format](all)
}

export const coverText = (all: readonly NamedPaths[]): string => all.map(coverInWords).join('\n')
