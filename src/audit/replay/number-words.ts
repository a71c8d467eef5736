import { lasting, percent } from '../words.ts'
import type { NumberUnit, Spread } from './numbers.ts'

/** 1 234, 56 789, 8.64 million. */
export function countInWords(count: number): string {
  if (Math.abs(count) >= 1e6) return `${(count / 1e6).toFixed(count < 1e7 ? 2 : 1)} million`
  if (Math.abs(count) < 10 && !Number.isInteger(count)) return count.toFixed(1)
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ' ')
}

/** Shares near 1 with what they lack to it. */
const share = (value: number) => (value > 0.9 && value < 1 ? `${(value * 100).toFixed(3)} %` : percent(value))

const UNITS: Readonly<Record<NumberUnit, (value: number) => string>> = {
  share,
  ms: lasting,
  calls: countInWords,
  times: countInWords,
  money: (value) => (value < 1000 ? value.toFixed(2) : countInWords(value)),
}

export const numberInWords = (value: number, unit: NumberUnit): string => UNITS[unit](value)

/** From the lowest to the highest; empty where they do not differ. */
export function spreadInWords({ low, high }: Spread, unit: NumberUnit): string {
  const [from, to] = [numberInWords(low, unit), numberInWords(high, unit)]
  return from === to ? '' : `${from} – ${to}`
}
