import type { Cell } from '../timeline/page.ts'
import { numberInWords, spreadInWords } from './number-words.ts'
import { numbersOfPolicy } from './numbers.ts'
import type { Spread } from './numbers.ts'

interface Numbered {
  readonly numbers: Readonly<Record<string, Spread>>
}

/** Every number as a row of cells; the best of a row is marked. */
export function numberRows(policies: readonly Numbered[]): Cell[][] {
  return numbersOfPolicy.flatMap(({ key, label, unit, better, means }) => {
    const spreads = policies.map(({ numbers }) => numbers[key])
    const known = spreads.flatMap((spread) => spread?.mean ?? [])
    if (known.length === 0) return []
    const best = better === 'more' ? Math.max(...known) : better === 'less' ? Math.min(...known) : undefined
    const cells = spreads.map((spread) =>
      spread === undefined
        ? { words: '' }
        : {
            words: numberInWords(spread.mean, unit),
            small: spreadInWords(spread, unit),
            best: new Set(known).size > 1 && spread.mean === best,
          },
    )
    return [[{ words: label.trim(), small: means }, ...cells]]
  })
}
