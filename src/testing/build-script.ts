import type { ErrorBody } from './provider-errors.ts'
import { providerErrors } from './provider-errors.ts'
import type { Ask, Reply, ReplyShape } from './reply.ts'
import type { Script } from './script.ts'

/** All that decides a script: the request, the endpoint's shape, and chance. */
export interface Scene {
  readonly ask: Ask
  readonly shape: ReplyShape
  /** The endpoint's way to have the client call a tool; undefined = it has none. */
  readonly toolCall?: ReplyShape | undefined
  /** The number in the model name (`slow-2000`), or the row's default. */
  readonly parameter: number
  /** 0 ≤ random() < 1. */
  readonly random: () => number
}

/** A JSON error with the given status. */
export function errorScript(
  status: number,
  error: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): Script {
  return { ...jsonScript(status, { error }, headers), healthy: false }
}

/** A whole JSON body. */
export function jsonScript(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Script {
  return {
    head: { status, headers: { 'content-type': 'application/json', ...headers } },
    parts: [JSON.stringify(value)],
    ending: 'end',
    healthy: true,
  }
}

/** The answer that was asked for. */
export function answerScript({ ask, shape }: Scene, text?: string): Script {
  const { whole, preamble, content, finish } = shape(ask, text)
  if (!ask.stream) return jsonScript(200, whole)
  return { head: okHead(true), parts: [...preamble, ...content, ...finish], ending: 'end', healthy: true }
}

/** An answer that breaks off: `stream` and `json` say what of it is still sent. Default: the headers only. */
export function brokenScript(
  { ask, shape }: Scene,
  how: {
    readonly stream?: (reply: Reply) => readonly string[]
    readonly json?: (whole: string, reply: Reply) => string
    readonly ending?: Script['ending']
  },
): Script {
  const reply = shape(ask)
  const json = how.json?.(JSON.stringify(reply.whole), reply)
  const parts = ask.stream ? (how.stream?.(reply) ?? []) : json === undefined ? [] : [json]
  return { head: okHead(ask.stream), parts, ending: how.ending ?? 'end', healthy: false }
}

function okHead(stream: boolean): NonNullable<Script['head']> {
  const headers: Record<string, string> = stream
    ? { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
    : { 'content-type': 'application/json' }
  return { status: 200, headers }
}

export function someContent(reply: Reply): readonly string[] {
  return [...reply.preamble, ...reply.content.slice(0, 2)]
}

export function half(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2))
}

export function inBandError(): string {
  return JSON.stringify({ error: providerErrors.serverError })
}
