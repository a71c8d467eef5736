import { answerScript, brokenScript, errorScript, half, inBandError, someContent } from './build-script.ts'
import type { Scene } from './build-script.ts'
import { modelNotFound, providerErrors } from './provider-errors.ts'
import type { Script } from './script.ts'

/** One row of {@link faultTable}. */
export interface Fault {
  /** The model name that selects this row. */
  readonly name: string
  /** The row also answers to `name-<number>`; what the number means and what it is when left out. */
  readonly parameter?: { readonly unit: string; readonly fallback: number }
  readonly description: string
  readonly script: (scene: Scene) => Script
}

/** What a switched-on outage looks like: an error 503, no answer at all, or a connection reset at once. */
export const outageKinds = ['503', 'hang', 'refuse'] as const
export type OutageKind = (typeof outageKinds)[number]

const silence: Script = { parts: [], ending: 'hang', healthy: false }

export const outageScripts: Readonly<Record<OutageKind, Script>> = {
  '503': errorScript(503, providerErrors.unavailable),
  hang: silence,
  refuse: { parts: [], ending: 'cut', healthy: false },
}

function row(
  name: string,
  description: string,
  script: Fault['script'],
  parameter?: Fault['parameter'],
): Fault {
  return { name, description, script, ...(parameter === undefined ? {} : { parameter }) }
}

/** Every fault the scripted provider knows, one row each. A model name that is in no row is answered like `ok`. */
export const faultTable: readonly Fault[] = [
  row('ok', 'a normal answer, whole or streamed', (scene) => answerScript(scene)),
  row(
    'slow',
    'a normal answer after <ms> of silence',
    (scene) => ({
      ...answerScript(scene),
      waitMs: scene.parameter,
    }),
    { unit: 'ms', fallback: 1000 },
  ),
  row(
    'drip',
    'a normal stream with <ms> of silence between its parts',
    (scene) => ({
      ...answerScript(scene),
      gapMs: scene.parameter,
    }),
    { unit: 'ms', fallback: 100 },
  ),
  row(
    'tool-call',
    'a call of the tool get_weather for Paris; a normal answer once its result is there',
    (scene) =>
      scene.ask.hasToolResult || scene.toolCall === undefined
        ? answerScript(scene)
        : answerScript({ ...scene, shape: scene.toolCall }),
  ),
  row('500', 'server error', () => errorScript(500, providerErrors.serverError)),
  row('503', 'service unavailable', () => errorScript(503, providerErrors.unavailable)),
  row('529', 'overloaded', () => errorScript(529, providerErrors.overloaded)),
  row('html', '502 with an HTML page of a proxy', () => ({
    head: { status: 502, headers: { 'content-type': 'text/html' } },
    parts: [providerErrors.badGateway],
    ending: 'end',
    healthy: false,
  })),
  row(
    '429',
    'rate limit with Retry-After: <seconds>',
    ({ parameter }) => errorScript(429, providerErrors.rateLimit, { 'retry-after': String(parameter) }),
    { unit: 'seconds', fallback: 1 },
  ),
  row('quota', '429 insufficient_quota: the account has no credit left', () =>
    errorScript(429, providerErrors.quota),
  ),
  row('401', 'wrong API key', () => errorScript(401, providerErrors.auth)),
  row('404', 'no such model', ({ ask }) => errorScript(404, modelNotFound(ask.model))),
  row('400', 'invalid request', () => errorScript(400, providerErrors.badRequest)),
  row('context-length', '400 context_length_exceeded', () => errorScript(400, providerErrors.contextLength)),
  row('content-filter', '400 content_filter', () => errorScript(400, providerErrors.contentFilter)),
  row('hang', 'silence: not even headers', () => silence),
  row('hang-content', 'headers and preamble, then silence', (scene) =>
    brokenScript(scene, { stream: ({ preamble }) => preamble, ending: 'hang' }),
  ),
  row('keep-alives', 'headers, then keep-alives only: SSE comments, or blank lines before JSON', (scene) => ({
    ...brokenScript(scene, { ending: 'keep-alive' }),
    keepAlive: scene.ask.stream ? ': keep-alive\n\n' : '\n',
  })),
  row('stall', 'some content, then silence', (scene) =>
    brokenScript(scene, { stream: someContent, json: half, ending: 'hang' }),
  ),
  row('cut', 'some content, then the socket is destroyed', (scene) =>
    brokenScript(scene, { stream: someContent, json: half, ending: 'cut' }),
  ),
  row('cut-json', 'a response that ends cleanly in the middle of its JSON', (scene) =>
    brokenScript(scene, {
      stream: (reply) => [...reply.preamble, `${half(reply.content[0] ?? '')}\n\n`],
      json: half,
    }),
  ),
  row('stream-error', 'an error event in a 200 stream, before any content', (scene) =>
    brokenScript(scene, {
      stream: (reply) => [...reply.preamble, reply.failure(providerErrors.serverError)],
      json: inBandError,
    }),
  ),
  row('stream-error-late', 'an error event in a 200 stream, after some content', (scene) =>
    brokenScript(scene, {
      stream: (reply) => [...someContent(reply), reply.failure(providerErrors.serverError)],
      json: inBandError,
    }),
  ),
  row('empty', '200 without any content', (scene) => ({ ...answerScript(scene, ''), healthy: false })),
  row('no-marker', 'content, then a clean end without finish reason or [DONE]', (scene) =>
    brokenScript(scene, {
      stream: (reply) => [...reply.preamble, ...reply.content],
      json: (_whole, reply) => JSON.stringify(reply.unfinished),
    }),
  ),
  row(
    'flaky',
    '<percent> of the requests get a 503, the others a normal answer',
    (scene) =>
      scene.random() * 100 < scene.parameter
        ? errorScript(503, providerErrors.unavailable)
        : answerScript(scene),
    { unit: 'percent', fallback: 30 },
  ),
]

const rows = new Map(faultTable.map((fault) => [fault.name, fault]))

/** The row a model name selects, or `undefined`. `429-3` is row `429` with the parameter 3. */
export function findFault(model: string): { fault: Fault; parameter: number } | undefined {
  const exact = rows.get(model)
  if (exact !== undefined) return { fault: exact, parameter: exact.parameter?.fallback ?? 0 }
  const [, name = '', digits = ''] = /^(.+)-(\d{1,7})$/.exec(model) ?? []
  const fault = rows.get(name)
  return fault?.parameter === undefined ? undefined : { fault, parameter: Number(digits) }
}

/** The table as text, one line a fault. */
export function formatFaults(): string {
  const names = faultTable.map(({ name, parameter }) =>
    parameter === undefined ? name : `${name}, ${name}-<${parameter.unit}>`,
  )
  const width = Math.max(...names.map((name) => name.length))
  return faultTable.map(({ description }, i) => `  ${names[i]?.padEnd(width)}  ${description}`).join('\n')
}
