/** A server that cannot listen where it was told to. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** `ERR_PORT_IN_USE`: another process has the port; `ERR_LISTEN`: any other reason, see `cause`. */
  readonly code: 'ERR_PORT_IN_USE' | 'ERR_LISTEN'
  /** Where it should have listened. */
  readonly port: number
  readonly host: string
  /** What is wrong, without what to do about it. */
  readonly reason: string

  constructor(port: number, host: string, cause: unknown) {
    const inUse = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    const reason = inUse
      ? `port ${port} on ${host} is in use`
      : `cannot listen on ${host}, port ${port}: ${cause instanceof Error ? cause.message : String(cause)}`
    super(inUse ? `${reason}: pass another port, or 0 for any free one` : reason, { cause })
    this.code = inUse ? 'ERR_PORT_IN_USE' : 'ERR_LISTEN'
    this.port = port
    this.host = host
    this.reason = reason
  }
}
