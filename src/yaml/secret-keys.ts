/** Keys whose value must never be shown. */
export const SECRET_KEYS: ReadonlySet<string | number> = new Set(['apiKey', 'secret', 'url'])

/** Keys of mappings whose values must never be shown. */
export const SECRET_MAPPINGS: ReadonlySet<string | number> = new Set([
  'clientKeys',
  'tokens',
  'headers',
  'query',
])

/** Shorter values stand in ordinary words and numbers, too. */
export const SHORTEST_SECRET = 8
