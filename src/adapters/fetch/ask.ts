/** What a call of fetch asks for, read without changing it. */
export interface Ask {
  /** Undefined where it is none that names a host. */
  readonly url: URL | undefined
  readonly method: string
  /** The signal in force: that of `init` replaces that of a Request. */
  readonly signal: AbortSignal | undefined
  readonly input: string | URL | Request
  readonly init: RequestInit | undefined
}

export const isRequest = (input: Ask['input']): input is Request =>
  typeof input === 'object' && 'url' in input && 'method' in input

/** Reads the arguments of fetch. Never throws. */
export function readAsk(input: Ask['input'], init: RequestInit | undefined): Ask {
  const request = isRequest(input) ? input : undefined
  const url = URL.parse(request?.url ?? String(input)) ?? undefined
  const signal = init?.signal === undefined ? request?.signal : init.signal
  return {
    url: url?.host === '' ? undefined : url,
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    signal: signal ?? undefined,
    input,
    init,
  }
}

/** Whether a header of this name goes along. Never throws. */
export function sendsHeader({ input, init }: Ask, name: string): boolean {
  try {
    return new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined)).has(name)
  } catch {
    return false
  }
}

// Assistants keep their messages under threads: no answer of a model
const ANSWERS =
  /(?:\/completions|\/responses|(?<!\/threads\/[^/]+)\/messages|\/model\/[^/]+\/(?:converse|invoke)|:(?:streamG|g)enerateContent|:(?:streamR|r)awPredict)\/?$/

/** The request goes to an endpoint whose answers we know: completions, responses, messages, Gemini, Bedrock. */
export const asksModel = ({ method, url }: Ask): boolean =>
  method === 'POST' && url !== undefined && ANSWERS.test(url.pathname)
