import { toToken } from './text.ts'
import type { FailureKind } from './verdict.ts'

type CodeRow = readonly [FailureKind, readonly (string | RegExp)[]]

/**
 * Codes, types and class names that name one cause, whatever the status says. The first row wins: a proxy
 * that says "rate limit" around a provider that says "no money" is out of money.
 */
const specific: readonly CodeRow[] = [
  ['circuit_open', ['ERR_CIRCUIT_OPEN', 'CircuitOpenError', 'EOPENBREAKER', 'BrokenCircuitError']],
  ['timeout', ['ERR_ATTEMPT_TIMEOUT', 'ERR_DEADLINE_EXCEEDED']],
  ['local_rate_limit', ['ERR_LOCAL_RATE_LIMIT']],
  ['budget', ['ERR_BUDGET', 'ERR_BUDGET_EXCEEDED', 'budget_exceeded', 'ExceededBudget']],
  [
    'quota_exhausted',
    [
      'insufficient_quota',
      'billing_error',
      'billing_not_active',
      'billing_hard_limit_reached',
      'insufficient_balance',
      'insufficient_credits',
      'insufficient_funds',
      'payment_required',
      'credits_exhausted',
      'spending_limit_reached',
      'Arrearage',
      'exceeded_current_quota_error',
      'ServiceQuotaExceededException',
      /^[a-z]*(?:requests|tokens?)[a-z]*perday/,
    ],
  ],
  [
    'content_policy',
    [
      'content_filter',
      'content_filtered',
      'content_policy_violation',
      'ContentPolicyViolationError',
      'ContentFilterFinishReasonError',
      'ResponsibleAIPolicyViolation',
      'data_inspection_failed',
      'invalid_prompt',
      'moderation_blocked',
      'flagged_input',
      'image_content_policy_violation',
      'ModelRefusalError',
      'PROHIBITED_CONTENT',
      'BLOCKLIST',
      'SAFETY',
      'IMAGE_SAFETY',
      'RECITATION',
      'SPII',
    ],
  ],
  [
    'context_window',
    [
      'context_length_exceeded',
      'ContextWindowExceededError',
      'ContextOverflowError',
      'model_context_window_exceeded',
      'context_window_exceeded',
      'exceed_context_size_error',
      'string_above_max_length_of_context',
      'max_context_length_exceeded',
    ],
  ],
  [
    'tool_contract',
    [
      'tool_use_failed',
      'MALFORMED_FUNCTION_CALL',
      'AI_InvalidToolInputError',
      'AI_NoSuchToolError',
      'AI_ToolCallRepairError',
      'ToolInputParsingException',
      'InvalidToolInputError',
    ],
  ],
  [
    'not_found',
    [
      'model_not_found',
      'DeploymentNotFound',
      'not_found_error',
      'ResourceNotFoundException',
      'MODEL_NOT_FOUND',
      'model_not_available',
      'model_decommissioned',
      'unknown_model',
      'invalid_model',
      'AI_NoSuchModelError',
      'model_deprecated',
    ],
  ],
  [
    'auth',
    [
      'invalid_api_key',
      'incorrect_api_key',
      'API_KEY_INVALID',
      'API_KEY_SERVICE_BLOCKED',
      'SERVICE_DISABLED',
      'authentication_error',
      'permission_error',
      'PERMISSION_DENIED',
      'UNAUTHENTICATED',
      'account_deactivated',
      'account_suspended',
      'AccessDeniedException',
      'UnrecognizedClientException',
      'ExpiredTokenException',
      'InvalidSignatureException',
      'CredentialsProviderError',
      'MODEL_AUTHENTICATION',
      'AI_LoadAPIKeyError',
      'unsupported_country_region_territory',
      'invalid_token',
      'CLIENT_HTTP_AUTHENTICATION',
    ],
  ],
  ['unsupported', ['AI_UnsupportedFunctionalityError', 'CAPABILITY_NOT_SUPPORTED', 'ERR_UNSUPPORTED']],
  [
    'overloaded',
    [
      'overloaded_error',
      'OverloadedError',
      'server_is_overloaded',
      'engine_overloaded_error',
      'engine_overloaded',
      'server_overloaded',
      'ModelNotReadyException',
      'slow_down',
      'no_capacity',
      'capacity_exceeded',
    ],
  ],
  [
    'rate_limit',
    [
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limited',
      'rate_limit_reached_error',
      'rate_limit_reached',
      'ThrottlingException',
      'TooManyRequestsException',
      'too_many_requests',
      'MODEL_RATE_LIMIT',
      'RATE_LIMIT_EXCEEDED',
      'Throttling.RateQuota',
      'tokens_limit_reached',
      'requests_limit_reached',
      /^[a-z]*(?:requests|tokens?)[a-z]*per(?:minute|second|hour)/,
    ],
  ],
  [
    'invalid_request',
    ['request_too_large', 'unsupported_parameter', 'unsupported_value', 'INVALID_PROMPT_INPUT'],
  ],
  [
    'empty_response',
    ['AI_EmptyResponseBodyError', 'AI_NoContentGeneratedError', 'AI_NoOutputGeneratedError'],
  ],
  [
    'parse',
    ['AI_NoObjectGeneratedError', 'AI_JSONParseError', 'OutputParserException', 'OUTPUT_PARSING_FAILURE'],
  ],
  ['parse', ['LengthFinishReasonError']],
  ['validation', ['AI_TypeValidationError', 'ZodError', 'ValiError', 'ModelBehaviorError']],
  ['malformed_response', ['AI_InvalidResponseDataError', 'invalid-json']],
  [
    'server_error',
    [
      'provider_unavailable',
      'ModelErrorException',
      'ModelStreamErrorException',
      'InternalServerException',
      'service_unavailable_error',
    ],
  ],
  [
    'timeout',
    ['ModelTimeoutException', 'ModelTimeoutError', 'DEADLINE_EXCEEDED', 'REQUEST_TIMEOUT', 'TimeoutError'],
  ],
  [
    'defect',
    ['ERR_CONFIG', 'ERR_INVALID_URL', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_VALUE', 'UND_ERR_INVALID_ARG'],
  ],
]

/** Codes that only repeat a class of status. They speak where no status does, as inside a stream. */
const generic: readonly CodeRow[] = [
  ['rate_limit', ['RESOURCE_EXHAUSTED', 'RateLimitError']],
  ['auth', ['AuthenticationError', 'PermissionDeniedError', 'unauthorized', 'forbidden']],
  ['not_found', ['NOT_FOUND', 'NotFoundError']],
  [
    'server_error',
    [
      'server_error',
      'api_error',
      'internal_error',
      'internal_server_error',
      'InternalServerError',
      'INTERNAL',
    ],
  ],
  [
    'server_error',
    [
      'UNAVAILABLE',
      'service_unavailable',
      'ServiceUnavailableException',
      'bad_gateway',
      'upstream_error',
      'response.failed',
    ],
  ],
  [
    'invalid_request',
    [
      'invalid_request_error',
      'invalid_request',
      'INVALID_ARGUMENT',
      'FAILED_PRECONDITION',
      'ValidationException',
      'BadRequestError',
      'UnprocessableEntityError',
      'ConflictError',
      'AI_InvalidPromptError',
      'AI_InvalidArgumentError',
    ],
  ],
  ['truncated_stream', ['ERR_STREAM_INTERRUPTED']],
]

/** JSON-RPC, as MCP uses it. */
const rpc: Readonly<Record<number, FailureKind>> = {
  [-32_700]: 'invalid_request',
  [-32_603]: 'server_error',
  [-32_602]: 'invalid_request',
  [-32_601]: 'not_found',
  [-32_600]: 'invalid_request',
  [-32_002]: 'invalid_request',
  [-32_001]: 'timeout',
  [-32_000]: 'network',
}

function lookupOf(rows: readonly CodeRow[]): (tokens: readonly string[]) => FailureKind | undefined {
  const compiled = rows.map(([kind, codes]) => ({
    kind,
    exact: new Set(codes.filter((code) => typeof code === 'string').map(toToken)),
    patterns: codes.filter((code) => code instanceof RegExp),
  }))
  return (tokens) =>
    compiled.find(({ exact, patterns }) =>
      tokens.some((token) => exact.has(token) || patterns.some((pattern) => pattern.test(token))),
    )?.kind
}

export const kindOfCode = lookupOf(specific)
export const kindOfGenericCode = lookupOf(generic)
export const kindOfRpcCode = (codes: readonly number[]): FailureKind | undefined =>
  codes.map((code) => rpc[code]).find((kind) => kind !== undefined)
