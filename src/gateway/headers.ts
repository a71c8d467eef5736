import type { IncomingHttpHeaders } from 'node:http'

import type { CallRequest } from './call-request.ts'

// lists of what may pass: a header nobody thought of stays here
const TO_UPSTREAM = [
  'accept',
  'user-agent',
  'openai-beta',
  'anthropic-version',
  'anthropic-beta',
  'traceparent',
  'tracestate',
]
const TO_CLIENT =
  /^(?:content-type|request-id|x-request-id|openai-(?!organization|project)[\w-]+|(?:x|anthropic)-ratelimit-[\w-]+)$/

/** What of a client's headers may go to a provider. Keys, cookies and hop-by-hop headers do not. */
export function headersToUpstream(headers: IncomingHttpHeaders): string[] {
  const kept: string[] = []
  for (const name of TO_UPSTREAM) {
    const value = headers[name]
    if (typeof value === 'string') kept.push(name, value)
  }
  return kept
}

// providers send the same few names again and again
const passes = new Map<string, boolean>()
const MOST_NAMES = 1000

function mayPass(name: string): boolean {
  const known = passes.get(name)
  if (known !== undefined) return known
  const answer = TO_CLIENT.test(name)
  if (passes.size < MOST_NAMES) passes.set(name, answer)
  return answer
}

// a browser would run a provider's page at the address of the dashboard
const HARMLESS_TYPE = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:event-stream|plain))\s*(?:;|$)/i
const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** What of a provider's headers may go to the client. */
export function headersToClient(headers: Readonly<Record<string, string | string[] | undefined>>): string[] {
  const kept: string[] = []
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string' || !mayPass(name)) continue
    kept.push(name, name === 'content-type' && !HARMLESS_TYPE.test(value) ? PLAIN_TEXT : safe(value))
  }
  return kept
}

/** Who answers, and what it took; `first` = whose turn it was. */
export function switchgearHeaders({ id, sent }: CallRequest, first: string | undefined): string[] {
  const headers = ['x-switchgear-call', id]
  const last = sent.at(-1)
  if (last !== undefined) headers.push('x-switchgear-target', safe(last.target))
  if (last?.model !== undefined) headers.push('x-switchgear-model', safe(last.model))
  const asked = sent.length < 2 ? sent.length : new Set(sent.map(({ target }) => target)).size
  const own = first !== undefined && sent.some(({ target }) => target === first) ? 1 : 0
  headers.push('x-switchgear-attempted-retries', String(sent.length - asked))
  headers.push('x-switchgear-attempted-fallbacks', String(asked - own))
  return headers
}

/** For an answer that a client's own retries would only make worse. */
export function refusalHeaders(retryAfterMs: number | undefined): string[] {
  const never = ['x-should-retry', 'false']
  if (retryAfterMs === undefined) return never
  const ms = Math.max(0, Math.ceil(retryAfterMs))
  return [...never, 'retry-after', String(Math.ceil(ms / 1000)), 'retry-after-ms', String(ms)]
}

/** A name can hold anything, and a client chooses the model: only printable ASCII reaches a header. */
function safe(value: string): string {
  if (value.length <= 256 && /^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value
  const escape = (char: string) => {
    const code = char.codePointAt(0) ?? 0
    return code >= 0xd800 && code <= 0xdfff ? '%EF%BF%BD' : encodeURIComponent(char)
  }
  return value
    .slice(0, 256)
    .replaceAll(/[^ -~]/gu, escape)
    .trim()
}
