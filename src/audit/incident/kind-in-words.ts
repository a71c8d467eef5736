import { failureTable } from '../../classify/failure-table.ts'
import type { FailureKind } from '../../classify/verdict.ts'

const isKnown = (kind: string): kind is FailureKind => Object.hasOwn(failureTable, kind)

/** A kind of failure as people say it: `server error`. One that is not the library's own is left as it is. */
export const kindInWords = (kind: string): string => (isKnown(kind) ? kind.replaceAll('_', ' ') : kind)

/** What kinds of failures mean, in a sentence for each; those that are not the library's own are left out. */
export function kindsExplained(kinds: readonly string[]): string[] {
  return [...new Set(kinds)].filter(isKnown).map((kind) => {
    const { seenAs } = failureTable[kind]
    return `A failure of kind "${kindInWords(kind)}" means: ${seenAs.charAt(0).toLowerCase()}${seenAs.slice(1)}`
  })
}
