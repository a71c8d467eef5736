import { listed, plural, sentence } from '../words.ts'
import type { ComparedCalls, ComparedCircuits, Difference } from './diff-audited.ts'
import type { Telling } from './telling.ts'

/** A part of what is told: sentences below a title, and perhaps stories. */
export interface ToldSection {
  readonly title: string
  readonly lines: readonly string[]
  readonly stories: readonly Telling[]
}

/** A difference, told: the outcome first, then what differs, what does not, and how it was found. */
export interface ToldDifference {
  readonly outcome: string
  readonly sections: readonly ToldSection[]
}

const count = (n: number) => String(n).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

/** @param a and b name the two configurations */
export function tellDifference(a: string, b: string, difference: Difference): ToldDifference {
  const { written, structure, circuits, calls, verdict } = difference
  const outcome = {
    same:
      written.length === 0
        ? `${a} (A) and ${b} (B) say the same.`
        : `${a} (A) and ${b} (B) are spelled differently and do the same.`,
    different: `${a} (A) and ${b} (B) behave differently.`,
    undecided: `No difference was found between ${a} (A) and ${b} (B), but not everything could be compared.`,
  }[verdict]
  const same = [...circuits.flatMap(sameCircuits), ...calls.flatMap(sameCalls)]
  const sections: ToldSection[] = [
    ...circuits.filter(({ tellings }) => tellings.length > 0).map(circuitSection),
    ...calls.filter(differs).map(callSection),
    { title: 'What comes, goes or stands around', lines: structure.map(countedFromOne), stories: [] },
    { title: 'What is the same', lines: same, stories: [] },
    {
      title: 'Written differently, defaults filled in (A → B)',
      lines: written.map(countedFromOne),
      stories: [],
    },
    {
      title: 'How this was found, and how far it goes',
      lines: [...new Set([...circuits.flatMap(boundsOf), ...calls.flatMap(playsOf)])],
      stories: [],
    },
  ]
  return {
    outcome,
    sections: sections.filter(({ lines, stories }) => lines.length > 0 || stories.length > 0),
  }
}

const circuitsOf = (targets: readonly string[]) =>
  `${targets.length === 1 ? 'The circuit' : 'The circuits'} of ${listed(targets)}`

const circuitSection = ({ targets, changes, users, tellings, walks }: ComparedCircuits): ToldSection => ({
  title: `${circuitsOf(targets)}: what changes from A to B`,
  lines: [
    ...changes,
    ...users.map((text) => `For users: ${text}`),
    ...(walks.length > 1
      ? ['Chance draws how long an open period lasts; a story shows one draw, mostly the middle.']
      : []),
  ],
  stories: tellings,
})

const differs = ({ first, limits, tellings }: ComparedCalls) =>
  tellings.length > 0 || first.length > 0 || limits.length > 0

const callSection = ({ who, first, limits, tellings }: ComparedCalls): ToldSection => ({
  title: `${sentence(who)}: what changes from A to B`,
  lines: [...first, ...limits],
  stories: tellings,
})

function sameCircuits({ targets, how, tellings, complete }: ComparedCircuits): string[] {
  if (tellings.length > 0) return []
  if (how === 'equal') return [`${circuitsOf(targets)}: the same rules, number for number.`]
  if (how === 'code')
    return [
      `${circuitsOf(targets)}: not known. A function in your own code decides, and nobody can look into it.`,
    ]
  return [
    complete
      ? `${circuitsOf(targets)}: other words, the same behaviour.`
      : `${circuitsOf(targets)}: no difference in what was played, but there is more: raise --places.`,
  ]
}

function sameCalls(calls: ComparedCalls): string[] {
  const { who, plays } = calls
  if (differs(calls)) return []
  const what = sentence(who)
  return [
    plays === 0
      ? `${what}: the same targets in the same order, the same limits and retries.`
      : `${what}: the same in all ${plays} ways in which targets were made to fail.`,
  ]
}

/** What was looked at, and what was not. */
function boundsOf({ how, walks, complete }: ComparedCircuits): string[] {
  const [first] = walks
  if (how !== 'walked' || first === undefined) return []
  const [places, steps] = (['places', 'steps'] as const).map((key) =>
    walks.reduce((sum, walk) => sum + walk[key], 0),
  )
  const { outcomes, inside, reopens, halves } = first.bounds
  const limits = [
    ...(outcomes > 0
      ? [
          `no more than ${plural(outcomes, 'call')} in a window, all of which leave it ${halves ? 'in two halves' : 'at once'}`,
        ]
      : []),
    `no more than ${plural(inside, 'call')} under way at once`,
    ...(reopens > 0
      ? [`no more than ${plural(reopens, 'failed trial')} in a row, after which open periods grow no more`]
      : []),
    ...(walks.length > 1
      ? ['where chance draws an open period, its shortest, middle and longest length']
      : []),
  ]
  return [
    `Two circuits, one under the rules of A and one under those of B, were played side by side through everything that can happen next, step by step, the shortest ways first: ${count(places ?? 0)} situations, ${count(steps ?? 0)} steps. Beyond a first difference they were not followed.${complete ? '' : ' Then it was stopped: there is more that was not looked at.'} Looked at were: ${listed(limits)}.`,
  ]
}

const playsOf = ({ plays }: ComparedCalls): string[] =>
  plays === 0
    ? []
    : [
        `Calls were compared by making the targets fail in ${plays} ways, each with both; ways that were not tried may differ.`,
      ]

/** `targets.a.circuitBreaker.rules[1].x` → `a, circuit breaker, rule 2, x`: people count from one. */
export const countedFromOne = (path: string): string =>
  path
    .replace(/^targets\./, '')
    .replace('.circuitBreaker.', ', circuit breaker, ')
    .replace('.circuitBreaker:', ', circuit breaker:')
    .replace(/rules\[(\d+)\]\.?/, (_all, n: string) => `rule ${Number(n) + 1}, `)
    .replaceAll(/(\w+?)s?\[(\d+)\]\.?/g, (_all, name: string, n: string) => `${name} ${Number(n) + 1}, `)
    .replace(/, :/, ':')

/** A story as lines: Given, When, and Then for both. */
export function storyLines({ given, when, underA, underB, proven }: Telling): string[] {
  return [
    ...given.map(
      (text, i) => `${i === 0 ? 'Given' : '  And'} ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
    ),
    ` When ${when}`,
    ` Then A: ${underA}`,
    `      B: ${underB}${proven ? '' : '   (not shown by a scenario)'}`,
  ]
}
