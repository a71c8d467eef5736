import type { RuleReading, TrippingRule } from '../../machines/tripping.ts'
import type { TrippingPolicy } from './tripping-options.ts'
import { SlicedWindow } from './window.ts'

/** Counts what one tripping rule judges. */
export interface Counter extends RuleReading {
  add(failed: boolean, latencyMs: number, now: number): void
  expire(now: number): void
  reset(): void
}

class ConsecutiveCounter implements Counter {
  count = 0
  get calls(): number {
    return this.count
  }
  add(failed: boolean): void {
    this.count = failed ? this.count + 1 : 0
  }
  expire(): void {}
  reset(): void {
    this.count = 0
  }
}

class LeakyCounter extends ConsecutiveCounter {
  override add(failed: boolean): void {
    this.count = failed ? this.count + 1 : Math.max(0, this.count - 1)
  }
}

class RollingCounter extends SlicedWindow implements Counter {
  add(failed: boolean, _latencyMs: number, now: number): void {
    this.sample(failed, now)
  }
}

class LatencyCounter extends SlicedWindow implements Counter {
  readonly #slowMs: number
  constructor(windowMs: number, slowMs: number) {
    super(windowMs)
    this.#slowMs = slowMs
  }
  add(_failed: boolean, latencyMs: number, now: number): void {
    this.sample(latencyMs > this.#slowMs, now)
  }
}

/** Asks the user's own policy; what it throws is reported and means no. */
class CustomCounter implements Counter {
  count = 0
  readonly #policy: TrippingPolicy
  readonly #key: string
  readonly #report: (error: unknown) => void
  constructor(policy: TrippingPolicy, key: string, report: (error: unknown) => void) {
    this.#policy = policy
    this.#key = key
    this.#report = report
  }
  get calls(): number {
    return this.count
  }
  add(failed: boolean): void {
    this.count = 0
    this.#ask(() => {
      if (!failed) return this.#policy.onSuccess(this.#key)
      const answer: unknown = this.#policy.onFailure(this.#key)
      this.count = answer === true ? 1 : 0
      return answer
    })
  }
  expire(): void {}
  reset(): void {
    this.count = 0
    this.#ask(() => this.#policy.reset(this.#key))
  }
  #ask(question: () => unknown): void {
    try {
      const answer = question()
      // a policy is synchronous; one that is not must not take the process with it
      if (answer instanceof Promise) answer.catch(this.#report)
    } catch (error) {
      this.#report(error)
    }
  }
}

export function createCounter(
  rule: TrippingRule,
  policy: TrippingPolicy | null,
  key: string,
  report: (error: unknown) => void,
): Counter {
  if (policy !== null) return new CustomCounter(policy, key, report)
  switch (rule.kind) {
    case 'rolling':
      return new RollingCounter(rule.windowMs)
    case 'latency':
      return new LatencyCounter(rule.windowMs, rule.slowMs)
    case 'leaky':
      return new LeakyCounter()
    default:
      return new ConsecutiveCounter()
  }
}
