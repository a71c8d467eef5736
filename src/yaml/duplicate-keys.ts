import { isNode, isScalar, visit } from 'yaml'
import type { Document, LineCounter, Pair } from 'yaml'
import { nameable } from './excerpt.ts'
import type { SyntaxFault } from './syntax-faults.ts'

/** Keys that stand twice in one mapping: only one of the values could count. */
export function duplicateKeys(
  document: Document,
  counter: LineCounter,
  lines: readonly string[],
): SyntaxFault[] {
  const twice = new Set(
    document.errors.filter(({ code }) => code === 'DUPLICATE_KEY').map(({ pos }) => pos[0]),
  )
  if (twice.size === 0) return []
  const faults: SyntaxFault[] = []
  visit(document, {
    Map(_, { items }) {
      for (const pair of items) {
        const at = startOf(pair)
        if (at === undefined || !twice.has(at)) continue
        const same = items.filter((other) => nameOf(other) === nameOf(pair))
        const [first] = same.map(startOf)
        const place = counter.linePos(at)
        const name = nameable(lines, place.line, nameOf(pair))
        const before = counter.linePos(first ?? at)
        const where = before.line === place.line ? `column ${before.col}` : `line ${before.line}`
        const text = `the key ${name === undefined ? '' : `'${name}' `}stands here again, after ${where}, keep one of them`
        faults.push({ line: place.line, column: place.col, text })
      }
    },
  })
  return faults
}

const startOf = ({ key }: Pair) => (isNode(key) ? key.range?.[0] : undefined)
const nameOf = ({ key }: Pair) => String(isScalar(key) ? key.value : key)
