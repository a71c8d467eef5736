import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from '../../src/classify/classify.ts'
import { failureTable, verdictOf } from '../../src/classify/failure-table.ts'
import type { ClassifyContext, FailureKind } from '../../src/classify/verdict.ts'
import { classifyCase } from '../../src/testing/classify-case.ts'

const withProps = (message: string, props: object): Error => Object.assign(new Error(message), props)
const http = (status: number, body?: unknown, headers: object = {}): Error =>
  withProps(`HTTP ${status}`, { status, headers, body })
const said = (status: number, message: string, rest: object = {}): Error =>
  http(status, { error: { message, ...rest } })
const named = (name: string, props: object = {}): Error => withProps('It failed', { name, ...props })
const thrownBy = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

type Row = readonly [rule: string, error: unknown, expected: FailureKind, context?: ClassifyContext]

const tool: ClassifyContext = { surface: 'tool' }

const rows: readonly Row[] = [
  ['the caller gave up, whatever was thrown', http(500), 'aborted', { callerAborted: true }],
  [
    'our limit fired, though it looks like an abort',
    new DOMException('', 'AbortError'),
    'timeout',
    { ownLimit: 'timeout' },
  ],
  [
    'our limit for the first content',
    new Error('x'),
    'first_content_timeout',
    { ownLimit: 'first_content_timeout' },
  ],
  ['our idle limit', new Error('x'), 'idle_timeout', { ownLimit: 'idle_timeout' }],
  [
    "the caller's abort wins over our limit",
    new Error('x'),
    'aborted',
    { callerAborted: true, ownLimit: 'timeout' },
  ],
  ['the detector of soft failures', { content: [], isError: true }, 'soft_failure', { softFailure: true }],
  ['an abort that is nobody’s', new DOMException('This operation was aborted', 'AbortError'), 'unknown'],
  ['a TimeoutError that is not ours', new DOMException('Timed out', 'TimeoutError'), 'timeout'],

  ['400', http(400), 'invalid_request'],
  ['401', http(401), 'auth'],
  ['402', http(402), 'quota_exhausted'],
  ['403', http(403), 'auth'],
  ['404', http(404), 'not_found'],
  ['408', http(408), 'timeout'],
  ['409', http(409), 'invalid_request'],
  ['410', http(410), 'not_found'],
  ['413', http(413), 'invalid_request'],
  ['418, which nobody lists', http(418), 'invalid_request'],
  ['422', http(422), 'invalid_request'],
  ['429', http(429), 'rate_limit'],
  ['500', http(500), 'server_error'],
  ['504 with a word about time', said(504, 'upstream request timeout'), 'server_error'],
  ['529', http(529), 'overloaded'],
  ['a status only in the text', new Error('503 Service Unavailable'), 'server_error'],
  ['status 200 on an error is no success', withProps('boom', { statusCode: 200 }), 'unknown'],
  [
    'a drop under a status 200',
    withProps('Failed to process', { statusCode: 200, cause: new TypeError('terminated') }),
    'network',
  ],

  ['a quota code on a 429', said(429, 'x', { code: 'insufficient_quota' }), 'quota_exhausted'],
  ['a bill without a code', said(400, 'You have run out of credits.'), 'quota_exhausted'],
  ['a per-minute limit that says quota', said(429, 'Quota exceeded for requests per minute'), 'rate_limit'],
  [
    'an advertisement for credits on a rate limit',
    said(
      429,
      'Rate limit reached on requests per min. Please try again in 20s. Add a payment method at https://example.com/billing',
    ),
    'rate_limit',
  ],
  [
    'a quota per day beside one per minute',
    http(429, {
      error: { details: [{ violations: [{ quotaId: 'RequestsPerMinute' }, { quotaId: 'RequestsPerDay' }] }] },
    }),
    'quota_exhausted',
  ],
  [
    'no money behind a proxy’s rate limit',
    named('RateLimitError', { status: 429, cause: said(429, 'x', { code: 'insufficient_quota' }) }),
    'quota_exhausted',
  ],
  [
    'one request above the limit',
    said(429, 'Limit 30,000, Requested 40,500 on tokens per min', { code: 'rate_limit_exceeded' }),
    'context_window',
  ],
  [
    'a request below the limit',
    said(429, 'Limit 30,000, Used 29,000, Requested 4,500', { code: 'rate_limit_exceeded' }),
    'rate_limit',
  ],
  ['a context code', said(400, 'x', { code: 'context_length_exceeded' }), 'context_window'],
  ['too many tokens a minute are no context', said(429, 'Too many tokens, please wait'), 'rate_limit'],
  [
    'too many output tokens are no context',
    said(400, 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens'),
    'invalid_request',
  ],
  ['a filter under 403', said(403, 'Input was flagged by moderation'), 'content_policy'],
  [
    'a filter code',
    said(400, 'x', { innererror: { code: 'ResponsibleAIPolicyViolation' } }),
    'content_policy',
  ],
  ['an overload under 500', said(500, 'Overloaded'), 'overloaded'],
  ['an overload type in a stream', { type: 'error', error: { type: 'overloaded_error' } }, 'overloaded'],
  ['a server error in a stream', { error: { type: 'server_error' } }, 'server_error'],
  ['a rate limit in a stream', { error: { code: 'rate_limit_exceeded', message: 'x' } }, 'rate_limit'],
  ['a budget that is no money', said(400, 'thinking.budget_tokens: no budget given'), 'invalid_request'],
  ['an account that was closed', said(400, 'This account is no longer active'), 'auth'],
  ['a model that cannot', said(400, 'This model does not support image input'), 'unsupported'],
  [
    'a parameter that is not known',
    said(400, "Unsupported parameter: 'tools' is not supported with this model", {
      code: 'unsupported_parameter',
    }),
    'invalid_request',
  ],
  ['a bad key under 400', said(400, 'API key not valid'), 'auth'],
  ['a wrong model id under 400', said(400, 'The provided model identifier is invalid.'), 'not_found'],

  [
    'our own open circuit',
    named('CircuitOpenError', { code: 'ERR_CIRCUIT_OPEN', cause: http(402) }),
    'circuit_open',
  ],
  ['an open circuit of a gateway in front', said(503, 'x', { code: 'ERR_CIRCUIT_OPEN' }), 'circuit_open'],
  ['our own attempt limit', withProps('x', { code: 'ERR_ATTEMPT_TIMEOUT' }), 'timeout'],
  ['a breaker of another library', withProps('Breaker is open', { code: 'EOPENBREAKER' }), 'circuit_open'],
  ['our own limiter', withProps('x', { code: 'ERR_LOCAL_RATE_LIMIT' }), 'local_rate_limit'],
  ['a spending guard', said(400, 'x', { type: 'budget_exceeded' }), 'budget'],

  ['a TypeError', new TypeError('x is not a function'), 'defect'],
  [
    'a ReferenceError inside causes',
    new Error('Call failed', { cause: new ReferenceError('x is not defined') }),
    'defect',
  ],
  ['a bug that quotes a provider', new TypeError("Cannot read 'rate limit' of undefined"), 'defect'],
  [
    'a bug in a custom fetch',
    named('APIConnectionError', { message: 'Connection error.', cause: new TypeError('x is null') }),
    'defect',
  ],
  ['a SyntaxError of one’s own', thrownBy(() => JSON.parse('{"half')), 'defect'],
  ['a page in place of JSON', thrownBy(() => JSON.parse('<!DOCTYPE html><p>')), 'malformed_response'],
  [
    'a SyntaxError beside a status 200',
    withProps('x', { status: 200, cause: new SyntaxError('Unexpected end') }),
    'malformed_response',
  ],
  ['fetch failed without a cause', new TypeError('fetch failed'), 'network'],
  ['terminated without a cause', new TypeError('terminated'), 'network'],
  [
    'ETIMEDOUT of a system call',
    withProps('connect ETIMEDOUT 192.0.2.1:443', { code: 'ETIMEDOUT', syscall: 'connect' }),
    'network',
  ],
  ['ETIMEDOUT borrowed by a library', withProps('Timed out after 100ms', { code: 'ETIMEDOUT' }), 'timeout'],
  ['all addresses refused', new AggregateError([withProps('x', { code: 'ECONNREFUSED' })]), 'network'],
  ['a TLS code', withProps('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'network'],
  [
    'an undici idle limit',
    new TypeError('terminated', { cause: withProps('x', { code: 'UND_ERR_BODY_TIMEOUT' }) }),
    'idle_timeout',
  ],
  ['the timeout class of a client', new (class APIConnectionTimeoutError extends Error {})('x'), 'timeout'],

  ['an empty answer', http(200, { choices: [] }), 'empty_response'],
  ['a refusal', http(200, { choices: [{ message: { content: null, refusal: 'No.' } }] }), 'content_policy'],
  ['half an answer', http(200, '{"choices":[{"mess'), 'malformed_response'],
  [
    'an answer the SDK could not read',
    named('AI_APICallError', { statusCode: 200, cause: named('AI_JSONParseError') }),
    'malformed_response',
  ],
  [
    'an object that is no JSON',
    named('AI_NoObjectGeneratedError', { cause: named('AI_JSONParseError') }),
    'parse',
  ],
  ['an object against its schema', named('AI_TypeValidationError'), 'validation'],
  ['a call of a tool that is not there', named('AI_NoSuchToolError'), 'tool_contract'],
  ['our stream, cut', withProps('x', { code: 'ERR_STREAM_INTERRUPTED' }), 'truncated_stream'],

  [
    'a tool that says no',
    { content: [{ type: 'text', text: 'No such customer.' }], isError: true },
    'tool_result',
    tool,
  ],
  [
    'a tool that tells of an outage, unless the detector says so',
    { content: [{ type: 'text', text: 'Search returned 503, rate limit exceeded' }], isError: true },
    'tool_result',
    tool,
  ],
  [
    'a tool called with wrong arguments',
    { content: [{ type: 'text', text: 'Invalid arguments for tool search' }], isError: true },
    'tool_contract',
    tool,
  ],
  ['a record that does not exist', http(404, { message: 'Order 1 does not exist' }), 'tool_result', tool],
  [
    'a route that does not exist',
    http(404, { message: 'Route GET:/x not found', error: 'Not Found' }),
    'not_found',
    tool,
  ],
  ['a tool server out of breath', http(429, { message: 'slow down' }), 'rate_limit', tool],
  ['a tool server that is down', http(503, { message: 'unavailable' }), 'server_error', tool],
  [
    'wrong parameters over JSON-RPC',
    withProps('MCP error -32602: x', { code: -32_602 }),
    'tool_contract',
    tool,
  ],
  ['a closed MCP connection', withProps('MCP error -32000: x', { code: -32_000 }), 'network', tool],
  ['an MCP time limit', withProps('MCP error -32001: x', { code: -32_001 }), 'timeout', tool],
  [
    'a forgotten MCP session',
    withProps('x', { code: 404, data: { error: { code: -32_600, message: 'Session not found' } } }),
    'network',
    tool,
  ],

  ['nothing to go by', new Error('boom'), 'unknown'],
  ['undefined', undefined, 'unknown'],
  ['null', null, 'unknown'],
  ['a number', 42, 'unknown'],
  ['a thrown text', 'Overloaded', 'overloaded'],
]

describe('classify', () => {
  it.for(rows)('%s', ([, error, expected, context]) => {
    const verdict = classify(error, context)
    expect(verdict.failure).toBe(expected)
    expect(verdict).toEqual(verdictOf(expected, verdict.retryAfterMs))
  })

  it('has a case for every kind of failure', () => {
    expect(new Set(rows.map(([, , kind]) => kind))).toEqual(new Set(Object.keys(failureTable)))
  })
})

describe('the wait named by a provider', () => {
  const now = Date.UTC(2026, 0, 1)
  const inTenSeconds = new Date(now + 10_000).toUTCString()

  it.each<readonly [string, unknown, number | undefined]>([
    ['fractional milliseconds, rounded up', http(429, {}, { 'retry-after-ms': '1500.2' }), 1501],
    ['milliseconds before seconds', http(429, {}, { 'retry-after': '9', 'retry-after-ms': '20' }), 20],
    ['seconds', http(429, {}, { 'Retry-After': '2' }), 2000],
    ['no wait at all', http(429, {}, { 'retry-after': '0' }), 0],
    [
      'headers of the AI SDK',
      withProps('x', { statusCode: 429, responseHeaders: { 'retry-after': '3' } }),
      3000,
    ],
    ['a Headers object', http(503, {}, new Headers({ 'retry-after': '4' })), 4000],
    ['a date', http(429, {}, { 'retry-after': inTenSeconds }), 10_000],
    ['a date that has passed', http(429, {}, { 'retry-after': new Date(now - 10_000).toUTCString() }), 0],
    ['a negative number', http(429, {}, { 'retry-after': '-5' }), undefined],
    ['a word', http(429, {}, { 'retry-after': 'soon' }), undefined],
    ['RetryInfo', http(429, { error: { details: [{ retryDelay: '26.5s' }] } }), 26_500],
    [
      'RetryInfo in parts',
      http(429, { error: { details: [{ retryDelay: { seconds: '3', nanos: 500_000_000 } }] } }),
      3500,
    ],
    ['a text in parts', said(429, 'Please try again in 1h9m38.016s.'), 4_178_016],
    ['a text in words', said(429, 'You may retry after 2 minutes'), 120_000],
    ['a header before the text', http(429, { message: 'Try again in 9s' }, { 'retry-after': '1' }), 1000],
    ['how long it took is no wait', new Error('Request timed out after 60s, please try again'), undefined],
    ['a wait of our own error', withProps('x', { code: 'ERR_CIRCUIT_OPEN', retryAfterMs: 70 }), 70],
    [
      'an open circuit keeps the header',
      http(503, { error: { code: 'ERR_CIRCUIT_OPEN' } }, { 'retry-after': '7' }),
      7000,
    ],
    ['a bill is not paid by waiting', http(402, {}, { 'retry-after': '7' }), undefined],
  ])('%s', (_, error, expected) => {
    const verdict = classify(error, { now })
    expect(verdict.retryAfterMs).toBe(expected)
    const retryable = failureTable[verdict.failure].retry === 'yes'
    if (retryable) expect(verdict.retry).toBe(expected === undefined ? 'yes' : 'after')
    else expect(verdict.retry).toBe('no')
  })

  it("measures a date from the answer's own date, and ignores it where there is none", () => {
    const date = new Date(now).toUTCString()
    expect(classify(http(429, {}, { 'retry-after': inTenSeconds, date })).retryAfterMs).toBe(10_000)
    expect(classify(http(429, {}, { 'retry-after': inTenSeconds })).retryAfterMs).toBeUndefined()
  })
})

describe('hostile errors', () => {
  const kinds = new Set(Object.keys(failureTable))

  it('never throw, whatever they are', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true }), (value) => {
        expect(kinds).toContain(classify(value).failure)
        expect(kinds).toContain(
          classify(withProps('x', { cause: value, status: value, headers: value })).failure,
        )
      }),
      { numRuns: 300 },
    )
  })

  const refuse = (): never => {
    throw new Error('hands off')
  }
  const circular = new Error('round')
  circular.cause = { error: circular, errors: [circular] }
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const endless: object = new Proxy({}, { get: (_, key) => (typeof key === 'string' ? endless : undefined) })
  const fresh = (): object => Object.defineProperty({}, 'cause', { get: fresh })

  it.each<readonly [string, unknown]>([
    [
      'getters that throw',
      Object.defineProperties({}, { message: { get: refuse }, status: { get: refuse } }),
    ],
    [
      'a proxy that throws',
      new Proxy({}, { get: refuse, ownKeys: refuse, has: refuse, getPrototypeOf: refuse }),
    ],
    ['a revoked proxy', revoked.proxy],
    ['a circle of causes', circular],
    ['a proxy that is everything', endless],
    ['causes without end', fresh()],
    ['headers that throw', http(418, {}, { get: refuse })],
    ['a symbol', Symbol('x')],
    ['a function', refuse],
    ['a text of megabytes', 'a{ '.repeat(2_000_000)],
    ['a message of megabytes', new Error(`retry ${'1s '.repeat(1_000_000)}`)],
    ['JSON without bottom', new Error('{"error":'.repeat(5000) + '1' + '}'.repeat(5000))],
  ])('%s', (_, error) => {
    expect(kinds).toContain(classify(error).failure)
  })
})

describe('a stream that was recorded', () => {
  const role = { choices: [{ delta: { role: 'assistant' }, finish_reason: null }] }
  const text = { choices: [{ delta: { content: 'Hi' }, finish_reason: null }] }
  const end = (reason: string): object => ({ choices: [{ delta: {}, finish_reason: reason }] })

  it.each<readonly [string, readonly unknown[], FailureKind]>([
    ['closes before its end', [role, text], 'truncated_stream'],
    ['closes before its beginning', [], 'truncated_stream'],
    ['ends without a word', [role, end('stop'), '[DONE]'], 'empty_response'],
    ['is filtered before its first word', [role, end('content_filter')], 'content_policy'],
    ['refuses', [role, { choices: [{ delta: { refusal: 'No' } }] }], 'content_policy'],
    ['fails after its first word', [text, { error: { code: 502 } }], 'server_error'],
    [
      'fails in the responses API',
      [
        { type: 'response.created' },
        { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'x' } } },
      ],
      'rate_limit',
    ],
    [
      'fails in the AI SDK',
      [{ type: 'stream-start' }, { type: 'error', error: withProps('x', { statusCode: 529 }) }],
      'overloaded',
    ],
    ['refuses in the responses API', [{ type: 'response.refusal.delta', delta: 'No' }], 'content_policy'],
    ['fails in the responses API without a word', [{ type: 'response.failed' }], 'server_error'],
    ['ends with an error for a reason', [text, end('error')], 'server_error'],
    ['has no fault', [role, text, end('stop')], 'unknown'],
  ])('%s', (_, events, expected) => {
    expect(classifyCase({ kind: 'stream', events: events.map((data) => ({ data })) }).failure).toBe(expected)
  })
})

describe('the failure table', () => {
  it('cannot be changed', () => {
    expect(Object.isFrozen(failureTable)).toBe(true)
    expect(Object.values(failureTable).every((rule) => Object.isFrozen(rule))).toBe(true)
  })

  it('says of every kind how a product owner sees it', () => {
    for (const { seenAs } of Object.values(failureTable)) expect(seenAs).toMatch(/^[A-Z].+\.$/)
  })

  it('drops a wait that is none', () => {
    for (const wait of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(verdictOf('rate_limit', wait)).toEqual(verdictOf('rate_limit'))
    }
  })
})
