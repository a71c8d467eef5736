declare module 'opossum' {
  /** The part of opossum that is measured here; the package brings no types. */
  class CircuitBreaker<Args extends unknown[] = unknown[], Result = unknown> {
    constructor(
      action: (...args: Args) => Promise<Result>,
      options?: { timeout?: number | false; errorThresholdPercentage?: number; resetTimeout?: number },
    )
    fire(...args: Args): Promise<Result>
    shutdown(): void
  }
  export = CircuitBreaker
}
