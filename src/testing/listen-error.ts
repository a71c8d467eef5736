/** A server that cannot listen where it was told to. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** `ERR_PORT_IN_USE`: another process has the port; `ERR_LISTEN`: any other reason, see `cause`. */
  readonly code: 'ERR_PORT_IN_USE' | 'ERR_LISTEN'

  constructor(port: number, host: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const inUse = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    super(
      inUse
        ? `port ${port} on ${host} is in use: pass another port, or 0 for any free one`
        : `cannot listen on ${host}, port ${port}: ${reason}`,
      { cause },
    )
    this.code = inUse ? 'ERR_PORT_IN_USE' : 'ERR_LISTEN'
  }
}
