import type { ErrorBody } from './provider-errors.ts'

/** What a request asked for; nothing else of its body is kept. */
export interface Ask {
  /** Order of arrival, from 1. */
  readonly number: number
  readonly model: string
  readonly stream: boolean
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** The last thing said is what a tool came to. Default false. */
  readonly hasToolResult?: boolean
  /** Name of the scripted provider. */
  readonly provider: string
}

/** One answer in the shape of an endpoint, cut where faults strike. Strings are finished server-sent events. */
export interface Reply {
  /** The JSON body. */
  readonly whole: unknown
  /** The JSON body of an answer that was never finished. */
  readonly unfinished: unknown
  readonly preamble: readonly string[]
  readonly content: readonly string[]
  /** From the finish reason to the end. */
  readonly finish: readonly string[]
  /** An error event inside the stream. */
  readonly failure: (error: ErrorBody) => string
}

/** Builds the answer of one endpoint; `text` defaults to {@link toAnswerText}. */
export type ReplyShape = (ask: Ask, text?: string) => Reply

/** The same in every run, so that recorded answers can be compared. 2026-01-01 in Unix seconds. */
export const fixedCreated = 1_767_225_600

/** The answer names who gave it: a test sees at once which provider and model replied. */
export function toAnswerText(ask: Pick<Ask, 'provider' | 'model'>): string {
  return `Hello from ${ask.provider}, model ${ask.model}.`
}

export function contentParts(text: string): string[] {
  return text.match(/\s*\S+/g) ?? []
}

export function usageOf(text: string): { input: number; output: number } {
  return { input: 8, output: contentParts(text).length }
}

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}
