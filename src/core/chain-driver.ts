import { createActor } from 'xstate'
import type { ActorRefFrom } from 'xstate'
import { chainMachine } from '../../machines/chain.machine.ts'
import type { ChainEvent, Refusal } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { CallEnd } from './call-observer.ts'
import { finalError } from './final-error.ts'
import { actorClock } from './host.ts'
import type { Run } from './run.ts'
import type { Target } from './target.ts'

type Chain = ActorRefFrom<typeof chainMachine>
type Effect = 'choose' | 'visit' | 'backOff' | 'wait' | 'giveUp' | 'nothing'

/** What the runtime does in each state of the chain. */
const EFFECTS: Record<string, Effect> = {
  choosing: 'choose',
  attempting: 'visit',
  backingOff: 'backOff',
  waiting: 'wait',
  stopped: 'giveUp',
  exhausted: 'giveUp',
}

/** Does what the chain decides, and tells it what came of it. */
export class ChainDriver<Request, Result, Part, Out> {
  readonly #run: Run<Request, Result, Part, Out>
  readonly #chain: Chain
  #timer: unknown
  #waiting = false
  /** A token is taken for a retry that is not sent yet. */
  #token = false

  constructor(run: Run<Request, Result, Part, Out>) {
    this.#run = run
    const { gear, startedAt, deadlineAt, id } = run
    const targets = run.ownTargets?.map(({ name }) => name) ?? gear.plan.targets
    const noFallback = run.options.noFallback === true
    const plan = { ...gear.plan, targets, noFallback, startedAt, deadlineAt }
    this.#chain = createActor(chainMachine, { input: { plan }, clock: actorClock(gear.clock, gear.notifier) })
    this.#chain.subscribe({ error: (error) => this.#broken(error) })
    this.#chain.start()
    gear.supervisor.send({ type: 'chain.started', call: id, chain: this.#chain, at: gear.clock.now() })
  }

  /** Tells the chain what happened inline before it was there. */
  replay(refused: readonly Refusal[], admitted: string | undefined): void {
    const at = this.#run.startedAt
    for (const refusal of refused) this.tell({ type: 'target.refused', at, ...refusal })
    if (admitted !== undefined) this.#admitted(admitted, at)
  }

  tell(event: ChainEvent): void {
    this.#chain.send(event)
  }

  #admitted(target: string, at: number): void {
    this.tell({ type: 'target.admitted', at, target, bypassed: this.#run.bypassed })
  }

  attemptFailed(error: unknown, verdict: Verdict, at: number): void {
    this.act(() => {
      const { gear } = this.#run
      const isLastTarget = this.#chain.getSnapshot().context.ahead.length === 0
      const route = gear.routeOf(error, verdict, isLastTarget)
      // fallbackOn may have aborted the call
      if (this.#run.ended) return
      const budget = gear.budget?.affordsRetry ?? true
      this.tell({ type: 'attempt.failed', at, verdict, roll: gear.random(), budget, route })
    })
  }

  /** Does what the chain's state asks for, after `first`, until something has to be waited for. */
  act(first?: () => void): void {
    try {
      first?.()
      while (!this.#run.ended && this.#step());
    } catch (error) {
      this.#run.fail(error)
    }
  }

  #step(): boolean {
    const { value } = this.#chain.getSnapshot()
    const effect = EFFECTS[typeof value === 'string' ? value : value.visiting] ?? 'nothing'
    // going on with the same visit, or not
    if (effect !== 'backOff' && effect !== 'visit') {
      this.#giveBack()
      this.#run.endVisit(this.#now)
    }
    // a listener may have aborted the call meanwhile
    return !this.#run.ended && this[effect]()
  }

  protected nothing(): boolean {
    return false
  }

  protected choose(): boolean {
    const { gear } = this.#run
    const target = this.#targetCalled(this.#chain.getSnapshot().context.ahead[0])
    const refusal = this.#run.admit(target)
    if (this.#run.ended) return false
    const at = gear.clock.now()
    if (refusal === undefined) this.#admitted(target.name, at)
    else this.tell({ type: 'target.refused', at, ...refusal })
    return true
  }

  protected visit(): boolean {
    const { target: name, attempt, lastResort } = this.#chain.getSnapshot().context
    const target = this.#targetCalled(name)
    if (lastResort) this.#run.admitAnyway(target)
    if (attempt > 1) target.stats.retries++
    this.#token = false
    this.#run.attemptAt(target, attempt, this.#run.gear.clock.now())
    return false
  }

  #targetCalled(name: string | null | undefined): Target<Request, Result, Part> {
    const target = this.#run.gear.byName.get(name ?? '')
    if (target === undefined) throw new Error(`the chain asks for '${name}', which is no target`)
    return target
  }

  protected backOff(): boolean {
    this.#run.gear.budget?.withdraw()
    this.#token = true
    this.#at(() =>
      this.tell({ type: 'backoff.elapsed', at: this.#now, permitIsCurrent: this.#run.permitIsCurrent }),
    )
    return false
  }

  /** A retry costs a token; one that is never sent does not. */
  #giveBack(): void {
    if (this.#token) this.#run.gear.budget?.giveBack()
    this.#token = false
  }

  protected wait(): boolean {
    this.#waiting = true
    this.#run.gear.waiters.add(this)
    this.#at(() => this.tell({ type: 'wait.elapsed', at: this.#now }))
    return false
  }

  /** A circuit has moved: whoever waits for one asks again. */
  wake(): void {
    if (!this.#waiting) return
    this.#stopWaiting()
    this.act(() => this.tell({ type: 'circuit.changed', at: this.#now }))
  }

  protected giveUp(): boolean {
    const error = finalError(this.#run)
    this.#run.finish(endOf(this.#run), this.#now)
    this.#run.reject(error)
    return false
  }

  get #now(): number {
    return this.#run.gear.clock.now()
  }

  #at(then: () => void): void {
    const { clock } = this.#run.gear
    const until = this.#chain.getSnapshot().context.waitUntil ?? clock.now()
    this.#timer = clock.setTimeout(() => {
      this.#stopWaiting()
      this.act(then)
    }, until - clock.now())
  }

  #stopWaiting(): void {
    this.#run.gear.clock.clearTimeout(this.#timer)
    if (this.#waiting) this.#run.gear.waiters.delete(this)
    this.#waiting = false
  }

  /** Lets go of the chain. */
  end(): void {
    this.#stopWaiting()
    this.#giveBack()
    const { gear, id } = this.#run
    this.#chain.stop()
    gear.supervisor.send({ type: 'chain.ended', call: id, at: gear.clock.now() })
  }

  /** A chain that fails takes its call with it, and nobody else. */
  #broken(error: unknown): void {
    this.#run.gear.notifier.report('the chain', error)
    this.#run.fail(error)
  }
}

/** Nobody is down where the caller's own request was at fault. */
function endOf({
  attempts,
  records,
}: Pick<Run<never, never, never, never>, 'attempts' | 'records'>): CallEnd {
  const last = records?.at(-1)
  if (last?.outcome === 'neutral' && last.failure !== 'circuit_open') return 'rejected'
  return attempts === 0 ? 'refused' : 'failed'
}
