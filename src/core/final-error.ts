import { FallbackExhaustedError } from './errors.ts'
import type { Run } from './run.ts'

/**
 * What a call without an answer throws: the target's own error where only one was asked or refused, otherwise the story
 * of all of them.
 */
export function finalError<Request, Result, Part, Out>(run: Run<Request, Result, Part, Out>): unknown {
  const records = run.records ?? []
  const last = records.at(-1)
  const named = new Set(records.map(({ target }) => target))
  if (named.size < 2) return last?.error
  const shortest = Math.min(...[...named].map((name) => waitOf(run, name)))
  const callersFault = last?.outcome === 'neutral' && last.failure !== 'circuit_open'
  // one that may be asked at once needs no figure, and where nobody ever may there is none
  const wait = callersFault || shortest === 0 || shortest === Infinity ? undefined : shortest
  return new FallbackExhaustedError(records, wait)
}

/** When a target may be asked again, in ms: what its circuit says, else what its provider said, else at once. */
function waitOf<Request, Result, Part, Out>(run: Run<Request, Result, Part, Out>, name: string): number {
  const target = run.gear.byName.get(name)
  const refusal = target?.peekBreaker(target.modelFor(run.options.model))?.refusal()
  if (refusal !== undefined) return refusal.retryAfterMs ?? Infinity
  return run.records?.findLast((record) => record.target === name)?.retryAfterMs ?? 0
}
