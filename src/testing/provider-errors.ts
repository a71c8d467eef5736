/** The inner object of an OpenAI error body. */
export interface ErrorBody {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

function body(
  type: string,
  message: string,
  code: string | null = null,
  param: string | null = null,
): ErrorBody {
  return { message, type, param, code }
}

/** Error bodies as providers send them: same types and codes, near the same words. */
export const providerErrors = {
  badGateway:
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n',
  unavailable: body('server_error', 'The service is temporarily unavailable. Please try again later.'),
  serverError: body(
    'server_error',
    'The server had an error while processing your request. Sorry about that!',
  ),
  overloaded: body('overloaded_error', 'Overloaded'),
  rateLimit: body(
    'requests',
    'Rate limit reached on requests per minute. Please try again later.',
    'rate_limit_exceeded',
  ),
  quota: body(
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ),
  auth: body('invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key'),
  badRequest: body(
    'invalid_request_error',
    "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    'invalid_type',
    'temperature',
  ),
  contextLength: body(
    'invalid_request_error',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 10050 tokens. Please reduce the length of the messages.",
    'context_length_exceeded',
    'messages',
  ),
  contentFilter: body(
    'invalid_request_error',
    "The response was filtered due to the prompt triggering the provider's content management policy.",
    'content_filter',
    'prompt',
  ),
  unreadable: body('invalid_request_error', 'We could not parse the JSON body of your request.'),
  noModel: body('invalid_request_error', 'You must provide a model parameter.', null, 'model'),
} as const

export function modelNotFound(model: string): ErrorBody {
  return body(
    'invalid_request_error',
    `The model \`${model}\` does not exist or you do not have access to it.`,
    'model_not_found',
    'model',
  )
}

export function unknownUrl(method: string, path: string): ErrorBody {
  return body('invalid_request_error', `Unknown request URL: ${method} ${path}.`, 'unknown_url')
}
