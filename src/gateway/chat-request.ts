import { setModel } from './set-model.ts'

/** One attempt, as the upstream client saw it begin. */
export interface Sent {
  readonly target: string
  readonly model: string | undefined
}

/** A failed attempt, as the core told of it. */
export interface Failed extends Sent {
  readonly failure: string
}

/** The answer of a provider in one piece. */
export interface Answer {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  readonly empty: boolean
}

/** A client's request that cannot be sent on. */
export class BadRequest extends Error {
  readonly param: string | null
  constructor(message: string, param: string | null = null) {
    super(message)
    this.param = param
  }
}

/** A chat completion that was asked for, and what has become of it so far. */
export class ChatRequest {
  readonly id: string
  readonly model: string | undefined
  readonly stream: boolean
  /** How many choices were asked for. */
  readonly choices: number
  /** What of the client's headers may go on. */
  readonly headers: Readonly<Record<string, string>>
  readonly sent: Sent[] = []
  readonly failed: Failed[] = []
  /** Headers of the provider that answers, for the client. */
  answerHeaders: Readonly<Record<string, string>> = {}
  readonly #body: Buffer

  constructor(id: string, body: Buffer, headers: Readonly<Record<string, string>>) {
    const { model, stream, n } = parse(body)
    if (model !== undefined && model !== null && typeof model !== 'string') {
      throw new BadRequest('model must be a string.', 'model')
    }
    this.id = id
    this.model = model === '' || model === null ? undefined : model
    this.stream = stream === true
    this.choices = typeof n === 'number' && Number.isInteger(n) && n > 1 ? n : 1
    this.headers = headers
    this.#body = body
  }

  /** The client's own bytes; another model is put in where the target has one of its own. */
  bodyFor(model: string | undefined): Buffer | string {
    if (model === undefined || model === this.model) return this.#body
    return setModel(this.#body.toString('utf8'), model)
  }
}

function parse(body: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    throw new BadRequest('The body is not valid JSON.')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new BadRequest('The body must be a JSON object.')
}
