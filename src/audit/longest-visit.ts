import type { AuditedTarget } from './audited.ts'

/** The longest that one visit may take, its retries and the waits between them included; Infinity = no limit. */
export function longestVisitMs({ timeoutMs, maxRetries, retry }: AuditedTarget): number {
  let total = timeoutMs * (maxRetries + 1)
  for (let attempt = 0; attempt < maxRetries; attempt++) {
    total += Math.min(retry.baseMs * retry.multiplier ** attempt, retry.maxMs)
  }
  return total
}
