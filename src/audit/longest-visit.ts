import type { AuditedTarget } from './audited.ts'

/**
 * The longest that one visit may take, its retries and the waits between them included; Infinity = no limit. A wait is as
 * long as the longest one allowed: an overloaded provider, or one that names a wait, may need it.
 */
export const longestVisitMs = ({ timeoutMs, maxRetries, retry }: AuditedTarget): number =>
  timeoutMs * (maxRetries + 1) + (maxRetries === 0 ? 0 : maxRetries * retry.maxMs)

/** How long a call waits for a target that never answers. It is asked again only where nobody else is left to ask. */
export function hangingVisitMs({ timeoutMs, maxRetries, retry }: AuditedTarget, isLast: boolean): number {
  if (!isLast) return timeoutMs
  let total = timeoutMs * (maxRetries + 1)
  for (let attempt = 0; attempt < maxRetries; attempt++) {
    total += Math.min(retry.baseMs * retry.multiplier ** attempt, retry.maxMs)
  }
  return total
}
