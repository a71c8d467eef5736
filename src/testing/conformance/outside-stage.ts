import { setImmediate } from 'node:timers/promises'
import { errorText } from '../scenario/compare.ts'
import type { BreakerStep, SettleInput, SettleVerb } from '../scenario/scenario.ts'
import { NotOffered, ScriptedFailure } from './adapter.ts'
import type { BreakerUnderTest } from './adapter.ts'

// a breaker may take some turns of the event loop to make up its mind; one that makes callers wait takes for ever
const MOST_TURNS = 20

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS && !isSo(); turn++) await setImmediate()
}

/** One call behind the breaker. */
class Call {
  admitted = false
  over = false
  readonly #hangUp = new AbortController()
  readonly #work = Promise.withResolvers<void>()

  constructor(breaker: BreakerUnderTest) {
    const work = () => {
      this.admitted = true
      return this.#work.promise
    }
    const end = () => void (this.over = true)
    // nobody may wait for it
    this.#work.promise.catch(() => {})
    try {
      breaker.execute(work, this.#hangUp.signal).then(end, end)
    } catch {
      end()
    }
  }

  /** Neither let in nor refused. */
  get waits(): boolean {
    return !this.admitted && !this.over
  }

  async decided(): Promise<this> {
    await until(() => this.admitted || this.over)
    return this
  }

  async end(verb: SettleVerb, { failure = 'server_error', code, retryAfterMs }: SettleInput): Promise<void> {
    if (verb === 'succeed') this.#work.resolve()
    else {
      const outcome = verb === 'fail' ? 'failure' : 'neutral'
      const kind = verb === 'fail' ? failure : verb === 'ignore' ? 'invalid_request' : 'aborted'
      const error = Object.assign(new ScriptedFailure(outcome, kind, retryAfterMs ?? undefined), { code })
      if (verb === 'cancel') this.#hangUp.abort(error)
      this.#work.reject(error)
    }
    await until(() => this.over)
    await setImmediate()
  }
}

const NO_WORK = { open: 'opened by hand', close: 'closed by hand', restart: 'restarted' } as const

/** Any breaker, driven by the steps of a scenario and seen from outside. */
export class OutsideStage {
  readonly #breaker: BreakerUnderTest
  readonly #calls = new Map<string, Call | 'of a former process'>()
  #now = 0

  constructor(breaker: BreakerUnderTest) {
    this.#breaker = breaker
  }

  get now(): number {
    return this.#now
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms
    await this.#breaker.advance(ms)
  }

  /** One more caller. */
  ask(): Promise<Call> {
    return new Call(this.#breaker).decided()
  }

  /** Does what the step says; answers with what did not go as it should. */
  async do(step: BreakerStep): Promise<string | undefined> {
    await this.advance(Math.max(0, (step.at ?? this.#now + (step.advance ?? 0)) - this.#now))
    const { admit, reject, open, close, restart, calls } = step
    if (admit !== undefined) return this.#admit(admit)
    if (reject !== undefined) return this.#reject(reject)
    if (calls !== undefined) return this.#burst(calls)
    if (open !== undefined) return this.#command('open', (breaker) => breaker.open?.(open))
    if (close !== undefined) return this.#command('close', (breaker) => breaker.close?.(close))
    if (restart !== undefined) return this.#restart(restart.downMs)
    for (const verb of ['succeed', 'fail', 'ignore', 'cancel'] as const) {
      const call = this.#calls.get(step[verb] ?? '')
      if (call instanceof Call) await call.end(verb, step)
    }
    return undefined
  }

  async #admit(name: string): Promise<string | undefined> {
    const call = await this.ask()
    this.#calls.set(name, call)
    return call.admitted
      ? undefined
      : `'${name}' should be let in, but ${call.waits ? 'waits' : 'is refused'}`
  }

  async #reject(name: string): Promise<string | undefined> {
    const { admitted } = await this.ask()
    return admitted ? `'${name}' should be refused, but is let in` : undefined
  }

  async #burst({ outcome, times, ...input }: NonNullable<BreakerStep['calls']>): Promise<string | undefined> {
    for (let i = 1; i <= times; i++) {
      const call = await this.ask()
      if (!call.admitted) return `call ${i} of ${times} should be let in, but is refused`
      await call.end(outcome, input)
    }
    return undefined
  }

  async #command(
    what: keyof typeof NO_WORK,
    run: (breaker: BreakerUnderTest) => void | Promise<void>,
  ): Promise<string | undefined> {
    if (this.#breaker[what] === undefined) throw new NotOffered(`cannot be ${NO_WORK[what]}`)
    try {
      await run(this.#breaker)
      await setImmediate()
      return undefined
    } catch (error) {
      if (error instanceof NotOffered) throw error
      return `it should be ${NO_WORK[what]}, but that ends with ${errorText(error)}`
    }
  }

  #restart(downMs: number): Promise<string | undefined> {
    for (const name of this.#calls.keys()) this.#calls.set(name, 'of a former process')
    this.#now += downMs
    return this.#command('restart', (breaker) => breaker.restart?.(downMs))
  }
}
