import { setImmediate as settled } from 'node:timers/promises'
import { isSwitchgearError } from '../../src/core/errors.ts'
import type { AttemptRecord } from '../../src/core/errors.ts'
import { Gear } from '../../src/core/gear.ts'
import { Switchgear } from '../../src/core/switchgear.ts'
import type { CallReport, SwitchgearRules } from '../../src/core/switchgear-options.ts'
import type { AttemptContext, TargetOptions } from '../../src/core/target-options.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { ERRORS } from './call-plans.ts'
import type { Call, Plan, Step, TargetPlan } from './call-plans.ts'
import { untruthsIn } from './call-truths.ts'

interface Sent {
  /** The step that is its call. */
  readonly step: number
  readonly target: number
  readonly at: number
  readonly attempt: number
  readonly call: string
}

/** Everything that can be seen of a played plan from outside. */
export interface Story {
  readonly sent: Sent[]
  readonly ends: unknown[]
  readonly reports: (readonly [step: number, report: CallReport])[]
  readonly events: unknown[]
  /** By bucket and outcome: what was told to whoever records. */
  readonly outcomes: Record<string, number>
  /** How many failures were told. */
  failures: number
  stats: unknown
  /** What must never be. */
  readonly broken: string[]
}

const factsOf = ({ error, ...facts }: AttemptRecord) => ({ ...facts, error: String(error) })

function endOf(error: unknown) {
  if (!isSwitchgearError(error)) return { error: String(error) }
  const { code, message, retryAfterMs, target } = error
  const attempts = 'attempts' in error ? (error.attempts as AttemptRecord[]).map(factsOf) : undefined
  return { code, message, retryAfterMs, target, attempts, cause: String(error.cause) }
}

const name = (i: number) => `t${i}`

interface Manner {
  /** False = the chain leads from the start. */
  readonly inline: boolean
  /** The same rules are put in force again where the plan says so. */
  readonly reconfigured: boolean
}

/** Plays a plan. */
export class Stage {
  readonly #clock = new VirtualClock()
  readonly #plan: Plan
  readonly #gear: Gear<number, string, string>
  readonly #switchgear: Switchgear<number, string, string>
  readonly #manner: Manner
  readonly #asked: number[] = []
  readonly story: Story = {
    ...{
      sent: [],
      ends: [],
      reports: [],
      events: [],
      outcomes: {},
      failures: 0,
      stats: undefined,
      broken: [],
    },
  }

  constructor(plan: Plan, manner: Manner) {
    this.#plan = plan
    this.#manner = manner
    this.#gear = new Gear({ ...this.#rules(), clock: this.#clock, random: seededRandom(plan.seed) })
    this.#gear.inline = manner.inline
    this.#switchgear = new Switchgear(this.#gear)
    this.#switchgear.on('failure', () => this.story.failures++)
    if (!plan.recorded) return
    const { outcomes } = this.story
    this.#switchgear.on('outcome', ({ bucket, outcome }) => {
      outcomes[`${bucket} ${outcome}`] = (outcomes[`${bucket} ${outcome}`] ?? 0) + 1
    })
  }

  #rules(): SwitchgearRules<number, string, string> {
    const { targets, whenAllOpen, budget, deadlineMs, window, policy, fallbackOn } = this.#plan
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
    }
  }

  #target(plan: TargetPlan, i: number): TargetOptions<number, string, string> {
    const { maxRetries, baseMs, maxMs, timeoutMs } = plan
    const first = this.#plan.targets[0]!.breaker
    const shares = plan.breaker?.shared === true && first !== null
    const breaker = shares ? first : plan.breaker
    return {
      name: name(i),
      invoke: (request, context) => this.#answer(request, i, context),
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

  #answer(step: number, target: number, { attempt, call, signal }: AttemptContext): Promise<string> {
    const clock = this.#clock
    this.story.sent.push({ step, target, at: clock.now(), attempt, call })
    const { bypass } = this.#plan.steps[step] as Call
    const against = bypass || this.#plan.whenAllOpen === 'last-resort'
    if (!against && this.#switchgear.getCircuitState({ index: target }) === 'open')
      this.story.broken.push(`${name(target)} was asked although its circuit is open`)
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
    if (step.do === 'call') return this.#call(i, step)
    if (step.do === 'reconfigure') {
      if (this.#manner.reconfigured) this.#switchgear.reconfigure(this.#rules())
      return
    }
    const index = step.target % this.#plan.targets.length
    const { hold, ttlMs } = step
    const order = hold ? { hold, ...(ttlMs !== null && { ttlMs }) } : {}
    if (step.do === 'open') this.#switchgear.openCircuit({ index }, order)
    else this.#switchgear.closeCircuit({ index }, order)
  }

  #call(i: number, { deadlineMs, abortMs, targets, noFallback, bypass }: Call): void {
    const { ends, reports } = this.story
    const controller = new AbortController()
    const note = (what: unknown) => void (ends[i] = { at: this.#clock.now(), what })
    const chain = targets?.filter((target) => target < this.#plan.targets.length).map(name) ?? []
    this.#switchgear
      .call(i, {
        ...(chain.length > 0 && { targets: chain }),
        noFallback,
        bypassCircuit: bypass,
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
    this.story.stats = structuredClone(this.#switchgear.stats())
    this.story.broken.push(...untruthsIn(this.#plan, this.story, this.#left()))
    await this.#switchgear.close()
    if (clock.pending > 0) this.story.broken.push(`${clock.pending} timers are left`)
    return this.story
  }

  #left() {
    const stats = this.#switchgear.stats()
    const { chains } = this.#switchgear.supervisor.getSnapshot().context
    return { stats, chains, waiters: this.#gear.waiters.size, tokens: this.#gear.budget?.tokens }
  }
}
