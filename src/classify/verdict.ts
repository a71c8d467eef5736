/** What went wrong, in one word of the table in {@link failureTable}. Free-form kinds come from custom classifiers. */
export type FailureKind =
  | 'server_error'
  | 'overloaded'
  | 'rate_limit'
  | 'quota_exhausted'
  | 'timeout'
  | 'first_content_timeout'
  | 'idle_timeout'
  | 'network'
  | 'empty_response'
  | 'truncated_stream'
  | 'malformed_response'
  | 'soft_failure'
  | 'auth'
  | 'not_found'
  | 'invalid_request'
  | 'context_window'
  | 'content_policy'
  | 'parse'
  | 'validation'
  | 'tool_contract'
  | 'local_rate_limit'
  | 'budget'
  | 'circuit_open'
  | 'unsupported'
  | 'defect'
  | 'tool_result'
  | 'aborted'
  | 'unknown'

/** What the breaker records of a visit. `neutral` says nothing about the target. */
export type OutcomeKind = 'success' | 'failure' | 'neutral'

/** Where a call goes after a failure of this kind. */
export type FallbackRoute = 'next' | 'stop' | 'context-window' | 'content-policy'

/** What the classifier says of one error. Breaker, retry and fallback all read this one value. */
export interface Verdict {
  readonly failure: FailureKind
  /** What the breaker records: the table's column "counts". */
  readonly outcome: OutcomeKind
  /** `after` = yes, but not before `retryAfterMs`. */
  readonly retry: 'yes' | 'no' | 'after'
  readonly fallback: FallbackRoute
  /** The wait the provider named, in ms. */
  readonly retryAfterMs?: number
  /** Somebody has to be told: waiting does not heal this. */
  readonly alert: boolean
}

/** What a classifier of the user's own may answer: a kind of ours or of its own, what it counts as, and no more than that. */
export interface OwnVerdict extends Partial<Omit<Verdict, 'failure' | 'outcome'>>, Pick<Verdict, 'outcome'> {
  // any word, and still the known ones for whoever writes it
  readonly failure: FailureKind | (string & {})
}

/** What the error itself cannot tell. */
export interface ClassifyContext {
  /** The caller's own signal has fired. Checked before the error's shape: several SDKs lose the reason. */
  readonly callerAborted?: boolean
  /** Which of our own limits fired. */
  readonly ownLimit?: 'timeout' | 'first_content_timeout' | 'idle_timeout'
  /** `tool` = the target is a tool, not a model. Default `model`. */
  readonly surface?: 'model' | 'tool'
  /** The user's `detectSoftFailure` said yes. */
  readonly softFailure?: boolean
  /** Epoch ms from which HTTP dates in Retry-After are measured. Default: the answer's own `date` header; without either a date is ignored. */
  readonly now?: number
}
