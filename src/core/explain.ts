import type { BreakerContext } from '../../machines/breaker-context.ts'
import type { Cause } from '../../machines/breaker-events.ts'
import type { BreakerStatus } from './breaker-status.ts'
import { inWords } from './errors.ts'

/** Why a circuit is as it is: as data, and as a sentence that a person can read. */
export interface Explanation {
  readonly bucket: string
  readonly status: BreakerStatus
  /** Failures by kind since the counters were last empty. */
  readonly breakdown: Readonly<Record<string, number>>
  /** Who holds it, why, and until when, in ms of the wall clock as it is now; null = nobody does. */
  readonly hold: BreakerContext['hold']
  readonly sentence: string
}

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

const quoted = ({ by, reason }: Cause) => `${by ?? 'an operator'}${reason ? ` ("${reason}")` : ''}`

const evidence = ({ reading, failure, rule }: Cause): string => {
  const last = failure === undefined ? '' : `, the last of kind ${failure}`
  if (reading === undefined) return failure === undefined ? 'the evidence was complete' : failure
  const counted = rule && reading.rules[rule.at]
  const { count, calls } = counted ?? { count: 0, calls: 0 }
  switch (counted && rule?.kind) {
    case 'rolling':
      return `${count} of ${plural(calls, 'call')} in the window failed${last}`
    case 'latency':
      return `${count} of ${plural(calls, 'call')} in the window were slow${last}`
    case 'leaky':
      return `the failure count reached ${count} (a success takes 1 off)${last}`
    case 'custom':
      return `the user's own policy says so${last}`
    default:
      return `${plural(reading.consecutiveFailures, 'failure')} in a row${last}`
  }
}

const found = ({ trial, failure }: Cause) =>
  `${trial?.succeeded ?? 0} of ${plural((trial?.succeeded ?? 0) + (trial?.failed ?? 0), 'probe')} succeeded${failure === undefined ? '' : `, the last failure was ${failure}`}`

const SENTENCES: Record<Cause['why'], (cause: Cause) => string> = {
  started: () => 'no transition yet',
  tripped: evidence,
  kind_tripped: (cause) => `a failure of kind ${cause.failure} opens this circuit by itself`,
  degraded: (cause) => `near the threshold: ${evidence(cause)}`,
  eased: () => 'the reading has fallen well below the threshold',
  went_quiet: () => 'nothing has happened for so long that the evidence is gone',
  cooldown_over: () => 'the cooldown is over, probes may pass',
  trial_met: (cause) => `the trial succeeded: ${found(cause)}`,
  trial_missed: (cause) => `the trial failed: ${found(cause)}`,
  operator: (cause) => `by hand, by ${quoted(cause)}`,
  hold_ended: () => 'the hold has run out',
  restored: () => 'restored after a restart',
}

/** A cause as half a sentence. */
export function causeInWords(cause: Cause): string {
  return SENTENCES[cause.why](cause)
}

const STATES: Record<BreakerStatus['state'], string> = {
  closed: 'closed (calls flow)',
  degraded: 'degraded (calls flow, near the threshold)',
  open: 'open (calls refused)',
  'half-open': 'half-open (a trial: probes pass, other calls are refused)',
}

/** What a circuit would be that is only observed, and what that means; undefined = the same as any other. */
function wouldBe({ state, observed }: Pick<BreakerStatus, 'state' | 'observed'>): string | undefined {
  if (observed !== true || state === 'closed' || state === 'degraded') return undefined
  return `would be ${state} (only observed: nothing is refused)`
}

function standing(status: BreakerStatus): string {
  const words = STATES[status.state]
  return wouldBe(status) ?? `is ${status.observed === true ? words.replace(')', ', only observed)') : words}`
}

/** Puts a status into words. */
export function explain(
  bucket: string,
  status: BreakerStatus,
  breakdown: Readonly<Record<string, number>>,
  hold: BreakerContext['hold'],
): Explanation {
  const words = hold?.reason ? ` ("${hold.reason}")` : ''
  const held =
    hold === null
      ? ''
      : `, held by ${hold.by}${words}${hold.until === null ? ' until somebody ends the hold' : ''}`
  const since = new Date(status.since).toISOString()
  // who holds it says why already
  const why = hold === null ? `: ${causeInWords(status.cause)}` : ''
  const { retryAfterMs, observed } = status
  // nobody has to wait for what refuses nobody
  const waits = observed !== true && retryAfterMs !== null && retryAfterMs > 0
  const next = !waits ? '' : ` Worth another try ${inWords(retryAfterMs)}.`
  const kinds = Object.entries(breakdown).map(([kind, n]) => `${kind} ${n}`)
  const failures = kinds.length === 0 ? '' : ` Failures counted: ${kinds.join(', ')}.`
  const sentence = `Circuit '${bucket}' ${standing(status)}${held} since ${since}${why}.${failures}${next}`
  return { bucket, status, breakdown, hold, sentence }
}
