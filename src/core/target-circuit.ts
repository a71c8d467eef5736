import type { Buckets, WantedBucket } from './buckets.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'

/** Where a target's circuit is found: one for all models, or one a model. */
export class TargetCircuit {
  readonly wanted: WantedBucket
  readonly #buckets: Buckets
  readonly #shared: CircuitBreaker | undefined

  constructor(buckets: Buckets, wanted: WantedBucket) {
    this.wanted = wanted
    this.#buckets = buckets
    this.#shared = wanted.isolates ? undefined : buckets.obtain(wanted.bucket, wanted.rules)
  }

  bucketFor(model: string | undefined): string {
    const { bucket, isolates } = this.wanted
    return isolates ? `${bucket}/${model ?? ''}` : bucket
  }

  /** The breaker for a resolved model; made on first use. */
  breakerFor(model: string | undefined): CircuitBreaker {
    return this.#shared ?? this.#buckets.obtain(this.bucketFor(model), this.wanted.rules, model)
  }

  /** The same, without making one. */
  peek(model: string | undefined): CircuitBreaker | undefined {
    return this.#shared ?? this.#buckets.peek(this.bucketFor(model))
  }

  /** Looks at the breaker without making one: undefined = it was never used. A saved circuit counts as used. */
  look<T>(model: string | undefined, at: (breaker: CircuitBreaker | undefined) => T): T {
    return this.#buckets.look(this.bucketFor(model), this.wanted.rules, model, at)
  }
}
