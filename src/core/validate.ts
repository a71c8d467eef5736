import leven from 'leven'
import { ConfigError } from './errors.ts'

/** The range of a numeric option. */
export interface Range {
  readonly min: number
  readonly max?: number
  /** Excludes `min` itself. */
  readonly above?: boolean
  readonly integer?: boolean
  /** Infinity is a value, too. */
  readonly infinite?: boolean
}

// longer ones are neither read nor compared letter by letter
const LONGEST_NAME = 100

/** A name of somebody else's, cut where nobody would read on. */
export const cut = (name: string) => (name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}…`)

/** A value as an error shows it; whatever it is. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${cut(value)}'`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

function rangeInWords({ min, max, above, integer, infinite }: Range): string {
  const noun = integer === true ? 'an integer' : 'a number'
  const low = above === true ? `greater than ${min}` : `of at least ${min}`
  const high = max === undefined ? '' : ` and at most ${max}`
  return `${noun} ${low}${high}${infinite === true ? ', or Infinity' : ''}`
}

/** The number, or a RangeError that names option, value and range. */
export function checkNumber(path: string, value: unknown, range: Range): number {
  const { min, max = Infinity, above, integer, infinite } = range
  const fits =
    typeof value === 'number' &&
    (above === true ? value > min : value >= min) &&
    value <= max &&
    (Number.isFinite(value) || (infinite === true && value === Infinity)) &&
    (integer !== true || Number.isInteger(value) || value === Infinity)
  if (!fits) throw new RangeError(`${path} is ${show(value)}; it must be ${rangeInWords(range)}.`)
  return value
}

/** The known word, or a ConfigError that lists the words. */
export function checkWord<T extends string>(path: string, value: unknown, words: readonly T[]): T {
  const known = words.find((word) => word === value)
  if (known !== undefined) return known
  throw new ConfigError(`${path} is ${show(value)}.`, {
    path,
    hint: `It must be one of: ${words.join(', ')}.`,
  })
}

/** The value, or the standard where nothing is given; null is something. */
export function given<T>(value: T | undefined, standard: T): T {
  return value === undefined ? standard : value
}

/** The object, or a ConfigError. */
export function checkObject(path: string, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new ConfigError(`${path || 'options'} is ${show(value)}; it must be an object.`, { path })
}

/** The name, or a ConfigError; `__proto__` is lost as the key of an object. */
export function checkName(path: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value !== '__proto__') return value
  throw new ConfigError(`${path} is ${show(value)}.`, { path, hint: 'Give a name.' })
}

/** The list, or a ConfigError. */
export function checkList(path: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new ConfigError(`${path} is ${show(value)}; it must be a list.`, { path })
}

/** The object with these methods, undefined, or a ConfigError. */
export function checkMethods<T>(path: string, value: T | undefined, names: readonly string[]): T | undefined {
  if (value === undefined) return undefined
  const methods = value as Record<string, unknown> | null
  const missing = names.filter((name) => typeof methods?.[name] !== 'function')
  if (missing.length === 0) return value
  throw new ConfigError(`${path} lacks ${missing.join(', ')}.`, {
    path,
    hint: `It must have ${names.join(', ')}.`,
  })
}

/** Refuses what is no object and every key that nobody reads. */
export function checkKeys(path: string, value: unknown, keys: readonly string[]): Record<string, unknown> {
  const options = checkObject(path, value)
  for (const key of Object.keys(options)) {
    if (keys.includes(key)) continue
    const at = path === '' ? key : `${path}.${key}`
    throw new ConfigError(`Unknown option ${cut(at)}.`, { path: at, hint: didYouMean(key, keys) })
  }
  return options
}

/** "Did you mean …" for a misspelt name, or the list of the right ones. */
export function didYouMean(wrong: string, right: readonly string[]): string {
  const known = `Known: ${[...new Set(right)].join(', ')}.`
  if (wrong.length > LONGEST_NAME) return known
  const nearest = [...right].sort((a, b) => leven(wrong, a) - leven(wrong, b))[0]
  // two letters of a short word are another word
  const most = wrong.length < 4 ? Math.min(1, wrong.length - 1) : Math.max(2, wrong.length / 3)
  if (nearest !== undefined && leven(wrong, nearest) <= most) return `Did you mean '${nearest}'?`
  return known
}

/** The function, undefined, or a ConfigError. */
export function checkFunction<T>(path: string, value: T | undefined): T | undefined {
  if (value === undefined || typeof value === 'function') return value
  throw new ConfigError(`${path} is ${show(value)}; it must be a function.`, { path })
}

/** The boolean, undefined, or a ConfigError. */
export function checkBoolean(path: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw new ConfigError(`${path} is ${show(value)}; it must be true or false.`, { path })
}
