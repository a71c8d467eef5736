import { hash } from 'node:crypto'
import type { Fact } from './facts.ts'

/** What a report says of itself, beside the signature of the rules. */
export interface Seal {
  /** How the rules were called. */
  readonly name: string
  /** The version that has put them into words. */
  readonly version: string
  readonly assumptions: Fact
  /** SHA-256 of the text, the seal itself left out. */
  readonly digest: string
}

const MARK = 'switchgear-report'

/** Where the seal goes. */
export const PLACE = `${MARK} here`

/** Nothing in it can end the comment around it. */
const written = (seal: Seal) => `${MARK} ${Buffer.from(JSON.stringify(seal)).toString('base64')}`

const digestOf = (text: string) => hash('sha256', text, 'hex')

/** A text with its seal at the place that it has for it. */
export function sealed(text: string, seal: Omit<Seal, 'digest'>): string {
  const at = text.lastIndexOf(PLACE)
  return text.slice(0, at) + written({ ...seal, digest: digestOf(text) }) + text.slice(at + PLACE.length)
}

/** The seal of a report, and whether the text is that which was sealed; undefined = it has none. */
export function sealOf(report: string): { readonly seal: Seal; readonly isWhole: boolean } | undefined {
  const found = new RegExp(`${MARK} ([A-Za-z0-9+/=]{40,})`).exec(report)
  if (found === null) return undefined
  try {
    const seal = JSON.parse(Buffer.from(found[1] ?? '', 'base64').toString('utf8')) as Seal
    if (typeof seal.digest !== 'string' || typeof seal.version !== 'string' || typeof seal.name !== 'string')
      return undefined
    // line ends may have changed on the way
    const bare = report.replace(found[0], PLACE).replaceAll('\r\n', '\n')
    return { seal, isWhole: digestOf(bare) === seal.digest }
  } catch {
    return undefined
  }
}

/** The first line in which two texts differ. */
export interface LineDifference {
  /** From 1. */
  readonly line: number
  readonly was: string
  readonly is: string
}

export function firstDifference(was: string, is: string): LineDifference | undefined {
  const [a, b] = [was.split(/\r?\n/), is.split(/\r?\n/)]
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (a[i] === b[i] || (isMark(a[i]) && isMark(b[i]))) continue
    return { line: i + 1, ...aroundDifference(a[i] ?? '', b[i] ?? '') }
  }
  return undefined
}

const isMark = (line = '') =>
  line.startsWith(`<!-- ${MARK} `) || line.startsWith('<!-- switchgear-signature ')

const AROUND = 60

/** Of long lines the place at which they part. */
function aroundDifference(a: string, b: string): { was: string; is: string } {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const from = Math.max(0, same - AROUND / 2)
  const part = (text: string) =>
    `${from > 0 ? '…' : ''}${text.slice(from, same + AROUND)}${text.length > same + AROUND ? '…' : ''}`
  return { was: part(a), is: part(b) }
}
