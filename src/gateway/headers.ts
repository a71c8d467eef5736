import type { IncomingHttpHeaders } from 'node:http'

import type { ChatRequest } from './chat-request.ts'

type Headers = Record<string, string>

// lists of what may pass: a header nobody thought of stays here
const TO_UPSTREAM = ['accept', 'user-agent', 'openai-beta', 'traceparent', 'tracestate']
const TO_CLIENT =
  /^(?:content-type|request-id|x-request-id|openai-(?!organization|project)[\w-]+|x-ratelimit-[\w-]+)$/

/** What of a client's headers may go to a provider. Keys, cookies and hop-by-hop headers do not. */
export function headersToUpstream(headers: IncomingHttpHeaders): Headers {
  const kept: Headers = {}
  for (const name of TO_UPSTREAM) {
    const value = headers[name]
    if (typeof value === 'string') kept[name] = value
  }
  return kept
}

/** What of a provider's headers may go to the client. */
export function headersToClient(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const kept: Headers = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && TO_CLIENT.test(name)) kept[name] = safe(value)
  }
  return kept
}

/** Who answers, and what it took. */
export function switchgearHeaders({ id, sent }: ChatRequest, primary: string): Headers {
  const last = sent.at(-1)
  const asked = new Set(sent.map(({ target }) => target))
  return {
    'x-switchgear-call': id,
    ...(last !== undefined && { 'x-switchgear-target': safe(last.target) }),
    ...(last?.model !== undefined && { 'x-switchgear-model': safe(last.model) }),
    'x-switchgear-attempted-retries': String(sent.length - asked.size),
    'x-switchgear-attempted-fallbacks': String(asked.size - (asked.has(primary) ? 1 : 0)),
  }
}

/** For an answer that a client's own retries would only make worse. */
export function refusalHeaders(retryAfterMs: number | undefined): Headers {
  const never = { 'x-should-retry': 'false' }
  if (retryAfterMs === undefined) return never
  const ms = Math.max(0, Math.ceil(retryAfterMs))
  return { ...never, 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) }
}

/** A name can hold anything, and a client chooses the model: only printable ASCII reaches a header. */
function safe(value: string): string {
  const escape = (char: string) => {
    const code = char.codePointAt(0) ?? 0
    return code >= 0xd800 && code <= 0xdfff ? '%EF%BF%BD' : encodeURIComponent(char)
  }
  return value
    .slice(0, 256)
    .replaceAll(/[^ -~]/gu, escape)
    .trim()
}
