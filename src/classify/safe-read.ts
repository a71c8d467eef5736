/** An object whose properties are unknown. */
export type Bag = Readonly<Record<string, unknown>>

export const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null

/** Reads a property of a stranger's object: getters and proxies may throw, then it counts as absent. */
export function read(value: unknown, key: string): unknown {
  if (!isBag(value) && typeof value !== 'function') return undefined
  try {
    return (value as Bag)[key]
  } catch {
    return undefined
  }
}

/** Reads along a path of keys. */
export const readPath = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => read(at, key), value)

/** The first items of an array; empty for anything else. Default at most 32: nobody hides evidence deeper. */
export function items(value: unknown, max = 32): readonly unknown[] {
  try {
    return Array.isArray(value) ? value.slice(0, max) : []
  } catch {
    return []
  }
}

/** The own keys of an object; empty for anything else. */
export function keys(value: unknown): readonly string[] {
  if (!isBag(value)) return []
  try {
    return Object.keys(value)
  } catch {
    return []
  }
}

export const isFilled = (value: unknown): value is string => typeof value === 'string' && value.length > 0

/** A text property; empty for anything else. */
export function readText(value: unknown, ...path: readonly string[]): string {
  const text = readPath(value, ...path)
  return typeof text === 'string' ? text : ''
}
