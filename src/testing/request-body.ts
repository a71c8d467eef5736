/** The little that is read of a request body. */
export interface ReadBody {
  readonly model?: string
  readonly stream: boolean
  readonly includeUsage: boolean
  /** The last message, or item, is the result of a tool. */
  readonly hasToolResult: boolean
  /** The body is a JSON object. */
  readonly valid: boolean
}

const unreadable: ReadBody = { stream: false, includeUsage: false, hasToolResult: false, valid: false }

export function readBody(bytes: Buffer | undefined): ReadBody {
  let value: unknown
  try {
    value = JSON.parse(bytes?.toString('utf8') ?? '')
  } catch {
    return unreadable
  }
  if (!isRecord(value)) return unreadable
  const { model, stream, stream_options: options, messages, input } = value
  return {
    ...(typeof model === 'string' && model !== '' ? { model: model.slice(0, 200) } : {}),
    stream: stream === true,
    includeUsage: isRecord(options) && options['include_usage'] === true,
    hasToolResult: isToolResult([messages, input].find(Array.isArray)?.at(-1)),
    valid: true,
  }
}

/** In chat completions, messages and responses. */
function isToolResult(said: unknown): boolean {
  if (!isRecord(said)) return false
  const { role, type, content } = said
  if (role === 'tool' || type === 'function_call_output') return true
  return Array.isArray(content) && content.some((part) => isRecord(part) && part['type'] === 'tool_result')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
