/** An error of the gateway, before it takes the shape of an endpoint. */
export interface ErrorFacts {
  readonly status: number
  readonly code: string
  readonly message: string
  /** The field of the request that is wrong. */
  readonly param?: string | null
  /** What stands beside the error, for those who know the gateway. */
  readonly switchgear?: object
}

/** How an endpoint tells an error to its clients. */
export interface ErrorShape {
  body(facts: ErrorFacts): object
  /** A body as an event inside of a stream; `before` = the last events that were delivered. */
  event(body: object, before: string): string
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
}

function openAiBody({ status, code, message, param = null, switchgear }: ErrorFacts): object {
  const type = OPENAI_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { error: { message, type, param, code }, ...(switchgear && { switchgear }) }
}

export const openAiErrors: ErrorShape = {
  body: openAiBody,
  event: (body) => `data: ${JSON.stringify(body)}\n\n`,
}

export const responsesErrors: ErrorShape = {
  body: openAiBody,
  /** The API's own event, with the field `error` beside it: it is what makes the official client throw. */
  event(body, before) {
    const { error } = body as { error?: { code?: unknown; message?: unknown; param?: unknown } }
    const { code = null, message = '', param = null } = error ?? {}
    const numbers = before.match(/"sequence_number"\s*:\s*\d+/g)
    const last = Number(/\d+$/.exec(numbers?.at(-1) ?? '')?.[0] ?? -1)
    const event = { type: 'error', code, message, param, sequence_number: last + 1, ...body }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  },
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

export const anthropicErrors: ErrorShape = {
  body({ status, code, message, switchgear }) {
    const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
    return { type: 'error', error: { type, message, code }, ...(switchgear && { switchgear }) }
  },
  event: (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
}
