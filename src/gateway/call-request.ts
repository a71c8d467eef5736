import type { Dispatcher } from 'undici'

import { ClientFault } from './client-fault.ts'
import { editBody, namesModelOnce } from './edit-body.ts'
import type { BodyChanges } from './edit-body.ts'
import type { Endpoint } from './endpoints.ts'

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
  /** What of the provider's headers goes to the client: name, value, name, value … */
  readonly headers: readonly string[]
  readonly empty: boolean
}

// circuits, metrics and journal may keep it; the longest in use are the ARNs of Bedrock
const LONGEST_MODEL = 1024

/** What was asked for, and what has become of it so far. */
export class CallRequest {
  readonly id: string
  readonly endpoint: Endpoint
  readonly model: string | undefined
  readonly stream: boolean
  /** How many choices were asked for. */
  readonly choices: number
  /** What of the client's headers may go on: name, value, name, value … */
  readonly headers: readonly string[]
  readonly sent: Sent[] = []
  readonly failed: Failed[] = []
  /** Headers of the provider that answers, for the client. */
  answerHeaders: readonly string[] = []
  /** Takes the place of the network, target by target. */
  mock: ((target: string) => Pick<Dispatcher, 'dispatch'>) | undefined
  readonly #body: Buffer
  readonly #namesModelOnce: boolean

  constructor(id: string, endpoint: Endpoint, body: Buffer, headers: readonly string[]) {
    const text = body.toString('utf8')
    const { model, stream, n } = parse(text)
    if (model !== undefined && model !== null && typeof model !== 'string') {
      throw new ClientFault('model must be a string.', { param: 'model' })
    }
    if (typeof model === 'string' && model.length > LONGEST_MODEL) {
      throw new ClientFault(`There is no model with a name of ${model.length} characters.`, {
        status: 404,
        code: 'model_not_found',
        param: 'model',
      })
    }
    this.id = id
    this.endpoint = endpoint
    this.model = model === '' || model === null ? undefined : model
    this.stream = endpoint.streams && stream === true
    this.choices = typeof n === 'number' && Number.isInteger(n) && n > 1 ? n : 1
    this.headers = headers
    this.#body = body
    this.#namesModelOnce = namesModelOnce(text)
  }

  /** The client's own bytes; changed only where the target has a model of its own, or fields to set or drop. */
  bodyFor(model: string | undefined, { set, drop }: BodyChanges): Buffer {
    const name = model ?? this.model
    // where the key stands twice, the provider may read another model than the gateway did
    const isNamed = name !== undefined && (name !== this.model || !this.#namesModelOnce)
    if (!isNamed && set.size === 0 && drop.size === 0) return this.#body
    const fields = isNamed ? new Map([['model', JSON.stringify(name)], ...set]) : set
    return editBody(this.#body, { set: fields, drop })
  }
}

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ClientFault('The body is not valid JSON.')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new ClientFault('The body must be a JSON object.')
}
