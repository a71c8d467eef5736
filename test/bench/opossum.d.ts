declare module 'opossum' {
  interface Options {
    readonly timeout?: number | false
    readonly errorThresholdPercentage?: number
    readonly volumeThreshold?: number
    readonly rollingCountTimeout?: number
    readonly resetTimeout?: number
    readonly enabled?: boolean
    readonly enableSnapshots?: boolean
    readonly errorFilter?: (error: unknown) => boolean
    readonly state?: object
  }
  /** The part of opossum that is measured here; the package brings no types. */
  class CircuitBreaker<Args extends unknown[] = unknown[], Result = unknown> {
    constructor(action: (...args: Args) => Promise<Result>, options?: Options)
    fire(...args: Args): Promise<Result>
    open(): void
    close(): void
    shutdown(): void
    toJSON(): { readonly state: object; readonly status: object }
  }
  export = CircuitBreaker
}
