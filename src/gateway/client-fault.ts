/** A request that cannot be sent on, and why. */
export class ClientFault extends Error {
  readonly status: number
  readonly code: string
  /** The field or header that is wrong. */
  readonly param: string | null

  constructor(
    message: string,
    {
      status = 400,
      code = 'invalid_request',
      param = null,
    }: { status?: number; code?: string; param?: string | null } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
  }
}
