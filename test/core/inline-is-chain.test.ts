import { setImmediate as settled } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSwitchgearError } from '../../src/core/errors.ts'
import type { AttemptRecord } from '../../src/core/errors.ts'
import { Gear } from '../../src/core/gear.ts'
import { Switchgear } from '../../src/core/switchgear.ts'
import type { SwitchgearOptions } from '../../src/core/switchgear-options.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Kind = keyof typeof ERRORS | 'ok' | 'empty' | 'hang' | 'throws' | 'defect'

interface Answer {
  readonly kind: Kind
  readonly afterMs: number
  readonly retryAfterMs: number
}

interface TargetPlan {
  readonly answers: readonly Answer[]
  readonly breaker: {
    readonly threshold: number
    readonly cooldownMs: number
    readonly halfOpenProbes: number
    /** One breaker with the first target. */
    readonly shared: boolean
    readonly backoff: boolean
  } | null
  readonly maxRetries: number
  readonly baseMs: number
  readonly maxMs: number
  readonly timeoutMs: number
}

type Step =
  | {
      readonly do: 'call'
      readonly at: number
      readonly deadlineMs: number | null
      readonly abortMs: number | null
    }
  | {
      readonly do: 'open' | 'close'
      readonly at: number
      readonly target: number
      readonly hold: boolean
      readonly ttlMs: number | null
    }

interface Plan {
  readonly targets: readonly TargetPlan[]
  readonly whenAllOpen: NonNullable<SwitchgearOptions['whenAllOpen']>
  readonly budget: false | { readonly capacity: number; readonly perCall: number }
  readonly deadlineMs: number | null
  readonly window: readonly (readonly number[])[]
  readonly policy: readonly (readonly number[])[]
  readonly fallbackOn: 'none' | 'stop-quota' | 'next-invalid'
  readonly steps: readonly Step[]
  readonly seed: number
}

const failure = (status: number, code: string, message: string) => (retryAfterMs: number) =>
  Object.assign(new Error(message), {
    status,
    code,
    ...(retryAfterMs > 0 && { headers: { 'retry-after-ms': String(retryAfterMs) } }),
  })

const ERRORS = {
  down: failure(500, 'server_error', 'internal error'),
  overloaded: failure(529, 'overloaded_error', 'Overloaded'),
  limited: failure(429, 'rate_limit_exceeded', 'slow down'),
  quota: failure(429, 'insufficient_quota', 'You exceeded your current quota'),
  wrong: failure(400, 'invalid_type', 'Invalid type for temperature'),
  missing: failure(404, 'model_not_found', 'The model does not exist'),
  tooLong: failure(400, 'context_length_exceeded', 'maximum context length is 8192 tokens'),
  filtered: failure(400, 'content_filter', 'content management policy'),
  auth: failure(401, 'invalid_api_key', 'Incorrect API key provided'),
} as const

interface Sent {
  readonly target: number
  readonly at: number
  readonly attempt: number
  readonly call: string
}

/** Everything that can be seen of a run from outside. */
interface Story {
  readonly sent: Sent[]
  readonly ends: unknown[]
  readonly reports: unknown[]
  readonly events: unknown[]
  breakers: unknown[]
}

const factsOf = ({ error, ...facts }: AttemptRecord) => ({ ...facts, error: String(error) })

function endOf(error: unknown) {
  if (!isSwitchgearError(error)) return { error: String(error) }
  const { code, message, retryAfterMs, target } = error
  const attempts = 'attempts' in error ? (error.attempts as AttemptRecord[]).map(factsOf) : undefined
  return { code, message, retryAfterMs, target, attempts, cause: String(error.cause) }
}

const name = (i: number) => `t${i}`

/** Plays a plan; the first step inline, or led by the chain from the start. */
class Stage {
  readonly #clock = new VirtualClock()
  readonly #plan: Plan
  readonly #gear: Gear<number, string, string>
  readonly #switchgear: Switchgear<number, string, string>
  readonly #asked: number[] = []
  readonly story: Story = { sent: [], ends: [], reports: [], events: [], breakers: [] }

  constructor(plan: Plan, inline: boolean) {
    this.#plan = plan
    this.#gear = new Gear(this.#options())
    this.#gear.inline = inline
    this.#switchgear = new Switchgear(this.#gear)
  }

  #options(): SwitchgearOptions<number, string, string> {
    const { targets, whenAllOpen, budget, deadlineMs, window, policy, fallbackOn, seed } = this.#plan
    const lists = (list: Plan['window']) =>
      Object.fromEntries(
        targets.map((_, i) => [name(i), (list[i] ?? []).filter((n) => n < targets.length).map(name)]),
      )
    return {
      targets: targets.map((target, i) => this.#target(target, i)),
      whenAllOpen,
      retryBudget: budget,
      ...(deadlineMs !== null && { deadlineMs }),
      contextWindowFallbacks: lists(window),
      contentPolicyFallbacks: lists(policy),
      ...(fallbackOn !== 'none' && {
        fallbackOn: (_error: unknown, at: { isLastTarget: boolean; verdict: { failure: string } }) => {
          this.story.events.push(['fallbackOn', at.isLastTarget, at.verdict.failure])
          return fallbackOn === 'stop-quota' && at.verdict.failure === 'quota_exhausted' ? 'stop' : 'next'
        },
      }),
      onEvent: (event) => void this.story.events.push(event),
      clock: this.#clock,
      random: seededRandom(seed),
    }
  }

  #target(plan: TargetPlan, i: number): TargetOptions<number, string, string> {
    const { maxRetries, baseMs, maxMs, timeoutMs } = plan
    const first = this.#plan.targets[0]!.breaker
    const shares = plan.breaker?.shared === true && first !== null
    const breaker = shares ? first : plan.breaker
    return {
      name: name(i),
      invoke: (_request, { attempt, call, signal }) => this.#answer(i, attempt, call, signal),
      maxRetries,
      retry: { baseMs, maxMs },
      timeoutMs,
      ...(shares && { bucket: name(0) }),
      ...(breaker !== null && {
        circuitBreaker: {
          threshold: breaker.threshold,
          cooldownMs: breaker.cooldownMs,
          halfOpenProbes: breaker.halfOpenProbes,
          ...(breaker.backoff && { cooldownBackoff: { multiplier: 2, maxMs: 4 * breaker.cooldownMs } }),
        },
      }),
    }
  }

  #answer(target: number, attempt: number, call: string, signal: AbortSignal): Promise<string> {
    const clock = this.#clock
    this.story.sent.push({ target, at: clock.now(), attempt, call })
    const { answers } = this.#plan.targets[target]!
    const turn = (this.#asked[target] = (this.#asked[target] ?? -1) + 1)
    const { kind, afterMs, retryAfterMs } = answers[turn % answers.length]!
    if (kind === 'throws') throw ERRORS.down(retryAfterMs)
    signal.addEventListener('abort', () => void this.story.events.push(['cut', target, clock.now()]))
    return new Promise((resolve, reject) => {
      if (kind === 'hang') return
      clock.setTimeout(() => {
        if (kind === 'ok') resolve(`${call}@${target}`)
        else if (kind === 'empty') resolve('')
        else reject(kind === 'defect' ? new TypeError('x is not a function') : ERRORS[kind](retryAfterMs))
      }, afterMs)
    })
  }

  #take(step: Step, i: number): void {
    if (step.do === 'call') return this.#call(i, step.deadlineMs, step.abortMs)
    const index = step.target % this.#plan.targets.length
    const { hold, ttlMs } = step
    const order = hold ? { hold, ...(ttlMs !== null && { ttlMs }) } : {}
    if (step.do === 'open') this.#switchgear.openCircuit({ index }, order)
    else this.#switchgear.closeCircuit({ index }, order)
  }

  #call(i: number, deadlineMs: number | null, abortMs: number | null): void {
    const { ends, reports } = this.story
    const controller = new AbortController()
    const note = (what: unknown) => void (ends[i] = { at: this.#clock.now(), what })
    this.#switchgear
      .call(i, {
        ...(deadlineMs !== null && { deadlineMs }),
        ...(abortMs !== null && { signal: controller.signal }),
        report: (report) => void reports.push([i, report]),
      })
      .then(note, (error: unknown) => note(endOf(error)))
    if (abortMs !== null) this.#clock.setTimeout(() => controller.abort(new Error('enough')), abortMs)
  }

  async play(): Promise<Story> {
    const clock = this.#clock
    this.#plan.steps.forEach((step, i) => clock.setTimeout(() => this.#take(step, i), step.at))
    // a held-open circuit leaves nothing behind that would tick for ever
    for (let at = clock.nextAt; at !== undefined && at < 200_000; at = clock.nextAt) {
      clock.set(at)
      await settled()
    }
    this.story.breakers = this.#plan.targets.map((_, i) => {
      const status = this.#switchgear.getStatus({ index: i })
      const breaker = this.#gear.targets[i]!.breakerFor(undefined)
      const { stats } = this.#gear.targets[i]!
      return { status, stats: structuredClone(breaker?.stats), attempts: structuredClone(stats) }
    })
    await this.#switchgear.close()
    return this.story
  }
}

const kinds = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Kind>('ok') },
  {
    weight: 7,
    arbitrary: fc.constantFrom<Kind>(
      ...(Object.keys(ERRORS) as Kind[]),
      'down',
      'down',
      'limited',
      'tooLong',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom<Kind>('hang', 'throws', 'empty', 'defect') },
)
const answer = fc.record({
  kind: kinds,
  afterMs: fc.oneof(fc.constant(0), fc.nat(400)),
  retryAfterMs: fc.oneof(fc.constant(0), fc.nat(3000)),
})
const target: fc.Arbitrary<TargetPlan> = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 8, size: 'max' }),
  breaker: fc.option(
    fc.record({
      threshold: fc.integer({ min: 1, max: 3 }),
      cooldownMs: fc.integer({ min: 0, max: 2000 }),
      halfOpenProbes: fc.integer({ min: 1, max: 2 }),
      shared: fc.nat(3).map((n) => n === 0),
      backoff: fc.boolean(),
    }),
    { freq: 6 },
  ),
  maxRetries: fc.nat(2),
  baseMs: fc.constantFrom(0, 50, 300),
  maxMs: fc.constantFrom(0, 500, 2000),
  timeoutMs: fc.integer({ min: 100, max: 1000 }),
})
const hops = fc.array(fc.uniqueArray(fc.nat(3), { maxLength: 3 }), { minLength: 4, maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      at: fc.nat(5000),
      deadlineMs: fc.option(fc.integer({ min: 1, max: 3000 }), { freq: 2 }),
      abortMs: fc.option(fc.nat(1500), { freq: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('open' as const, 'close' as const),
      at: fc.nat(5000),
      target: fc.nat(3),
      hold: fc.boolean(),
      ttlMs: fc.option(fc.integer({ min: 1, max: 3000 })),
    }),
  },
)
const plans: fc.Arbitrary<Plan> = fc.record({
  targets: fc.array(target, { minLength: 1, maxLength: 4, size: 'max' }),
  whenAllOpen: fc.oneof(
    fc.constantFrom('fail' as const, 'last-resort' as const),
    fc.nat(3000).map((waitMs) => ({ waitMs })),
  ),
  budget: fc.constantFrom(false as const, { capacity: 2, perCall: 0.5 }, { capacity: 10, perCall: 0.2 }),
  deadlineMs: fc.option(fc.integer({ min: 1, max: 3000 }), { freq: 3 }),
  window: hops,
  policy: hops,
  fallbackOn: fc.constantFrom(
    'none' as const,
    'none' as const,
    'stop-quota' as const,
    'next-invalid' as const,
  ),
  steps: fc.array(step, { minLength: 1, maxLength: 16, size: 'max' }),
  seed: fc.nat(),
})

describe('the first step inline', () => {
  it('is the same as a chain that leads from the start: results, requests, breakers, counters', async () => {
    const codes: Record<string, number> = {}
    let requests = 0
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const inline = await new Stage(plan, true).play()
        const led = await new Stage(plan, false).play()
        expect(inline).toEqual(led)
        const calls = plan.steps.filter((step) => step.do === 'call')
        expect(inline.reports).toHaveLength(calls.length)
        requests += inline.sent.length
        for (const end of inline.ends) {
          const what = (end as { what: unknown } | undefined)?.what
          const code = typeof what === 'string' ? 'answer' : ((what as { code?: string })?.code ?? 'own')
          codes[code] = (codes[code] ?? 0) + 1
        }
      }),
      { numRuns: 400 },
    )
    expect(requests).toBeGreaterThan(2000)
    for (const code of [
      'answer',
      'own',
      'ERR_CIRCUIT_OPEN',
      'ERR_FALLBACK_EXHAUSTED',
      'ERR_DEADLINE_EXCEEDED',
    ])
      expect(codes[code], code).toBeGreaterThan(20)
  })
})
