/** A request that the admin API refuses, with what to do instead. */
export class AdminError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  override readonly name = 'AdminError'

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }

  /** The body of the answer, in the shape of the gateway's other errors. */
  get body(): object {
    const type = this.status < 500 ? 'invalid_request_error' : 'server_error'
    const { message, code } = this
    return { error: { message, type, param: null, code, ...this.details } }
  }
}

export const badRequest = (message: string): AdminError => new AdminError(400, 'invalid_request', message)
