import { basename } from 'node:path'
import type { GatewayConfig } from '../gateway/config/schema.ts'
import { ListenError } from '../testing/listen-error.ts'

/** Says behind what a server cannot do what to do about it on this command line; anything else stays what it is. */
export function withAdvice(error: unknown, adviceOn: (error: ListenError) => string): unknown {
  if (!(error instanceof ListenError)) return error
  return new Error(`${error.reason}: ${adviceOn(error)}`, { cause: error })
}

/** For a command with the options --port and --host. */
export const byOptions = ({ code }: ListenError): string =>
  code === 'ERR_PORT_IN_USE'
    ? 'choose another with --port <number>, 0 for any free one'
    : 'choose another address with --host, or another port with --port <number>'

/** For a gateway whose configuration stands in a file, where its admin API may have an address of its own. */
export function byConfig(file: string, { server }: GatewayConfig): (error: ListenError) => string {
  const name = basename(file)
  return (error) => {
    const inUse = error.code === 'ERR_PORT_IN_USE'
    const { admin } = server ?? {}
    if (admin !== undefined && error.port === admin.port && error.port !== server?.port) {
      const other = inUse ? '' : 'another address as server.admin.host, or '
      return `it is that of the admin API, choose ${other}another as server.admin.port in ${name}, 0 for any free one`
    }
    return inUse
      ? `${byOptions(error)}, or as server.port in ${name}`
      : `choose another address with --host or as server.host in ${name}, or another port with --port <number> or as server.port`
  }
}
