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
  const waits = [...named].flatMap((name) => waitOf(run, name))
  const callersFault = last?.outcome === 'neutral' && last.failure !== 'circuit_open'
  return new FallbackExhaustedError(
    records,
    callersFault || waits.length === 0 ? undefined : Math.min(...waits),
  )
}

/** When a target may be asked again, in ms: what its circuit says, else what its provider said. */
function waitOf<Request, Result, Part, Out>(run: Run<Request, Result, Part, Out>, name: string): number[] {
  const target = run.gear.byName.get(name)
  const refusal = target?.peekBreaker(target.modelFor(run.options.model))?.refusal()
  if (refusal !== undefined) return refusal.retryAfterMs === null ? [] : [refusal.retryAfterMs]
  const said = run.records?.findLast((record) => record.target === name)?.retryAfterMs
  return said === undefined ? [] : [said]
}
