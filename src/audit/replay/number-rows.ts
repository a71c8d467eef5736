import type { Cell } from '../timeline/page.ts'
import { numberInWords, spreadInWords } from './number-words.ts'
import { numbersOfPolicy } from './numbers.ts'
import type { Spread } from './numbers.ts'

type Numbers = Readonly<Record<string, Spread>>

/**
 * Every number as a row of cells; the best of a row is marked, and so is whatever reads the same.
 *
 * @param without the numbers where there is no breaker, for a last column; they are compared with nothing
 */
export function numberRows(policies: readonly { readonly numbers: Numbers }[], without: Numbers): Cell[][] {
  return numbersOfPolicy.flatMap(({ key, label, unit, better, means }) => {
    const spreads = policies.map(({ numbers }) => numbers[key])
    const known = spreads.flatMap((spread) => spread?.mean ?? [])
    if (known.length === 0) return []
    const best = better === 'more' ? Math.max(...known) : better === 'less' ? Math.min(...known) : undefined
    const inWords = (value: number) => numberInWords(value, unit)
    const differ = new Set(known.map(inWords)).size > 1
    const cell = (spread: Spread | undefined): Cell =>
      spread === undefined
        ? { words: '–' }
        : { words: inWords(spread.mean), small: spreadInWords(spread, unit) }
    const cells = spreads.map((spread) => ({
      ...cell(spread),
      best: differ && best !== undefined && spread !== undefined && inWords(spread.mean) === inWords(best),
    }))
    return [[{ words: label.trim(), small: means }, ...cells, cell(without[key])]]
  })
}
