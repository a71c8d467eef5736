import type { FailureKind, FallbackRoute, OutcomeKind, Verdict } from './verdict.ts'

/** One row of the table: what follows from a failure of this kind. */
export interface FailureRule {
  /** What the breaker records. */
  readonly outcome: OutcomeKind
  /** Whether the same target is worth another attempt. */
  readonly retry: 'yes' | 'no'
  /** Where the call goes next. */
  readonly fallback: FallbackRoute
  /** Waiting does not heal it: somebody has to be told. */
  readonly alert: boolean
  /** A wait named with the failure is passed on. Where false, the wait is noise: a bill is not paid by waiting. */
  readonly keepsWait: boolean
  /** How a product owner sees it. */
  readonly seenAs: string
}

type Columns = Omit<FailureRule, 'seenAs'>

const transient: Columns = {
  outcome: 'failure',
  retry: 'yes',
  fallback: 'next',
  alert: false,
  keepsWait: true,
}
const final: Columns = { outcome: 'failure', retry: 'no', fallback: 'next', alert: false, keepsWait: false }
const misconfigured: Columns = { ...final, alert: true }
const callersFault: Columns = {
  outcome: 'neutral',
  retry: 'no',
  fallback: 'stop',
  alert: false,
  keepsWait: false,
}
const notAsked: Columns = { ...callersFault, fallback: 'next' }
const ownRefusal: Columns = { ...notAsked, keepsWait: true }

const row = (columns: Columns, seenAs: string): FailureRule => Object.freeze({ ...columns, seenAs })

/**
 * The one table behind every verdict: breaker, retry, fallback and audit read the same row.
 *
 * @example failureTable.rate_limit.seenAs // 'The provider says we send too fast.'
 */
export const failureTable: Readonly<Record<FailureKind, FailureRule>> = Object.freeze({
  server_error: row(transient, 'The provider failed on its own side.'),
  overloaded: row(transient, 'The provider has no capacity left right now.'),
  rate_limit: row(transient, 'The provider says we send too fast.'),
  quota_exhausted: row(
    misconfigured,
    'The account is out of credit, budget or quota; someone must top it up.',
  ),
  timeout: row(transient, 'No answer came within the time limit.'),
  first_content_timeout: row(transient, 'The answer started too late.'),
  idle_timeout: row(transient, 'The answer stalled half-way.'),
  network: row(transient, 'The provider could not be reached, or the connection broke.'),
  empty_response: row(transient, 'The provider reported success but sent nothing usable.'),
  truncated_stream: row(transient, 'The answer stopped before it was complete.'),
  malformed_response: row(transient, 'What came back is not an answer that can be read.'),
  soft_failure: row(final, 'The answer looks like a success, but our own check says it is a failure.'),
  auth: row(misconfigured, 'The key or account is refused; someone must fix it.'),
  not_found: row(misconfigured, 'The configured model or deployment does not exist; someone must fix it.'),
  invalid_request: row(callersFault, "The caller's request is wrong; no target would take it."),
  context_window: row(
    { ...callersFault, fallback: 'context-window' },
    'The request is too long for this model; one with more room may take it.',
  ),
  content_policy: row(
    { ...callersFault, fallback: 'content-policy' },
    'The provider refused the request or filtered the answer.',
  ),
  parse: row(callersFault, 'The model answered, but not in the format asked for.'),
  validation: row(callersFault, 'The model answered, but the answer breaks the schema asked for.'),
  tool_contract: row(callersFault, 'The model called a tool in a way the tool does not accept.'),
  local_rate_limit: row(ownRefusal, 'Our own limiter held the call back.'),
  budget: row(ownRefusal, 'Our own spending guard held the call back.'),
  circuit_open: row(ownRefusal, 'Another circuit breaker on the way refused the call.'),
  unsupported: row(notAsked, 'This target cannot do what is asked (tools, images, format).'),
  defect: row({ ...notAsked, alert: true }, 'A programming error in our own code; someone must fix it.'),
  tool_result: row({ ...callersFault, outcome: 'success' }, 'The tool works and answered no.'),
  aborted: row(callersFault, 'The caller gave up.'),
  unknown: row(final, 'Something failed and nothing says what.'),
})

/**
 * Makes the verdict of a failure kind. Every verdict comes from here.
 *
 * @param retryAfterMs The wait the provider named, in ms. Dropped when negative, not finite, or meaningless for the kind.
 * @example verdictOf('rate_limit', 1500).retry // 'after'
 */
export function verdictOf(failure: FailureKind, retryAfterMs?: number): Verdict {
  const { outcome, retry, fallback, alert, keepsWait } = failureTable[failure]
  const named = keepsWait && retryAfterMs !== undefined && Number.isFinite(retryAfterMs) && retryAfterMs >= 0
  if (!named) return { failure, outcome, retry, fallback, alert }
  return { failure, outcome, retry: retry === 'yes' ? 'after' : retry, fallback, alert, retryAfterMs }
}
