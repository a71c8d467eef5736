import { ConfigError } from '../../core/errors.ts'
import {
  checkFunction,
  checkKeys,
  checkList,
  checkMethods,
  checkName,
  checkObject,
  checkWord,
  didYouMean,
} from '../../core/validate.ts'
import { OFFERS } from './adapter.ts'
import type { BreakerAdapter, BreakerUnderTest, Offer } from './adapter.ts'

const KEYS = ['name', 'version', 'offers', 'create', 'declines'] as const
const NEEDED = ['name', 'offers', 'create'] as const
// what is looked for in the adapter, but is an option beside it
const OPTIONS: Readonly<Record<string, string>> = {
  knownFailures: 'describeBreaker(adapter, { knownFailures: […] })',
  scenarios: 'conformance(adapter, { scenarios: {…} })',
  rules: 'conformance(adapter, { rules: {…} })',
}

function checkOffer(path: string, offer: unknown): void {
  if (typeof offer !== 'string') return void checkWord(path, offer, OFFERS)
  if ((OFFERS as readonly string[]).includes(offer)) return
  const nearest = didYouMean(offer, OFFERS)
  const known = nearest.startsWith('Known') ? nearest : `${nearest} Known: ${OFFERS.join(', ')}.`
  throw new ConfigError(`${path} is '${offer.slice(0, 100)}'.`, { path, hint: known })
}

/** The adapter, or a ConfigError: a misspelt offer would leave every question unasked, and look well. */
export function checkAdapter(adapter: BreakerAdapter): void {
  const path = 'adapter'
  const given = checkObject(path, adapter)
  const astray = Object.keys(given).find((key) => Object.hasOwn(OPTIONS, key))
  if (astray !== undefined) {
    throw new ConfigError(`Unknown option ${path}.${astray}.`, {
      path: `${path}.${astray}`,
      hint: `It goes beside the adapter: ${OPTIONS[astray]}.`,
    })
  }
  checkKeys(path, given, KEYS)
  const missing = NEEDED.filter((key) => given[key] === undefined)
  if (missing.length > 0) {
    throw new ConfigError(`The adapter lacks ${missing.join(', ')}.`, {
      path,
      hint: `It must have ${NEEDED.join(', ')}.`,
    })
  }
  checkName('adapter.name', given.name)
  if (given.version !== undefined) checkName('adapter.version', given.version)
  checkFunction('adapter.create', given.create)
  for (const [i, offer] of checkList('adapter.offers', given.offers).entries())
    checkOffer(`adapter.offers[${i}]`, offer)
  const declines = given.declines === undefined ? {} : checkObject('adapter.declines', given.declines)
  for (const [id, reason] of Object.entries(declines)) checkReason(`adapter.declines.${id}`, reason)
}

function checkReason(path: string, reason: unknown): void {
  if (typeof reason === 'string' && reason !== '') return
  throw new ConfigError(`${path} is ${String(reason)}.`, { path, hint: 'Give the reason as a text.' })
}

// who can hold it open can also let go
const METHOD_FOR: Readonly<Partial<Record<Offer, readonly (keyof BreakerUnderTest)[]>>> = {
  open: ['open'],
  close: ['close'],
  holdOpen: ['open', 'close'],
  holdClosed: ['close'],
  restart: ['restart'],
}

const MADE = 'What create returns'

/** What `create` has made, or a ConfigError that names the methods it lacks. */
export function checkMade({ offers }: BreakerAdapter, made: BreakerUnderTest): BreakerUnderTest {
  const needed = ['execute', 'advance', ...offers.flatMap((offer) => METHOD_FOR[offer] ?? [])]
  // undefined would be taken for nothing to check
  checkMethods(MADE, made ?? null, [...new Set(needed)])
  return made
}

/** Whether an error is the adapter's own, and says nothing about the breaker. */
export const isUnusable = (error: unknown): boolean => error instanceof ConfigError && error.path === MADE
