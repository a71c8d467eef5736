import { parseScenario } from '../../testing/scenario/parse.ts'
import { runScenario } from '../../testing/scenario/run-scenario.ts'
import type { ScriptEntry } from '../../testing/scenario/scenario.ts'
import { lasting, listed } from '../words.ts'
import { playCalls, playText } from './call-plays.ts'
import type { ChainOptions, Play, Played } from './call-plays.ts'
import { slugOf } from './tell-breakers.ts'
import type { Telling } from './telling.ts'

/** What comparing two chains has found. */
export interface ChainComparison {
  readonly tellings: readonly Telling[]
  /** Plays that both were put through. */
  readonly plays: number
}

const MOST_TELLINGS = 8

/** What a target can do to a call, each with its words. */
const FAULTS: readonly (readonly [words: string, entry: ScriptEntry])[] = [
  ['fails (500)', { status: 500 }],
  ['hangs', { hang: true }],
  ['says 429 and asks for 5 s', { status: 429, headers: { 'retry-after': 5 } }],
  ['says 429 and asks for 60 s', { status: 429, headers: { 'retry-after': 60 } }],
  ['refuses the key (401)', { status: 401 }],
  ['calls the request wrong (400)', { status: 400 }],
  [
    'says the prompt is too long',
    { status: 400, body: { error: { code: 'context_length_exceeded', message: 'too long' } } },
  ],
  ['refuses the content', { status: 400, body: { error: { code: 'content_filter', message: 'filtered' } } }],
  ['cannot be reached', { error: 'ECONNREFUSED' }],
]

const STREAMS: readonly (readonly [words: string, entry: ScriptEntry])[] = [
  ['is silent before the first word of a stream', { hang: true }],
  [
    'stalls after the first word of a stream',
    { stream: [{ text: 'a' }, { wait: 10_000_000 }, { done: true }] },
  ],
]

function failingInWords([first = '', ...rest]: readonly string[], words: string): string {
  if (rest.length === 0) return `${first} ${words}`
  return `${first} ${words}, and so ${rest.length === 1 ? 'does' : 'do'} ${listed(rest)}`
}

/** The first targets fail, one more each time; the rest answers. */
function playsFor(names: readonly string[], guarded: boolean): Play[] {
  const answers = Object.fromEntries(names.map((name) => [name, [{ ok: `from ${name}` }]]))
  const failing = (faults: readonly (readonly [string, ScriptEntry])[], stream: boolean) =>
    names.flatMap((_, i) =>
      faults.map(([words, entry]): Play => {
        const broken = names.slice(0, i + 1)
        return {
          when: failingInWords(broken, words),
          script: { ...answers, ...Object.fromEntries(broken.map((name) => [name, [entry]])) },
          calls: [{ at: 0, ...(stream && { stream }) }],
        }
      }),
    )
  const open = (held: boolean): Play => ({
    when: `every circuit is ${held ? 'held open' : 'open'}`,
    script: answers,
    calls: [...names.map((target) => ({ at: 0, open: { target, ...(held && { hold: true }) } })), { at: 0 }],
  })
  return [
    { when: 'nothing is wrong', script: answers, calls: [{ at: 0 }] },
    ...failing(FAULTS, false),
    ...failing(STREAMS, true),
    ...(guarded ? [open(false), open(true)] : []),
  ]
}

const namesOf = ({ targets }: ChainOptions) => targets.map(({ name }) => String(name))
const isGuarded = ({ targets }: ChainOptions) =>
  targets.every((target) => target['circuitBreaker'] !== undefined)

function inWords({ answer, error, attempts, elapsedMs }: Played): string {
  const end = error === undefined ? `the answer ${String(answer)}` : `the error ${error.code}`
  const way = attempts.length === 0 ? 'nobody is asked' : `asked: ${attempts.join(', ')}`
  return `${end} after ${lasting(elapsedMs)} (${way})`
}

/** Which of the things that can be seen differ. */
function differing(a: Played, b: Played): string[] {
  const keys = ['answer', 'error', 'attempts', 'models', 'elapsedMs'] as const
  return keys.filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]))
}

/** Puts two chains through the same failures, and keeps the smallest play for every sort of difference. */
export async function diffChains(who: string, a: ChainOptions, b: ChainOptions): Promise<ChainComparison> {
  if (JSON.stringify(a) === JSON.stringify(b)) return { tellings: [], plays: 0 }
  const found = new Map<string, Telling>()
  const plays = playsFor(namesOf(a), isGuarded(a) && isGuarded(b))
  for (const play of plays) {
    if (found.size >= MOST_TELLINGS) break
    const known = namesOf(b)
    // an operator cannot open what is not there
    const calls = play.calls.filter(({ open }) => open?.target === undefined || known.includes(open.target))
    const [seenA, seenB] = [await playCalls(a, play), await playCalls(b, { ...play, calls })]
    if (seenA === undefined || seenB === undefined) continue
    const keys = differing(seenA, seenB)
    const sort = keys.join(' ')
    if (keys.length === 0 || found.has(sort)) continue
    const telling = await tell(who, play, [a, b], [seenA, seenB])
    if (telling.proven) found.set(sort, telling)
  }
  return { tellings: [...found.values()], plays: plays.length }
}

async function tell(
  who: string,
  play: Play,
  [a, b]: [ChainOptions, ChainOptions],
  [seenA, seenB]: [Played, Played],
): Promise<Telling> {
  const name = `When ${play.when}: ${inWords(seenA)}`
  const why = `Tells apart two configurations for ${who}: with the other one ${inWords(seenB)}.`
  const known = namesOf(b)
  const script = Object.fromEntries(Object.entries(play.script).filter(([target]) => known.includes(target)))
  const fileA = playText(name, why, a, play, seenA)
  const fileB = playText(name, why, b, { ...play, script }, seenA)
  const proven = (await passes(fileA)) && !(await passes(fileB))
  return {
    given: [who === 'every call' ? 'Any call' : who.replace(/^calls /, 'A call ')],
    when: play.when,
    underA: inWords(seenA),
    underB: inWords(seenB),
    slug: slugOf(`${who} ${play.when}`),
    fileA,
    fileB,
    proven,
  }
}

/** Whether a file passes `switchgear check`; one that names a target which is not there does not. */
async function passes(text: string): Promise<boolean> {
  try {
    return (await runScenario(parseScenario(text))).passed
  } catch {
    return false
  }
}
