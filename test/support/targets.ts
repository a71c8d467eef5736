import { failing, status } from './rig.ts'
import type { Target } from './rig.ts'

export const RULES = { threshold: 3, cooldownMs: 10_000 }

/** A target behind a circuit, without retries. */
export const target = (name: string, invoke: Target['invoke'], more: Partial<Target> = {}): Target => ({
  name,
  ...(invoke !== undefined && { invoke }),
  maxRetries: 0,
  circuitBreaker: RULES,
  ...more,
})

/** The same rules but for one number. */
export const other = (threshold: number) => ({ circuitBreaker: { ...RULES, threshold } })

export const isolating = (threshold = RULES.threshold) => ({
  circuitBreaker: { ...RULES, threshold, isolateByModel: true },
})

export const down = failing(status(500))

/** A target that counts how often it was asked. */
export function counting(invoke: NonNullable<Target['invoke']>) {
  const counted = { asked: 0, invoke }
  counted.invoke = (request, context) => {
    counted.asked++
    return invoke(request, context)
  }
  return counted
}

/** A target whose one request is under way until it is failed, or answered. */
export function hanging() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return { invoke: () => promise, fail: () => reject(status(500)), answer: () => resolve('late') }
}
