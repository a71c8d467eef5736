import type { MachineName, ShownSnapshot } from '../../src/adapters/inspect/wire.ts'

/** The ids of the states that a value of XState names, as the charts have them, the outermost first. */
export function statesOf(machine: MachineName, value: unknown): string[] {
  return pathsOf(value).map((path) => `${machine}.${path}`)
}

/** A value of XState as people read it: `open.cooling`. */
export const inWords = (value: unknown): string => pathsOf(value).at(-1) ?? ''

function pathsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Object.entries(Object(value) as object).flatMap(([name, inner]) => [
    name,
    ...pathsOf(inner).map((path) => `${name}.${path}`),
  ])
}

/**
 * The way in the chart from one value to another, as `source/target`; undefined where the chart leaves it out. `ways` are
 * all ways that the chart has.
 */
export function wayBetween(
  machine: MachineName,
  before: unknown,
  now: unknown,
  ways: readonly string[],
): string | undefined {
  const target = statesOf(machine, now).at(-1)
  const sources = [...statesOf(machine, before).toReversed(), machine]
  return sources.map((source) => `${source}/${target}`).find((way) => ways.includes(way))
}

const BREAKER_TONES: Readonly<Record<string, Tone>> = {
  closed: 'closed',
  'closed.healthy': 'closed',
  'closed.held': 'closed',
  'closed.degraded': 'degraded',
  halfOpen: 'half-open',
}
const GOING_ON = /^(choosing|visiting|waiting)/

/** Which of the colours of a circuit says how an actor is. */
export type Tone = 'closed' | 'degraded' | 'half-open' | 'open'

export function toneOf(machine: MachineName, { value }: ShownSnapshot): Tone {
  const words = inWords(value)
  switch (machine) {
    case 'supervisor':
      return 'closed'
    case 'breaker':
      return BREAKER_TONES[words] ?? 'open'
    case 'chain':
      if (GOING_ON.test(words)) return 'half-open'
      return words === 'succeeded' ? 'closed' : 'open'
  }
}
