import * as fc from 'fast-check'

/** A breaker told a second time, in the plainest way: what the statechart and its meter are measured against. */
export interface OraclePolicy {
  readonly rules: readonly OracleRule[]
  readonly cooldownMs: number
  readonly backoff: OracleBackoff | ((reopens: number) => number) | undefined
  readonly kinds: Readonly<Record<string, OracleKind>>
  readonly maxRetryAfterMs: number
  readonly degradedAt: number | undefined
  readonly probes: number
  readonly ratio: number
  readonly concurrency: number
  readonly verdict: 'all' | 'early'
  readonly leaseMs: number
  readonly observe: boolean
}
type OracleRule =
  | { readonly kind: 'consecutive' | 'leaky'; readonly threshold: number }
  | {
      readonly kind: 'rolling'
      readonly windowMs: number
      readonly minCalls: number
      readonly failureRatio: number
    }
type OracleBackoff = {
  readonly multiplier: number
  readonly maxMs: number
  readonly minMs: number
  readonly jitter: 'none' | 'equal' | 'full'
}
type OracleKind = {
  readonly threshold?: number
  readonly cooldownMs?: number
  readonly immediateOpen?: boolean
}
type Order = { readonly hold?: boolean; readonly ttlMs?: number }
type Failure = { readonly outcome: 'failure'; readonly failure: string; readonly retryAfterMs?: number }
type Outcome = { readonly outcome: 'success' } | { readonly outcome: 'neutral' } | Failure

export type OracleEvent =
  | { readonly do: 'acquire' }
  | { readonly do: 'renew'; readonly id: number }
  | { readonly do: 'settle'; readonly id: number; readonly outcome: Outcome }
  | ({ readonly do: 'open' | 'close' } & Order)
  | { readonly do: 'advance'; readonly ms: number }
  | Restart
/** Down for `downMs`; the saved deadline comes back `jumpMs` further away; chance starts anew. */
export type Restart = {
  readonly do: 'restart'
  readonly downMs: number
  readonly jumpMs: number
  readonly rolls: readonly number[]
}

interface Ticket {
  readonly generation: number
  readonly probe: boolean
  readonly leaseUntil: number
  readonly settled: boolean
  /** Its lease ended before it reported: whatever it says is late. */
  readonly lost: boolean
}

export interface Circuit {
  readonly now: number
  readonly state: 'closed' | 'degraded' | 'open' | 'half-open'
  readonly hold: { readonly until: number } | undefined
  readonly openedAt: number | undefined
  readonly openUntil: number | null
  readonly generation: number
  readonly reopens: number
  readonly consecutive: number
  readonly leaky: number
  readonly samples: readonly { readonly at: number; readonly failed: boolean }[]
  readonly kinds: Readonly<Record<string, number>>
  readonly lastOutcomeAt: number
  readonly trial: {
    readonly succeeded: number
    readonly failed: number
    readonly kind: string
    readonly until: number
  }
  /** Every permit since the start; the id is the place. */
  readonly tickets: readonly Ticket[]
  readonly rolls: readonly number[]
}

const noTrial = { succeeded: 0, failed: 0, kind: '', until: 0 }
const empty = { consecutive: 0, leaky: 0, samples: [], kinds: {}, lastOutcomeAt: 0 }

export const startCircuit = (rolls: readonly number[]): Circuit => ({
  now: 0,
  state: 'closed',
  hold: undefined,
  openedAt: undefined,
  openUntil: null,
  generation: 1,
  reopens: 0,
  ...empty,
  trial: noTrial,
  tickets: [],
  rolls,
})

/** What ends with the state that is left. */
const over = { hold: undefined, openedAt: undefined, openUntil: null, trial: noTrial }

const enter = (c: Circuit, state: Circuit['state'], more: Partial<Circuit> = {}): Circuit => ({
  ...c,
  ...over,
  state,
  generation: c.generation + 1,
  ...more,
})
const close = (c: Circuit): Circuit => enter(c, 'closed', { reopens: 0, ...empty })

/** Ids of the probes that the trial waits for, in the order of their issue. */
export const inFlight = (c: Circuit): readonly number[] =>
  c.state !== 'half-open'
    ? []
    : [...c.tickets.keys()].filter((id) => {
        const { probe, settled, lost, generation } = c.tickets[id]!
        return probe && !settled && !lost && generation === c.generation
      })

/** What the next admission would say; undefined = yes. */
export function refusal(p: OraclePolicy, c: Circuit) {
  const no = (reason: string, at: number) => ({
    reason,
    retryAfterMs: at === Infinity ? null : Math.max(0, at - c.now),
  })
  if (c.state === 'closed' || c.state === 'degraded') return undefined
  if (c.hold !== undefined) return no('held', c.hold.until)
  if (c.state === 'open') return no('open', c.openUntil!)
  const probes = inFlight(c)
  const taken = probes.length + c.trial.succeeded + c.trial.failed
  if (probes.length < p.concurrency && taken < p.probes) return undefined
  return no('half-open', Math.min(...probes.map((id) => c.tickets[id]!.leaseUntil)))
}

const capped = (p: OraclePolicy, { retryAfterMs = 0 }: { readonly retryAfterMs?: number }) =>
  Math.ceil(Math.min(retryAfterMs, p.maxRetryAfterMs))

function cooldown(p: OraclePolicy, reopens: number, roll: number, kind: string): number {
  const own = p.kinds[kind]?.cooldownMs
  const base = own ?? p.cooldownMs
  if (p.backoff === undefined) return Math.ceil(base)
  if (typeof p.backoff === 'function') {
    const ms = p.backoff(reopens)
    return Math.ceil(own ?? (Number.isNaN(ms) ? p.cooldownMs : Math.max(0, ms)))
  }
  const { multiplier, maxMs, minMs, jitter } = p.backoff
  const d = Math.min(base * multiplier ** reopens, Math.max(maxMs, own ?? 0))
  const drawn = jitter === 'none' ? d : jitter === 'equal' ? d / 2 + roll * (d / 2) : roll * d
  return Math.ceil(Math.max(minMs, drawn))
}

/** Opens, or opens anew, for a cooldown; one roll an opening. */
function open(p: OraclePolicy, c: Circuit, at: number, kind: string, notBefore: number): Circuit {
  const openUntil = Math.max(notBefore, at + cooldown(p, c.reopens, c.rolls[0] ?? 0.5, kind))
  const rolls = c.rolls.slice(1)
  return enter(c, 'open', { openedAt: at, openUntil, rolls })
}

/** The largest share of a threshold that is reached. */
function share(p: OraclePolicy, c: Circuit): number {
  const shares = p.rules.map((rule) => {
    if (rule.kind !== 'rolling') return (rule.kind === 'leaky' ? c.leaky : c.consecutive) / rule.threshold
    const slice = (at: number) => Math.floor(at / (rule.windowMs / 10))
    const inside = c.samples.filter(({ at }) => slice(c.now) - slice(at) < 10)
    if (inside.length < Math.max(1, rule.minCalls)) return 0
    return inside.filter(({ failed }) => failed).length / inside.length / rule.failureRatio
  })
  return Math.max(0, ...shares)
}

function count(p: OraclePolicy, before: Circuit, failure: Failure | undefined): Circuit {
  const failed = failure !== undefined
  const kind = failure?.failure ?? ''
  const c: Circuit = {
    ...before,
    consecutive: failed ? before.consecutive + 1 : 0,
    leaky: failed ? before.leaky + 1 : Math.max(0, before.leaky - 1),
    samples: [...before.samples, { at: before.now, failed }],
    kinds: failed ? { ...before.kinds, [kind]: (before.kinds[kind] ?? 0) + 1 } : {},
    lastOutcomeAt: before.now,
  }
  if (c.hold !== undefined) return c
  const own = failed ? p.kinds[kind] : undefined
  const byKind = own?.immediateOpen === true || c.kinds[kind]! >= (own?.threshold ?? Infinity)
  const reached = share(p, c) + 1e-9
  if (reached >= 1 || byKind) return open(p, c, c.now, kind, failed ? c.now + capped(p, failure) : 0)
  const at = p.degradedAt ?? Infinity
  if (c.state === 'closed' && reached >= at) return { ...c, state: 'degraded' }
  return c.state === 'degraded' && reached < at / 2 ? { ...c, state: 'closed' } : c
}

const mark = (c: Circuit, id: number, as: Partial<Ticket>): Circuit => ({
  ...c,
  tickets: c.tickets.with(id, { ...c.tickets[id]!, ...as }),
})

/** A probe reports, or is lost. */
function report(p: OraclePolicy, c: Circuit, at: number, failure: Failure | undefined): Circuit {
  const { succeeded, failed, until } = c.trial
  const trial =
    failure === undefined
      ? { ...c.trial, succeeded: succeeded + 1 }
      : {
          succeeded,
          failed: failed + 1,
          kind: failure.failure,
          until: failure.retryAfterMs === undefined ? until : Math.max(until, at + capped(p, failure)),
        }
  if (p.verdict === 'all' && trial.succeeded + trial.failed < p.probes) return { ...c, trial }
  const needed = p.ratio * p.probes - 1e-9
  if (trial.succeeded >= needed) return close(c)
  if (p.probes - trial.failed >= needed) return { ...c, trial }
  return open(p, { ...c, reopens: c.reopens + 1 }, at, trial.kind, trial.until)
}

/** Lets everything that is overdue happen, each at its own deadline. */
function catchUp(p: OraclePolicy, c: Circuit): Circuit {
  if (c.hold !== undefined)
    return c.hold.until > c.now ? c : catchUp(p, c.state === 'open' ? enter(c, 'half-open') : close(c))
  if (c.state === 'open') return c.openUntil! > c.now ? c : catchUp(p, enter(c, 'half-open'))
  if (c.state === 'degraded') {
    const quiet = Math.max(...p.rules.map((rule) => (rule.kind === 'rolling' ? rule.windowMs : p.cooldownMs)))
    return c.lastOutcomeAt + quiet > c.now ? c : { ...c, state: 'closed' }
  }
  const leaseOf = (id: number) => c.tickets[id]!.leaseUntil
  const [lost] = inFlight(c).toSorted((a, b) => leaseOf(a) - leaseOf(b) || a - b)
  if (lost === undefined || leaseOf(lost) > c.now) return c
  return catchUp(
    p,
    report(p, mark(c, lost, { lost: true }), leaseOf(lost), { outcome: 'failure', failure: 'probe_lost' }),
  )
}

function settle(p: OraclePolicy, before: Circuit, id: number, outcome: Outcome): Circuit {
  const ticket = before.tickets[id]!
  if (ticket.settled) return before
  const c = mark(before, id, { settled: true })
  const failure = outcome.outcome === 'failure' ? outcome : undefined
  if (ticket.generation === c.generation && !ticket.lost) {
    if (outcome.outcome === 'neutral') return c
    return ticket.probe ? report(p, c, c.now, failure) : count(p, c, failure)
  }
  if (failure === undefined || ticket.generation < 0 || c.openUntil === null) return c
  return { ...c, openUntil: Math.max(c.openUntil, c.now + capped(p, failure)) }
}

function command(p: OraclePolicy, c: Circuit, { do: what, hold, ttlMs = Infinity }: Order & { do: string }) {
  const held = hold === true ? { until: c.now + Math.ceil(ttlMs) } : undefined
  if (what === 'close') return { ...close(c), hold: held }
  if (held !== undefined) return enter(c, 'open', { hold: held })
  return c.hold === undefined ? open(p, c, c.now, '', c.openUntil ?? 0) : c
}

function restart(p: OraclePolicy, c: Circuit, { downMs, jumpMs, rolls }: Restart): Circuit {
  const now = c.now + downMs
  const own = typeof p.backoff === 'object' ? p.backoff.maxMs : p.cooldownMs
  const kinds = Object.values(p.kinds).map(({ cooldownMs = 0 }) => cooldownMs)
  const longest = typeof p.backoff === 'function' ? Infinity : Math.max(own, p.maxRetryAfterMs, ...kinds)
  const openUntil = c.openUntil === null ? null : Math.min(c.openUntil + jumpMs, now + longest)
  const state = c.state === 'degraded' ? 'closed' : c.state
  return {
    ...enter(c, state, { openedAt: c.openedAt, openUntil, hold: c.hold }),
    ...empty,
    now,
    rolls,
    tickets: [],
  }
}

/** One step: what is overdue, what is asked, what is overdue by then. */
export function step(p: OraclePolicy, before: Circuit, event: OracleEvent): Circuit {
  if (event.do === 'advance') return catchUp(p, { ...before, now: before.now + event.ms })
  const c = catchUp(p, before)
  switch (event.do) {
    case 'acquire': {
      const no = refusal(p, c)
      if (no !== undefined && !p.observe) return c
      const probe = c.state === 'half-open' && no === undefined
      const generation = no === undefined ? c.generation : -1
      const ticket = { generation, probe, leaseUntil: c.now + p.leaseMs, settled: false, lost: false }
      return { ...c, tickets: [...c.tickets, ticket] }
    }
    case 'renew':
      return mark(c, event.id, { leaseUntil: c.now + p.leaseMs })
    case 'settle':
      return catchUp(p, settle(p, c, event.id, event.outcome))
    case 'restart':
      return catchUp(p, restart(p, c, event))
    default:
      return catchUp(p, command(p, c, event))
  }
}

/* ---------------------------------------------------------------- random policies and steps ---------------- */

/** A step as it is generated: permits are picked from those there are. */
export type Step =
  | Exclude<OracleEvent, { readonly id: number }>
  | { readonly do: 'renew'; readonly pick: number; readonly again: boolean }
  | { readonly do: 'settle'; readonly pick: number; readonly again: boolean; readonly outcome: Outcome }

const KINDS = ['timeout', 'quota_exhausted', 'auth', 'probe_lost'] as const
const ms = (max: number) =>
  fc.oneof({ weight: 5, arbitrary: fc.nat(max) }, fc.constantFrom(0, 0.5, 2.25, max))
const ratio = fc.constantFrom(0.07, 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.9, 1)
const rolls = fc.array(fc.constantFrom(0, 0.1, 0.25, 1 / 3, 0.5, 0.77, 0.999999), { minLength: 3 })
const threshold = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constant(Infinity))

const rule: fc.Arbitrary<OracleRule> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('consecutive' as const), threshold }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leaky' as const), threshold }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rolling' as const),
      windowMs: fc.constantFrom(10, 15, 40, 100),
      minCalls: fc.nat(6),
      failureRatio: ratio,
    }),
  },
)

const backoff = fc.oneof(
  fc.constant(undefined),
  fc
    .record({
      multiplier: fc.constantFrom(1, 1.5, 2),
      maxMs: fc.constantFrom(0, 8, 30, 200, Infinity),
      minMs: ms(4),
      jitter: fc.constantFrom('none' as const, 'equal' as const, 'full' as const),
    })
    .map((b) => ({ ...b, minMs: Math.min(b.minMs, b.maxMs) })),
  fc.constantFrom(
    (reopens: number) => 3 + 2.5 * reopens,
    () => Number.NaN,
    (reopens: number) => reopens - 2,
  ),
)

const kinds = fc.dictionary(
  fc.constantFrom(...KINDS),
  fc.record({ threshold, cooldownMs: ms(40), immediateOpen: fc.boolean() }, { requiredKeys: [] }),
)

export const policies: fc.Arbitrary<OraclePolicy> = fc
  .record({
    rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
    cooldownMs: ms(20),
    backoff,
    kinds,
    maxRetryAfterMs: ms(30),
    degradedAt: fc.option(fc.constantFrom(0.2, 0.5, 0.6, 0.9), { nil: undefined }),
    probes: fc.integer({ min: 1, max: 5 }),
    ratio,
    concurrency: fc.integer({ min: 1, max: 5 }),
    verdict: fc.constantFrom('all' as const, 'early' as const),
    leaseMs: fc.integer({ min: 1, max: 20 }),
    observe: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map((p) => ({ ...p, concurrency: Math.min(p.concurrency, p.probes) }))

const pick = fc.nat(12)
const again = fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true))
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ outcome: 'success' as const }) },
  { weight: 1, arbitrary: fc.constant({ outcome: 'neutral' as const }) },
  {
    weight: 5,
    arbitrary: fc.record(
      { outcome: fc.constant('failure' as const), failure: fc.constantFrom(...KINDS), retryAfterMs: ms(40) },
      { requiredKeys: ['outcome', 'failure'] },
    ),
  },
)
const order = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.constant({ hold: true }),
  fc.record({ hold: fc.constant(true), ttlMs: ms(25).map((ttl) => ttl || 1) }),
)
const doing = <T extends Step['do']>(what: T) => ({ do: fc.constant(what) })

const steps1: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.record(doing('acquire')) },
  { weight: 34, arbitrary: fc.record({ ...doing('settle'), pick, again, outcome }) },
  { weight: 3, arbitrary: fc.record({ ...doing('renew'), pick, again }) },
  { weight: 18, arbitrary: fc.record({ ...doing('advance'), ms: fc.oneof(fc.nat(8), fc.nat(60)) }) },
  {
    weight: 3,
    arbitrary: order.map((o) => ({ do: 'open' as const, ...o })),
  },
  {
    weight: 3,
    arbitrary: order.map((o) => ({ do: 'close' as const, ...o })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...doing('restart'),
      downMs: fc.nat(30),
      jumpMs: fc.constantFrom(0, 0, 100, 1000),
      rolls,
    }),
  },
)

/** What one run is made of. A cooldown function knows no longest cooldown, so its deadlines never jump. */
export const runs: fc.Arbitrary<Run> = fc
  .record({ policy: policies, rolls, steps: fc.array(steps1, { maxLength: 250, size: 'max' }) })
  .map(({ policy, rolls, steps }) => ({
    policy,
    rolls,
    steps:
      typeof policy.backoff === 'function'
        ? steps.map((s) => (s.do === 'restart' ? { ...s, jumpMs: 0 } : s))
        : steps,
  }))

export type Run = {
  readonly policy: OraclePolicy
  readonly rolls: readonly number[]
  readonly steps: readonly Step[]
}

/** The place of the permit that a step picks: one that is not settled or, `again`, any; −1 = there is none. */
export function placeOf(
  { pick, again }: { readonly pick: number; readonly again: boolean },
  permits: readonly { readonly settled: boolean }[],
): number {
  const places = [...permits.keys()].filter((i) => again || !permits[i]!.settled)
  return places.length === 0 ? -1 : places[places.length - 1 - (pick % places.length)]!
}

/** The policy in the words of the options. */
export const optionsOf = (p: OraclePolicy) => ({
  tripping: p.rules,
  cooldownMs: p.cooldownMs,
  ...(p.backoff !== undefined && { cooldownBackoff: p.backoff }),
  kinds: p.kinds,
  maxRetryAfterMs: p.maxRetryAfterMs,
  ...(p.degradedAt !== undefined && { degradation: { at: p.degradedAt } }),
  halfOpenProbes: p.probes,
  halfOpenSuccessRatio: p.ratio,
  halfOpenConcurrency: p.concurrency,
  halfOpenVerdict: p.verdict,
  probeLeaseMs: p.leaseMs,
  mode: p.observe ? ('observe' as const) : ('enforce' as const),
})
