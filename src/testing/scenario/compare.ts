import { isDeepStrictEqual } from 'node:util'

/** A value for a reader, in one line. */
export function inText(value: unknown): string {
  if (value === undefined) return 'none'
  // JSON knows no Infinity
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value === '' ? 'an empty text' : `'${value}'`
  return JSON.stringify(value) ?? String(value)
}

/** One sentence where it is not as expected; undefined = it is. */
export function differs(what: string, expected: unknown, actual: unknown): string | undefined {
  if (isDeepStrictEqual(expected, actual)) return undefined
  return `expected ${what} ${inText(expected)}, got ${inText(actual)}`
}

/** What an error says about itself, in a few words. */
export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name} (${error.message.replace(/[.\s]+$/, '')})` : inText(error)
}

/** The first that is not undefined; the later ones are not looked at. */
export function firstOf<T>(questions: Iterable<() => T | undefined>): T | undefined {
  for (const ask of questions) {
    const answer = ask()
    if (answer !== undefined) return answer
  }
  return undefined
}

/** Scripted chance: the last value repeats. */
export function scriptedRandom(values: readonly number[]): () => number {
  let next = 0
  return () => values[Math.min(next++, values.length - 1)] ?? 0
}

/**
 * What came of a construction that the scenario may want refused.
 *
 * @returns what was made, the sentence of what is wrong with it, or neither where it was refused as it should be
 */
export function construct<T>(
  make: () => T,
  throws: string | undefined,
): { readonly made?: T; readonly what?: string } {
  try {
    const made = make()
    return throws === undefined
      ? { made }
      : { what: `expected the options to be refused with ${throws}, got no error` }
  } catch (error) {
    if (throws === undefined) return { what: `expected the options to be accepted, got ${errorText(error)}` }
    const name = error instanceof Error ? error.name : typeof error
    return name === throws ? {} : { what: `expected ${throws}, got ${errorText(error)}` }
  }
}
