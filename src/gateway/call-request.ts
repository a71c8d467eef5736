import type { Dispatcher } from 'undici'

import { ClientFault } from './client-fault.ts'
import { editBody } from './edit-body.ts'
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

  constructor(id: string, endpoint: Endpoint, body: Buffer, headers: readonly string[]) {
    const { model, stream, n } = parse(body)
    if (model !== undefined && model !== null && typeof model !== 'string') {
      throw new ClientFault('model must be a string.', { param: 'model' })
    }
    this.id = id
    this.endpoint = endpoint
    this.model = model === '' || model === null ? undefined : model
    this.stream = endpoint.streams && stream === true
    this.choices = typeof n === 'number' && Number.isInteger(n) && n > 1 ? n : 1
    this.headers = headers
    this.#body = body
  }

  /** The client's own bytes; changed only where the target has a model of its own, or fields to set or drop. */
  bodyFor(model: string | undefined, { set, drop }: BodyChanges): Buffer {
    const renamed = model !== undefined && model !== this.model
    if (!renamed && set.size === 0 && drop.size === 0) return this.#body
    const fields = renamed ? new Map([['model', JSON.stringify(model)], ...set]) : set
    return editBody(this.#body, { set: fields, drop })
  }
}

function parse(body: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    throw new ClientFault('The body is not valid JSON.')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new ClientFault('The body must be a JSON object.')
}
