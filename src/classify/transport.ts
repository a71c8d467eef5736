import type { Evidence } from './evidence.ts'
import { read, readText } from './safe-read.ts'
import { toToken } from './text.ts'
import type { FailureKind } from './verdict.ts'

/** Codes of Node, undici, TLS, DNS and the timeout classes of SDKs. Limits come first: they are told apart from a break. */
const rows: readonly (readonly [FailureKind, readonly string[]])[] = [
  ['idle_timeout', ['UND_ERR_BODY_TIMEOUT', 'BodyTimeoutError']],
  [
    'timeout',
    [
      'UND_ERR_HEADERS_TIMEOUT',
      'HeadersTimeoutError',
      'APIConnectionTimeoutError',
      'APITimeoutError',
      'ECONNABORTED',
    ],
  ],
  [
    'network',
    [
      'UND_ERR_CONNECT_TIMEOUT',
      'ECONNRESET',
      'ECONNREFUSED',
      'ECONNCLOSED',
      'EPIPE',
      'EHOSTUNREACH',
      'EHOSTDOWN',
      'ENETUNREACH',
      'ENETDOWN',
      'ENETRESET',
      'EADDRNOTAVAIL',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EAI_FAIL',
      'EAI_NODATA',
      'EAI_NONAME',
      'ENODATA',
      'EPROTO',
      'ERR_NETWORK',
      'ERR_STREAM_PREMATURE_CLOSE',
      'CONNECTION_CLOSED',
      'NOT_CONNECTED',
      'SEND_FAILED',
      'CERT_HAS_EXPIRED',
      'CERT_NOT_YET_VALID',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'HOSTNAME_MISMATCH',
    ],
  ],
]

const exact: ReadonlyMap<string, FailureKind> = new Map(
  rows.flatMap(([kind, codes]) => codes.map((code) => [toToken(code), kind] as const)),
)
const families = /^(?:underr|errtls|errssl|errhttp2|hpe[a-z])/
const order = rows.map(([kind]) => kind)

const isTimedOut = (node: unknown): boolean => read(node, 'code') === 'ETIMEDOUT'
/** Node names the system call; a library that only borrows the code means its own limit. */
const isSystemCall = (node: unknown): boolean =>
  read(node, 'syscall') !== undefined || /^(?:connect|read|write) /.test(readText(node, 'message'))

/** What the transport's codes say. */
export function kindOfTransport(evidence: Evidence): FailureKind | undefined {
  const tokens = [...evidence.codes, ...evidence.names]
  const found = new Set(
    tokens.map((token) => exact.get(token) ?? (families.test(token) ? 'network' : undefined)),
  )
  const kind = order.find((candidate) => found.has(candidate))
  if (kind !== undefined) return kind
  const timedOut = evidence.nodes.filter(isTimedOut)
  if (timedOut.length > 0) return timedOut.some(isSystemCall) ? 'network' : 'timeout'
  return tokens.includes('etimedout') ? 'network' : undefined
}

const fetchTexts =
  /^(?:fetch failed|terminated|failed to fetch|load failed|networkerror when attempting to fetch resource)$/

/** A TypeError of fetch, which says nothing but that the connection failed. */
export const isFetchFailure = (words: readonly string[]): boolean =>
  words.some((text) => fetchTexts.test(text))

/** The class of a connection error, which SDKs put around whatever fetch threw. */
export const isConnectionError = (names: readonly string[]): boolean =>
  names.some((name) => name === 'apiconnectionerror' || name === 'socketerror' || name === 'httpparsererror')
