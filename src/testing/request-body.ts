/** The little that is read of a request body. */
export interface ReadBody {
  readonly model?: string
  readonly stream: boolean
  readonly includeUsage: boolean
  /** The body is a JSON object. */
  readonly valid: boolean
}

const unreadable: ReadBody = { stream: false, includeUsage: false, valid: false }

export function readBody(bytes: Buffer | undefined): ReadBody {
  let value: unknown
  try {
    value = JSON.parse(bytes?.toString('utf8') ?? '')
  } catch {
    return unreadable
  }
  if (!isRecord(value)) return unreadable
  const { model, stream, stream_options: options } = value
  return {
    ...(typeof model === 'string' && model !== '' ? { model: model.slice(0, 200) } : {}),
    stream: stream === true,
    includeUsage: isRecord(options) && options['include_usage'] === true,
    valid: true,
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
