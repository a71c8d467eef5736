import type { Attributes } from '@opentelemetry/api'
import { isBag, isFilled, items, read, readPath } from '../classify/safe-read.ts'

/** What is known of a target besides its name, in the words of the GenAI conventions. */
export interface GenAiTarget {
  /** Such as `openai`, `anthropic`, `azure.ai.openai`, `aws.bedrock`. Default: left out. */
  readonly provider?: string
  /** `chat`, `embeddings`, `execute_tool` … Default: what the request is, else `chat`. */
  readonly operation?: string
  readonly serverAddress?: string
  readonly serverPort?: number
}

/** Which names: the conventions renamed their own, and many backends still chart the old ones. */
export type GenAiNames = 'current' | 'former' | 'both'

const PROVIDER: Record<GenAiNames, readonly string[]> = {
  current: ['gen_ai.provider.name'],
  former: ['gen_ai.system'],
  both: ['gen_ai.provider.name', 'gen_ai.system'],
}

/** Histograms of one operation's duration, and of the time to the first part of its answer. */
export const GEN_AI_HISTOGRAMS: Record<
  GenAiNames,
  { duration: readonly string[]; firstChunk: readonly string[] }
> = {
  current: {
    duration: ['gen_ai.client.inference.duration'],
    firstChunk: ['gen_ai.client.inference.time_to_first_chunk'],
  },
  former: {
    duration: ['gen_ai.client.operation.duration'],
    firstChunk: ['gen_ai.client.operation.time_to_first_chunk'],
  },
  both: {
    duration: ['gen_ai.client.inference.duration', 'gen_ai.client.operation.duration'],
    firstChunk: [
      'gen_ai.client.inference.time_to_first_chunk',
      'gen_ai.client.operation.time_to_first_chunk',
    ],
  },
}

/** What an attempt is, before it is sent. */
export function requestAttributes(
  { provider, serverAddress, serverPort }: GenAiTarget,
  operation: string,
  model: string | undefined,
  names: GenAiNames,
): Attributes {
  const providers = provider === undefined ? [] : PROVIDER[names].map((name) => [name, provider])
  return {
    'gen_ai.operation.name': operation,
    ...Object.fromEntries(providers),
    ...(model !== undefined && { 'gen_ai.request.model': model }),
    ...(serverAddress !== undefined && { 'server.address': serverAddress }),
    ...(serverPort !== undefined && { 'server.port': serverPort }),
  }
}

/** What an answer says of itself, in OpenAI's and Anthropic's shapes. Numbers and names, never its text. */
export function answerAttributes(answer: unknown): Attributes {
  if (!isBag(answer)) return {}
  const [id, model] = [read(answer, 'id'), read(answer, 'model')]
  const reasons = [
    ...items(read(answer, 'choices')).map((choice) => read(choice, 'finish_reason')),
    read(answer, 'stop_reason'),
  ].filter(isFilled)
  const count = (...keys: readonly string[]) =>
    keys.map((key) => readPath(answer, 'usage', key)).find((n): n is number => Number.isSafeInteger(n))
  const input = count('input_tokens', 'prompt_tokens')
  const output = count('output_tokens', 'completion_tokens')
  return {
    ...(isFilled(id) && { 'gen_ai.response.id': id }),
    ...(isFilled(model) && { 'gen_ai.response.model': model }),
    ...(reasons.length > 0 && { 'gen_ai.response.finish_reasons': reasons }),
    ...(input !== undefined && { 'gen_ai.usage.input_tokens': input }),
    ...(output !== undefined && { 'gen_ai.usage.output_tokens': output }),
  }
}
