import type { Evidence } from './evidence.ts'
import { isBag, isFilled, keys, read } from './safe-read.ts'

type Wait = number | undefined

const headerKeys = ['headers', 'responseHeaders']
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const duration = String.raw`((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])\s*)+)`
const cue = String.raw`(?:try|retry|again|wait|available|resets?|back|next|possible)`
const cueFirst = new RegExp(String.raw`\b${cue}\b[^.?!\d]{0,40}\b${duration}`, 'i')
const durationFirst = new RegExp(
  String.raw`(?<!\bout |\btimeout )\b(?:in|after|for)\s+${duration}[^.?!\d]{0,40}\b${cue}\b`,
  'i',
)

/** A clean number of whole ms, rounded up: to come back early is to be refused again. */
function toMs(ms: number): Wait {
  return Number.isFinite(ms) && ms >= 0
    ? Math.min(Math.ceil(ms - 1e-6) + 0, Number.MAX_SAFE_INTEGER)
    : undefined
}

const toNumber = (value: unknown): number =>
  typeof value === 'number' ? value : isFilled(value) && value.trim() !== '' ? Number(value) : Number.NaN

const toDate = (value: unknown): number => (isFilled(value) ? Date.parse(value) : Number.NaN)

function header(headers: unknown, name: string): unknown {
  const get = read(headers, 'get')
  if (typeof get === 'function') {
    try {
      const value: unknown = get.call(headers, name)
      if (value !== undefined && value !== null) return value
    } catch {
      return undefined
    }
  }
  const key = keys(headers).find((candidate) => candidate.toLowerCase() === name)
  const value = key === undefined ? undefined : read(headers, key)
  return Array.isArray(value) ? value[0] : value
}

function fromHeaders(headers: unknown, now: number | undefined): Wait {
  const precise = toMs(toNumber(header(headers, 'retry-after-ms')))
  if (precise !== undefined) return precise
  const value = header(headers, 'retry-after')
  const seconds = toNumber(value)
  if (!Number.isNaN(seconds)) return toMs(seconds * 1000)
  if (!isFilled(value)) return undefined
  const sentAt = toDate(header(headers, 'date'))
  const from = now ?? sentAt
  return toMs(Math.max(0, toDate(value) - from))
}

/** "1.574s", "9m38.016s", "86400 seconds" in ms. */
function durationMs(text: string): Wait {
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const short = /^(?:ms|milli)/i.test(unit) ? 'ms' : unit.charAt(0).toLowerCase()
    total += Number(amount) * (unitMs[short] ?? Number.NaN)
  }
  return toMs(total)
}

/** Fields of our own errors, of provider bodies and of Google's RetryInfo. */
function fromFields(node: unknown): Wait {
  const own = [read(node, 'retryAfterMs'), read(node, 'retry_after_ms')].map(toNumber).map(toMs)
  const seconds = ['retry_after', 'retry_after_seconds', 'estimated_time'].map((key) =>
    toMs(toNumber(read(node, key)) * 1000),
  )
  const delay = read(node, 'retryDelay')
  const google = isFilled(delay)
    ? durationMs(delay)
    : isBag(delay)
      ? toMs(toNumber(read(delay, 'seconds') ?? 0) * 1000 + toNumber(read(delay, 'nanos') ?? 0) / 1e6)
      : undefined
  return [...own, google, ...seconds].find((wait) => wait !== undefined)
}

function fromText(text: string): Wait {
  const found = cueFirst.exec(text)?.[1] ?? durationFirst.exec(text)?.[1]
  return found === undefined ? undefined : durationMs(found)
}

const firstOf = <T>(values: readonly T[], wait: (value: T) => Wait): Wait => {
  for (const value of values) {
    const found = wait(value)
    if (found !== undefined) return found
  }
  return undefined
}

/** The wait named in the body or the text, in ms: unlike a header it is about this failure and no other. */
export const namedWaitMs = (evidence: Evidence): number | undefined =>
  firstOf(evidence.nodes, fromFields) ?? firstOf(evidence.texts, fromText)

/**
 * The wait the provider named, in ms. Order: `retry-after-ms`, `retry-after` (seconds or an HTTP date), fields of
 * the body, text.
 *
 * @param now Epoch ms to measure HTTP dates from. Default: the answer's own `date` header.
 */
export const retryAfterMsOf = (evidence: Evidence, now?: number): number | undefined =>
  firstOf(evidence.nodes, (node) => firstOf(headerKeys, (key) => fromHeaders(read(node, key), now))) ??
  namedWaitMs(evidence)
