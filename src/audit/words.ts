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

export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  if (items.length < 2) return items[0] ?? ''
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
