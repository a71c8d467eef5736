/** A circuit breaker around `fetch`: the one line that protects an existing SDK client. */
export { breakerFetch } from './breaker-fetch.ts'
export type { BreakerFetch, FetchRegistry } from './breaker-fetch.ts'
export type { BreakerFetchOptions, FetchLike } from './options.ts'
