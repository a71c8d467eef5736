/** Where something stands in a configuration: keys and places in lists. */
export type Path = readonly (string | number)[]

/** Something that is wrong, and what would be right: `is missing, must be a name`. Shows no secret. */
export interface Finding {
  readonly path: Path
  readonly text: string
}

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What stands at a path, of own keys only; undefined = nothing. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

/** The entries of what may be no mapping. */
export const entriesAt = (value: unknown, path: Path): [string, unknown][] => {
  const found = valueAt(value, path)
  return isMapping(found) ? Object.entries(found) : []
}

/** The entries of what may be no list. */
export const listAt = (value: unknown, path: Path): readonly unknown[] => {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}

/** The path as people write it: `targets[0].baseUrl`. */
export const shown = (path: Path): string =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('')
