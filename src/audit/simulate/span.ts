const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A duration: ms, or a text such as `90s`, `1h30m`, `2d`; undefined where it is none. */
export function parseSpan(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined
  if (typeof value !== 'string' || !/^(?:\d+(?:\.\d+)?(?:ms|min|s|m|h|d))+$/.test(value)) return undefined
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|min|s|m|h|d)/g)]
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0))
}
