import fc from 'fast-check'

/** A chain told a second time, in the plainest way: what the statechart is measured against. */
export interface OraclePlan {
  readonly targets: readonly string[]
  readonly known: Readonly<Record<string, OracleTarget>>
  readonly lists: { readonly 'context-window': Lists; readonly 'content-policy': Lists }
  readonly noFallback: boolean
  readonly whenAllOpen: { kind: 'fail' } | { kind: 'wait'; waitMs: number } | { kind: 'last-resort' }
  readonly startedAt: number
  readonly deadlineAt: number | null
}
type Lists = Readonly<Record<string, readonly string[]>>
interface OracleTarget {
  readonly name: string
  readonly maxRetries: number
  readonly retry: { readonly baseMs: number; readonly multiplier: number; readonly maxMs: number }
}
interface No {
  readonly target: string
  readonly reason: 'open' | 'half-open' | 'held'
  readonly retryAt: number | null
}
interface Failed {
  readonly type: 'attempt.failed'
  readonly at: number
  readonly verdict: {
    readonly failure: string
    readonly retry: 'yes' | 'no' | 'after'
    readonly fallback: 'next' | 'stop' | 'context-window' | 'content-policy'
    readonly retryAfterMs?: number
  }
  readonly roll: number
  readonly budget: boolean
  readonly route?: 'next' | 'stop' | undefined
}
type Plain = (typeof PLAIN)[number]
export type OracleEvent =
  | {
      readonly type: 'target.admitted'
      readonly target: string
      readonly bypassed: boolean
      readonly at: number
    }
  | ({ readonly type: 'target.refused'; readonly at: number } & No)
  | Failed
  | { readonly type: 'backoff.elapsed'; readonly permitIsCurrent: boolean; readonly at: number }
  | { readonly type: Plain; readonly at: number }

const PLAIN = [
  'attempt.succeeded',
  'stream.committed',
  'stream.completed',
  'stream.failed',
  'circuit.changed',
  'wait.elapsed',
  'caller.aborted',
  'deadline.passed',
] as const

export interface Call {
  readonly state: string
  readonly target: string | null
  readonly ahead: readonly string[]
  readonly attempt: number
  readonly waitUntil: number | null
  /** On a list made for one kind of failure, no longer on the ordinary chain. */
  readonly special: boolean
  readonly visited: readonly string[]
  readonly refusals: readonly No[]
  /** Asked although its circuit refuses: once, without retries. */
  readonly defiant: boolean
  /** When the user's patience with refusals ends; it begins with the first wait. */
  readonly patience: number | null
}

const nowhere = { target: null, attempt: 0, waitUntil: null, defiant: false }

export const startCall = (plan: OraclePlan): Call => ({
  ...{ state: 'choosing', ahead: plan.targets, special: false, visited: [], refusals: [], patience: null },
  ...nowhere,
})

const ENDS = new Set(['succeeded', 'stopped', 'exhausted', 'aborted', 'outOfTime', 'interrupted'])
export const isOver = ({ state }: Call) => ENDS.has(state)

const visit = (call: Call, target: string): Call => ({
  ...{ ...call, ...nowhere, state: 'attempting', target, attempt: 1 },
  visited: [...call.visited, target],
})

/** Nobody admits any more: wait, ask one all the same, or give up. */
function nobodyLeft(plan: OraclePlan, call: Call, at: number): Call {
  if (call.ahead.length > 0) return call
  const over: Call = { ...call, state: 'exhausted' }
  // only where nobody was asked
  if (call.visited.length > 0) return over
  const timed = call.refusals.filter(({ reason, retryAt }) => reason !== 'held' && retryAt !== null)
  if (plan.whenAllOpen.kind === 'last-resort') {
    const [first] = timed.toSorted((a, b) => a.retryAt! - b.retryAt!)
    return first === undefined ? over : { ...visit(call, first.target), defiant: true }
  }
  if (plan.whenAllOpen.kind === 'fail') return over
  const patience = Math.min(call.patience ?? at + plan.whenAllOpen.waitMs, plan.deadlineAt ?? Infinity)
  const inTime = ({ reason, retryAt }: No) =>
    reason === 'half-open' || (retryAt !== null && retryAt <= patience)
  if (at >= patience || !call.refusals.some(inTime)) return over
  const opens = timed.filter(({ reason }) => reason === 'open').map(({ retryAt }) => retryAt!)
  return { ...call, state: 'waiting', patience, waitUntil: Math.min(patience, ...opens) }
}

/** The wait before a retry; undefined = no retry. */
function retryWait(plan: OraclePlan, call: Call, { at, verdict, roll, budget }: Failed): number | undefined {
  const { maxRetries, retry } = plan.known[call.target!]!
  if (verdict.retry === 'no' || !budget || call.defiant || call.attempt > maxRetries) return undefined
  const isTimeout = verdict.failure === 'timeout' || verdict.failure === 'first_content_timeout'
  if (isTimeout && call.ahead.length > 0) return undefined
  let backoff = retry.baseMs * (verdict.failure === 'overloaded' ? 4 : 1)
  for (let i = 1; i < call.attempt; i++) backoff *= retry.multiplier
  const wait = Math.ceil(Math.max(roll * Math.min(backoff, retry.maxMs), verdict.retryAfterMs ?? 0))
  if (wait > retry.maxMs) return undefined
  return plan.deadlineAt !== null && at + wait >= plan.deadlineAt ? undefined : wait
}

/** The unvisited targets of the list made for such a failure. */
function ownList(plan: OraclePlan, call: Call, { verdict, route }: Failed): readonly string[] {
  if (plan.noFallback || call.special || route !== undefined) return []
  if (verdict.fallback !== 'context-window' && verdict.fallback !== 'content-policy') return []
  const list = plan.lists[verdict.fallback][call.target!] ?? []
  return [...new Set(list)].filter((name) => !call.visited.includes(name))
}

function goesOn(plan: OraclePlan, call: Call, { verdict, route }: Failed): boolean {
  if (route !== undefined) return route === 'next'
  if (verdict.fallback === 'next') return true
  const hopped = call.special || call.target !== plan.targets[0]
  if (verdict.failure === 'invalid_request' || verdict.fallback === 'context-window') return hopped
  return verdict.fallback === 'content-policy' && call.special
}

function failed(plan: OraclePlan, call: Call, event: Failed): Call {
  const wait = retryWait(plan, call, event)
  if (wait !== undefined) return { ...call, state: 'backingOff', waitUntil: event.at + wait }
  const between: Call = { ...call, ...nowhere, state: 'choosing' }
  const ahead = ownList(plan, call, event)
  if (ahead.length > 0) return { ...between, ahead, special: true }
  return goesOn(plan, call, event) ? nobodyLeft(plan, between, event.at) : { ...call, state: 'stopped' }
}

const askAgain = (call: Call): Call => ({
  ...{ ...call, state: 'choosing', waitUntil: null },
  ...{ ahead: call.refusals.map(({ target }) => target), refusals: [] },
})

/** One event; what does not fit the moment changes nothing. */
export function step(plan: OraclePlan, call: Call, event: OracleEvent): Call {
  if (isOver(call)) return call
  if (event.type === 'caller.aborted') return { ...call, state: 'aborted', waitUntil: null }
  if (event.type === 'deadline.passed') return { ...call, state: 'outOfTime', waitUntil: null }
  switch (`${call.state} ${event.type}`) {
    case 'choosing target.admitted':
    case 'choosing target.refused': {
      const answer = event as Extract<OracleEvent, { target: string }>
      const [next, ...ahead] = call.ahead
      if (answer.target !== next) return call
      if (answer.type === 'target.admitted')
        return {
          ...visit({ ...call, ahead: plan.noFallback ? [] : ahead }, next),
          defiant: answer.bypassed,
        }
      const { target, reason, retryAt } = answer
      const refusals = [...call.refusals, { target, reason, retryAt }]
      return nobodyLeft(plan, { ...call, ahead, refusals }, event.at)
    }
    case 'attempting attempt.succeeded':
    case 'committed stream.completed':
      return { ...call, state: 'succeeded' }
    case 'attempting attempt.failed':
      return failed(plan, call, event as Failed)
    case 'attempting stream.committed':
      return { ...call, state: 'committed' }
    case 'committed stream.failed':
      return { ...call, state: 'interrupted' }
    case 'backingOff backoff.elapsed':
      if ((event as Extract<OracleEvent, { permitIsCurrent: boolean }>).permitIsCurrent)
        return { ...call, state: 'attempting', attempt: call.attempt + 1, waitUntil: null }
      return nobodyLeft(plan, { ...call, ...nowhere, state: 'choosing' }, event.at)
    case 'waiting circuit.changed':
    case 'waiting wait.elapsed':
      return askAgain(call)
    default:
      return call
  }
}

/** What may come next: mostly something that fits the moment. */
export interface Draw {
  readonly valid: boolean
  readonly pick: number
  readonly afterMs: number
  readonly target: number
  readonly bypassed: boolean
  readonly reason: No['reason']
  readonly retryInMs: number | null
  readonly verdict: Failed['verdict']
  readonly roll: number
  readonly budget: boolean
  readonly route: 'next' | 'stop' | undefined
  readonly permitIsCurrent: boolean
}

const FITTING: Readonly<Record<string, readonly OracleEvent['type'][]>> = {
  choosing: ['target.refused', 'target.admitted', 'target.refused'],
  attempting: [
    ...Array<'attempt.failed'>(12).fill('attempt.failed'),
    ...(['attempt.succeeded', 'stream.committed'] as const),
  ],
  backingOff: ['backoff.elapsed'],
  committed: ['stream.completed', 'stream.failed'],
  waiting: ['circuit.changed', 'wait.elapsed'],
}
const ALL: readonly OracleEvent['type'][] = [
  ...PLAIN.slice(0, 6),
  ...(['target.admitted', 'target.refused', 'attempt.failed', 'backoff.elapsed'] as const),
  ...PLAIN,
]

const at = <T>(list: readonly T[], share: number) => list[Math.floor(share * list.length)]!

/** The event that a draw stands for at this moment. */
export function eventOf(plan: OraclePlan, call: Call, draw: Draw, now: number): OracleEvent {
  const type = at((draw.valid ? FITTING[call.state] : undefined) ?? ALL, draw.pick)
  const names = Object.keys(plan.known)
  const target = draw.valid ? (call.ahead[0] ?? names[0]!) : at(names, draw.target)
  const { bypassed, reason, retryInMs, verdict, roll, budget, route, permitIsCurrent } = draw
  switch (type) {
    case 'target.admitted':
      return { type, at: now, target, bypassed }
    case 'target.refused':
      return { type, at: now, target, reason, retryAt: retryInMs === null ? null : now + retryInMs }
    case 'attempt.failed':
      return { type, at: now, verdict, roll, budget, route }
    case 'backoff.elapsed':
      return { type, at: now, permitIsCurrent }
    default:
      return { type, at: now }
  }
}

const NAMES = ['a', 'b', 'c', 'd'] as const
// not fc.double: most doubles lie next to 0
const share = fc.nat(999).map((n) => n / 1000)
const list = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4, size: 'max' })
const lists = fc.record(
  { a: list, b: list, c: list, d: list },
  { requiredKeys: ['a'], noNullPrototype: true },
)
const target = fc.record({
  maxRetries: fc.nat(3),
  retry: fc.record({
    baseMs: fc.constantFrom(0, 100, 501.5),
    multiplier: fc.constantFrom(1, 2, 3.5),
    maxMs: fc.constantFrom(0, 150, 1000, 10_000),
  }),
})

const plans: fc.Arbitrary<OraclePlan> = fc
  .record({
    size: fc.integer({ min: 1, max: 4 }),
    targets: fc.tuple(target, target, target, target),
    window: lists,
    policy: lists,
    noFallback: fc.nat(4).map((n) => n === 0),
    whenAllOpen: fc.oneof(
      fc.constant({ kind: 'fail' } as const),
      fc.constant({ kind: 'last-resort' } as const),
      fc.nat(2000).map((waitMs) => ({ kind: 'wait', waitMs }) as const),
    ),
    startedAt: fc.nat(100),
    deadlineMs: fc.option(fc.nat(5000)),
  })
  .map(({ size, targets, window, policy, noFallback, whenAllOpen, startedAt, deadlineMs }) => ({
    targets: NAMES.slice(0, size),
    // a list may name targets that are not on the chain
    known: Object.fromEntries(NAMES.map((name, i) => [name, { name, ...targets[i]! }])),
    lists: { 'context-window': window, 'content-policy': policy },
    noFallback,
    whenAllOpen,
    startedAt,
    deadlineAt: deadlineMs === null ? null : startedAt + deadlineMs,
  }))

const row = (
  failure: string,
  retry: 'yes' | 'no' | 'after',
  fallback: Failed['verdict']['fallback'],
  retryAfterMs?: number,
): Failed['verdict'] => ({ failure, retry, fallback, ...(retryAfterMs !== undefined && { retryAfterMs }) })

const verdicts = fc.oneof(
  fc.constantFrom(
    row('server_error', 'yes', 'next'),
    row('overloaded', 'yes', 'next'),
    row('timeout', 'yes', 'next'),
    row('first_content_timeout', 'yes', 'next'),
    row('idle_timeout', 'yes', 'next'),
    row('auth', 'no', 'next'),
    row('invalid_request', 'no', 'stop'),
    row('parse', 'no', 'stop'),
    row('aborted', 'no', 'stop'),
    row('context_window', 'no', 'context-window'),
    row('context_window', 'no', 'context-window'),
    row('content_policy', 'no', 'content-policy'),
    row('content_policy', 'no', 'content-policy'),
  ),
  fc.nat(1200).map((ms) => row('rate_limit', 'after', 'next', ms)),
)

const draws: fc.Arbitrary<Draw> = fc.record({
  valid: fc.nat(19).map((n) => n > 0),
  pick: share,
  afterMs: fc.oneof(fc.constant(0), fc.nat(400)),
  target: share,
  bypassed: fc.nat(5).map((n) => n === 0),
  reason: fc.constantFrom('open', 'open', 'half-open', 'held'),
  retryInMs: fc.oneof({ weight: 5, arbitrary: fc.nat(1500) }, { weight: 1, arbitrary: fc.constant(null) }),
  verdict: verdicts,
  roll: share,
  budget: fc.nat(9).map((n) => n > 0),
  route: fc.constantFrom(...Array<undefined>(8).fill(undefined), 'next', 'stop'),
  permitIsCurrent: fc.nat(4).map((n) => n > 0),
})

export const chainRuns = fc.record({
  plan: plans,
  draws: fc.array(draws, { minLength: 1, maxLength: 60, size: 'max' }),
})
