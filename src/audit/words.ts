/** `1 call`, `2 calls`. */
export const plural = (n: number, noun: string, nouns = `${noun}s`): string =>
  `${n} ${n === 1 ? noun : nouns}`

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** A duration as people say it, rounded to what matters: `800 ms`, `1.5 s`, `2 min 30 s`, `5 min`. */
export function lasting(ms: number): string {
  if (ms === Infinity) return 'for ever'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`
  let rest = Math.round(ms / 1000) * 1000
  const parts: string[] = []
  for (const [size, name] of UNITS) {
    const n = Math.floor(rest / size)
    rest -= n * size
    if (n > 0) parts.push(`${n} ${name}`)
  }
  return parts.slice(0, 2).join(' ')
}

/** A duration that was estimated, in its largest unit alone: `31 min`. */
export function roughly(ms: number): string {
  const [size, name] = UNITS.find(([size]) => ms >= size * 1.5) ?? [1000, 's']
  return `${Math.max(1, Math.round(ms / size))} ${name}`
}

/** `30 s`, or `between 15 s and 30 s`. */
export const between = ({ leastMs, mostMs }: { readonly leastMs: number; readonly mostMs: number }): string =>
  leastMs === mostMs ? lasting(mostMs) : `between ${lasting(leastMs)} and ${lasting(mostMs)}`

export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  if (items.length < 2) return items[0] ?? ''
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const YEAR = 365

/** How often something happens, as people say it: `about 3 times a day`, `about once in 4 years`. */
export function aboutEvery(perDay: number): string {
  if (perDay * YEAR * 1000 < 1) return 'practically never'
  const [n, unit] = (
    [
      [perDay / 24, 'an hour'],
      [perDay, 'a day'],
      [perDay * 7, 'a week'],
      [perDay * YEAR, 'a year'],
    ] as const
  ).find(([count]) => count >= 0.95) ?? [0, '']
  if (n === 0) return `about once in ${rounded(1 / (perDay * YEAR))} years`
  return `about ${Math.round(n) === 1 ? 'once' : `${rounded(n)} times`} ${unit}`
}

/** Two digits, and words for what nobody counts: `6 100`, `2.9 million`. */
export function rounded(n: number): string {
  if (n >= 1e12) return 'more than a thousand billion'
  if (n >= 1e9) return `${Number((n / 1e9).toPrecision(2))} billion`
  if (n >= 1e6) return `${Number((n / 1e6).toPrecision(2))} million`
  return grouped(Number(n.toPrecision(2)))
}

/** `42 603`. */
export const grouped = (n: number): string => n.toLocaleString('en').replaceAll(',', ' ')
