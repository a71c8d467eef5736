import { NEUTRAL, SUCCESS } from './execute.ts'
import type { Outcome } from './permit.ts'

const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** An outcome as far as it can be understood, whatever it is: what is none says nothing about the target. */
export function understood(found: Outcome): Outcome {
  if (found === SUCCESS || found === NEUTRAL) return found
  try {
    const { outcome } = found
    if (outcome === 'success') return { outcome, latencyMs: numberOf(found.latencyMs) }
    if (outcome !== 'failure') return NEUTRAL
    const { failure, retryAfterMs, latencyMs, error } = found
    return {
      outcome,
      failure: typeof failure === 'string' ? failure : 'unknown',
      retryAfterMs: numberOf(retryAfterMs),
      latencyMs: numberOf(latencyMs),
      error,
    }
  } catch {
    return NEUTRAL
  }
}
