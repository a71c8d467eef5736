import { failureOfAnswer } from './answer.ts'
import { hasRefusal } from './content.ts'
import { kindOfCode, kindOfGenericCode, kindOfRpcCode } from './codes.ts'
import { gatherEvidence, type Evidence } from './evidence.ts'
import { verdictOf } from './failure-table.ts'
import { namedWaitMs, retryAfterMsOf } from './retry-after.ts'
import { isBag, read, readText } from './safe-read.ts'
import { kindOfStatus, statusesInTexts } from './status.ts'
import { stopClassOf } from './stop-reason.ts'
import { kindOfTool } from './tool-result.ts'
import { isConnectionError, isFetchFailure, kindOfTransport } from './transport.ts'
import type { ClassifyContext, FailureKind, Verdict } from './verdict.ts'
import { isLargerThanLimit, kindOfWeakWords, kindOfWords } from './words.ts'

type Step = (evidence: Evidence, context: ClassifyContext) => FailureKind | undefined

const isOk = (status: number): boolean => status >= 200 && status < 300

const ofCodes: Step = ({ codes, names, words, statuses }) => {
  const kind = kindOfCode([...codes, ...names])
  if (kind === 'rate_limit' && isLargerThanLimit(words)) return 'context_window'
  // The SDK could not read what the provider sent; the model's own words are not to blame.
  const unread = kind === 'parse' || kind === 'validation'
  return unread && names.includes('aiapicallerror') && statuses.some(isOk) ? 'malformed_response' : kind
}

const bugs = new Set(['typeerror', 'referenceerror', 'rangeerror', 'syntaxerror', 'evalerror', 'urierror'])
const bodyParser = /parseJSONFromBytes|\b(?:Response|Body|IncomingMessage)\.json\b/

const isUnreadBody = ({ nodes, names, statuses, words }: Evidence): boolean =>
  names.includes('syntaxerror') &&
  (statuses.some(isOk) ||
    kindOfWeakWords(words) === 'malformed_response' ||
    nodes.some((node) => bodyParser.test(readText(node, 'stack'))))

const ofBugs: Step = (evidence) => {
  const { names, codes, statuses, rpcCodes, words } = evidence
  if (!names.some((name) => bugs.has(name))) return undefined
  if (isUnreadBody(evidence)) return 'malformed_response'
  const spoken = codes.length + rpcCodes.length + statuses.length > 0 || isFetchFailure(words)
  return spoken ? undefined : 'defect'
}

const ofWords: Step = (evidence) => {
  if (isLargerThanLimit(evidence.words)) return 'context_window'
  const kind = kindOfWords(evidence.words)
  // Gemini words its per-minute limit as an empty account; an empty account names no wait.
  return kind === 'quota_exhausted' &&
    kindOfStatus(evidence.statuses) === 'rate_limit' &&
    namedWaitMs(evidence) !== undefined
    ? 'rate_limit'
    : kind
}

const answerKeys = ['choices', 'output', 'candidates', 'promptFeedback']

/** An answer or a stream event given as it is, in place of an error. */
const isBareAnswer = (value: unknown): boolean =>
  !isBag(read(value, 'error')) &&
  (answerKeys.some((key) => isBag(read(value, key))) || hasRefusal(value) || stopClassOf(value) !== undefined)

const bodyOf = (node: unknown): unknown => {
  const ok = [read(node, 'status'), read(node, 'statusCode')].some(
    (status) => typeof status === 'number' && isOk(status),
  )
  return ok ? (read(node, 'body') ?? read(node, 'responseBody')) : undefined
}

const ofAnswer: Step = ({ nodes }) => {
  if (isBareAnswer(nodes[0])) return failureOfAnswer(nodes[0])
  const body = nodes.map(bodyOf).find((candidate) => candidate !== undefined)
  return body === undefined || isBag(read(body, 'error')) ? undefined : failureOfAnswer(body)
}

/** From the surest sign to the faintest. */
const steps: readonly Step[] = [
  (evidence, { surface = 'model' }) => kindOfTool(evidence, surface),
  ofCodes,
  ofBugs,
  ofWords,
  ({ statuses }) => kindOfStatus(statuses),
  kindOfTransport,
  ofAnswer,
  ({ codes, names }) => kindOfGenericCode([...codes, ...names]),
  ({ words }) => kindOfWeakWords(words),
  ({ rpcCodes }) => kindOfRpcCode(rpcCodes),
  ({ texts }) => kindOfStatus(statusesInTexts(texts)),
  ({ names, words }) => (isConnectionError(names) || isFetchFailure(words) ? 'network' : undefined),
  ({ names }) => (names.some((name) => bugs.has(name)) ? 'defect' : undefined),
]

function kindOf(evidence: Evidence, context: ClassifyContext): FailureKind {
  for (const step of steps) {
    const kind = step(evidence, context)
    if (kind !== undefined) return kind
  }
  return 'unknown'
}

/**
 * Says what an error means: for the breaker, for retries and for the fallback, in one verdict. Takes whatever was
 * thrown, a failed tool result, or the data of an error event inside a stream. Never throws.
 *
 * @example classify({ error: { type: 'overloaded_error' } }).failure // 'overloaded'
 */
export function classify(error: unknown, context: ClassifyContext = {}): Verdict {
  if (context.callerAborted) return verdictOf('aborted')
  if (context.ownLimit) return verdictOf(context.ownLimit)
  if (context.softFailure) return verdictOf('soft_failure')
  try {
    const evidence = gatherEvidence(error)
    return verdictOf(kindOf(evidence, context), retryAfterMsOf(evidence, context.now))
  } catch {
    return verdictOf('unknown')
  }
}
