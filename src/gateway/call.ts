import type { ServerResponse } from 'node:http'

import { SwitchgearError } from '../core/errors.ts'
import type { CallOptions } from '../core/switchgear-options.ts'
import type { CallRequest } from './call-request.ts'
import type { Reply } from './error-body.ts'
import { errorReply } from './error-body.ts'
import { Hangup } from './hangup.ts'
import { switchgearHeaders } from './headers.ts'
import type { Route } from './router.ts'
import type { Wishes } from './wishes.ts'

const left = () => new DOMException('The client has left.', 'AbortError')

/** One call of a client, from its request to the last byte of its answer. */
export class Call {
  readonly request: CallRequest
  readonly response: ServerResponse
  readonly route: Route
  readonly options: CallOptions
  /** Its neighbours among the calls under way. */
  previous: Call | undefined
  next: Call | undefined
  /** Ends it from outside. */
  readonly hangup = new Hangup()
  #left = false

  constructor(
    request: CallRequest,
    response: ServerResponse,
    route: Route,
    { noFallback, bypass, target }: Wishes,
  ) {
    this.request = request
    this.response = response
    this.route = route
    this.options = {
      id: request.id,
      signal: this.hangup,
      ...(request.model !== undefined && { model: request.model }),
      ...(route.targets !== undefined && { targets: route.targets }),
      ...((noFallback || target !== undefined) && { noFallback: true }),
      ...(bypass && { bypassCircuit: true }),
    }
  }

  /** Nobody is there any more who could be told anything. */
  get hasLeft(): boolean {
    return this.#left
  }

  /** The client has gone, or reads no more: everything ends, nothing is held against a target. */
  leave(): void {
    this.#left = true
    this.hangup.abort(left())
  }

  /** The gateway ends before the call does; the client is told. */
  cut(): void {
    this.hangup.abort(new SwitchgearError('ERR_CLOSED', 'The gateway is shutting down.'))
  }

  /** Who answers, and what it took. */
  get headers(): string[] {
    return switchgearHeaders(this.request, this.route.first)
  }

  /** What the client is told of a call without an answer. */
  failed(error: unknown): Reply {
    const { status, headers, body } = errorReply(error, this.request)
    return { status, headers: [...headers, ...this.headers], body }
  }
}
