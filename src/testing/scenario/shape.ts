import { didYouMean } from '../../core/validate.ts'
import { loneText } from '../../yaml/lone-text.ts'
import type { Path, YamlSource } from './yaml-source.ts'

/** Looks at a value and notes what is wrong with it. */
export type Check = (value: unknown, path: Path, source: YamlSource) => void

type Fields = Readonly<Record<string, Check>>

// a misspelt word, not a key that came into the wrong file
const SHOWABLE = /^[\w .+-]{0,20}$/

/** A value as a fault shows it; what a list or a longer text holds may be a secret. */
export function show(value: unknown): string {
  if (typeof value === 'string') return SHOWABLE.test(value) ? `'${value}'` : 'a text'
  return value === undefined ? 'missing' : kindOf(value)
}

/** What stands where a map or a list must be; of a text no word, it may be a whole file of secrets. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return 'a text'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' && value !== null ? 'a map' : String(value)
}

const check =
  (fits: (value: unknown) => boolean, right: string): Check =>
  (value, path, source) => {
    if (!fits(value)) source.fault(path, `This is ${show(value)}.`, `It must be ${right}.`)
  }

export const isBag = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

export const anything: Check = () => {}
export const text = check((value) => typeof value === 'string' && value !== '', 'a text')
export const flag = check((value) => typeof value === 'boolean', 'true or false')
export const yes = check((value) => value === true, 'true')
export const count = check((value) => isWhole(value) && value >= 0, 'a whole number of at least 0')
export const duration = check((value) => isWhole(value) && value >= 0, 'a whole number of ms, at least 0')
export const shift = check(isWhole, 'a whole number of ms')
export const share = check(
  (value) => typeof value === 'number' && value >= 0 && value < 1,
  'a number from 0 to below 1',
)
export const wait = check(
  (value) => value === null || (isWhole(value) && value >= 0),
  'a whole number of ms, or null where only an operator knows',
)
export const code = check((value) => typeof value === 'string' || isWhole(value), 'a text or a number')
export const textOrNull = check((value) => value === null || typeof value === 'string', 'a text, or null')
export const errorStatus = check(
  (value) => isWhole(value) && value >= 300 && value <= 599,
  'an HTTP status from 300 to 599; a good answer is written {ok: …}',
)
export const content = check((value) => typeof value === 'string', 'a text')

/** One of these words. */
export const word = (words: readonly string[]): Check => {
  const known = check((value) => words.includes(value as string), `one of: ${words.join(', ')}`)
  return (value, path, source) => {
    if (typeof value !== 'string' || words.includes(value)) return known(value, path, source)
    source.fault(path, `This is ${show(value)}.`, didYouMean(value, words))
  }
}

export const STATES = ['closed', 'degraded', 'open', 'half-open'] as const
export const state = word(STATES)
/** null = the target has no breaker. */
export const stateOrNone: Check = (value, path, source) => value === null || state(value, path, source)

/** What is often the matter with a text where something else must be, as a sentence. */
function adviceOn(value: unknown, keys: readonly string[]): string | undefined {
  const advice = loneText(value, keys)
  return advice && `${advice[0]!.toUpperCase()}${advice.slice(1)}.`
}

/** A list; every entry is looked at. */
export const list =
  (entry: Check, { least = 0 } = {}): Check =>
  (value, path, source) => {
    if (!Array.isArray(value) || value.length < least) {
      const right = `It must be a list${least > 0 ? ` of at least ${least}` : ''}.`
      return source.fault(path, `This is ${kindOf(value)}.`, adviceOn(value, []) ?? right)
    }
    value.forEach((item, i) => entry(item, [...path, i], source))
  }

/** Any keys, one kind of value. */
export const map =
  (entry: Check): Check =>
  (value, path, source) => {
    if (!isBag(value)) return source.fault(path, `This is ${kindOf(value)}.`, 'It must be a map.')
    for (const [key, item] of Object.entries(value)) entry(item, [...path, key], source)
  }

/** These keys and no others. */
export const fields =
  (known: Fields, required: readonly string[] = []): Check =>
  (value, path, source) => {
    if (!isBag(value)) {
      const keys = Object.keys(known)
      const right = adviceOn(value, keys) ?? `It must be a map of: ${keys.join(', ')}.`
      return source.fault(path, `This is ${kindOf(value)}.`, right)
    }
    for (const [key, item] of Object.entries(value)) {
      const entry = Object.hasOwn(known, key) ? known[key] : undefined
      if (entry === undefined)
        source.fault([...path, key], `There is no key '${key}' here.`, didYouMean(key, Object.keys(known)))
      else entry(item, [...path, key], source)
    }
    for (const key of required) {
      if (!Object.hasOwn(value, key)) source.fault(path, `The key '${key}' is missing.`, `Add '${key}'.`)
    }
  }

/** At most one of these keys may be given; answers with it. */
export function onlyOne(
  value: unknown,
  keys: readonly string[],
  path: Path,
  source: YamlSource,
): string | undefined {
  const given = keys.filter((key) => isBag(value) && Object.hasOwn(value, key))
  const [first, second] = given
  if (second !== undefined) {
    source.fault(
      [...path, second],
      `'${second}' stands beside '${first}'.`,
      'Make two entries of it, one for each.',
    )
  }
  return first
}
