import * as Schema from 'effect/Schema'

/** What a key means, for editors, and what would be right, for faults. */
export interface KeyText {
  readonly description: string
  /** Goes on after "is missing, …": `must be …`. */
  readonly right: string
  readonly default?: unknown
}

/** A key that may be left out. */
export const optional = <S extends Schema.Top>(schema: S, text: KeyText) =>
  Schema.optionalKey(schema.annotate({ ...text }))

/** A key, or a value of a mapping, that has to be there. */
export const required = <S extends Schema.Top>(schema: S, text: KeyText) => schema.annotate({ ...text })

/** The range of a number, for editors only. */
export interface EditorRange {
  readonly default?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

/** A number whose range the core checks when the file is read, with the same words as in the library. */
export const coreNumber = (description: string, range: EditorRange = {}) =>
  Schema.Number.annotate({
    description,
    right: description.includes('in ms') ? 'must be a number of milliseconds' : 'must be a number',
    ...range,
  })

/** The same, where it may be left out. */
export const optionalCoreNumber = (description: string, range?: EditorRange) =>
  Schema.optionalKey(coreNumber(description, range))

/** A whole number from `minimum` on. */
export const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Milliseconds above 0 that a timer can wait. */
export const positiveMs = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** Printable ASCII in one line: what a header can carry. A key from a file often ends with a line break. */
export const headerText = Schema.String.check(Schema.isPattern(/^[\t\x20-\x7e]+$/u))

/** A URL to send requests to, without a key, a query or a fragment in it. */
export const baseUrl = Schema.String.check(httpUrl(isBaseUrl))

/** Text that is an http(s) URL; editors look at its beginning only. */
export function httpUrl(fits: (value: string) => boolean) {
  return Schema.makeFilter(fits, { toJsonSchema: () => [{ pattern: '^[hH][tT][tT][pP][sS]?://' }, true] })
}

function isBaseUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
