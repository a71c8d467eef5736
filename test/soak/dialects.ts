/** How one endpoint speaks. */
export interface Dialect {
  readonly path: string
  /** Text, or arguments of a tool, in one event of a stream. */
  readonly part: (event: Json) => unknown
  /** The event that completes an answer. */
  readonly isEnd: (event: Json) => boolean
  /** The data of the last event, where that comes behind the end. */
  readonly last?: string
  /** The same of an answer in one piece. */
  readonly whole: (body: Json) => unknown
}

/** Parsed, and of a shape that nobody has looked at. */
export interface Json {
  readonly [key: string]: Json | undefined
}

export const dialects = {
  chat: {
    path: '/v1/chat/completions',
    part: (event) => {
      const delta = event['choices']?.[0]?.['delta']
      return delta?.['content'] ?? delta?.['tool_calls']?.[0]?.['function']?.['arguments']
    },
    isEnd: (event) => typeof event['choices']?.[0]?.['finish_reason'] === 'string',
    last: '[DONE]',
    whole: (body) => {
      const message = body['choices']?.[0]?.['message']
      return message?.['content'] ?? message?.['tool_calls']?.[0]?.['function']?.['arguments']
    },
  },
  responses: {
    path: '/v1/responses',
    part: (event) =>
      is(event, 'response.output_text.delta') || is(event, 'response.function_call_arguments.delta')
        ? event['delta']
        : undefined,
    isEnd: (event) => is(event, 'response.completed'),
    whole: (body) => {
      const item = body['output']?.[0]
      return item?.['content']?.[0]?.['text'] ?? item?.['arguments']
    },
  },
  messages: {
    path: '/v1/messages',
    part: (event) =>
      is(event, 'content_block_delta')
        ? (event['delta']?.['text'] ?? event['delta']?.['partial_json'])
        : undefined,
    isEnd: (event) => typeof event['delta']?.['stop_reason'] === 'string',
    last: '{"type":"message_stop"}',
    whole: (body) => {
      const block = body['content']?.[0]
      return block?.['text'] ?? JSON.stringify(block?.['input'])
    },
  },
} as const satisfies Record<string, Dialect>

export type DialectName = keyof typeof dialects

const is = (event: Json, type: string) => (event['type'] as unknown) === type

/** The data of every event; comments are left out. */
export function dataOf(stream: string): string[] {
  return stream
    .split('\n\n')
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined)
}
