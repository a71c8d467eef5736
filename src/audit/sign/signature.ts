import type { Audited } from '../audited.ts'
import { differences, factsOf } from './facts.ts'
import type { Fact } from './facts.ts'
import { exploredLaw, sha256 } from './law.ts'
import type { Law } from './law.ts'

/** What people sign. The same rules give the same, on every machine and at any time. */
export interface Signature {
  readonly version: 2
  /** SHA-256 over everything below. */
  readonly hash: string
  readonly law: Law
  /** The rules themselves. */
  readonly facts: Fact
}

/** Signs rules. Code of the user's own is outside: it is named in the facts, not read. */
export function sign(subject: Audited): Signature {
  const facts = factsOf(subject)
  const signed = { version: 2, law: exploredLaw().law, facts } as const
  return { hash: sha256(signed), ...signed }
}

/** What a comparison has found. */
export interface Comparison {
  readonly same: boolean
  /** One line each. */
  readonly differences: readonly string[]
}

const NAMES: Readonly<Record<keyof Law, string>> = {
  breaker: 'the machine of the circuit breaker',
  chain: 'the machine of the fallback chain',
  supervisor: 'the machine of the supervisor',
  failures: 'the table of failures',
}

/** Says where rules differ from those that were signed. */
export function compare(signed: Signature, now: Signature): Comparison {
  const isWhole = sha256({ version: 2, law: signed.law, facts: signed.facts }) === signed.hash
  const parts = Object.keys(NAMES) as (keyof Law)[]
  const found = [
    ...(isWhole ? [] : ['the signature itself: its hash is not that of what it signs']),
    ...parts
      .filter((part) => signed.law[part] !== now.law[part])
      .map((part) => `${NAMES[part]}: another than was signed`),
    ...differences(signed.facts, now.facts),
  ]
  return { same: found.length === 0 && signed.hash === now.hash, differences: found }
}

const MARK = 'switchgear-signature'

/** The signature as it stands in a report: nothing in it can end the element or the comment around it. */
export const embedded = (signature: Signature): string =>
  `${MARK} ${Buffer.from(JSON.stringify(signature)).toString('base64')}`

/** The signature of a report; undefined = it has none. */
export function signatureIn(report: string): Signature | undefined {
  const base64 = new RegExp(`${MARK} ([A-Za-z0-9+/=]+)`).exec(report)?.[1]
  if (base64 === undefined) return undefined
  try {
    const found = JSON.parse(Buffer.from(base64, 'base64').toString('utf8')) as Partial<Signature>
    return found.version === 2 && typeof found.law === 'object' ? (found as Signature) : undefined
  } catch {
    return undefined
  }
}

/** `3f9a 01c2 …`: long enough to compare by eye. */
export const shortHash = ({ hash }: Signature): string => hash.slice(0, 16).replaceAll(/(.{4})(?=.)/g, '$1 ')
