import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCommand } from '../../src/cli/commands.ts'

let taken: Server
let port: number
let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'port-taken-'))
  taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  port = (taken.address() as AddressInfo).port
})
afterAll(() => {
  taken.close()
  rmSync(dir, { recursive: true })
})

/** What a command says that cannot begin. */
async function told(name: string, ...args: string[]): Promise<string> {
  const command = (await loadCommand(name)).exitOverride().configureOutput({ writeErr: () => {} })
  return await command.parseAsync(args, { from: 'user' }).then(
    () => 'it has begun',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

function config(server: string): string {
  const file = join(dir, 'gateway.yaml')
  writeFileSync(file, `server: ${server}\njournal: false\ntargets: [{ baseUrl: http://127.0.0.1:1 }]\n`)
  return file
}

describe('a port in use', () => {
  it('of serve: says how to choose another', async () => {
    expect(await told('serve', '--config', config('{ port: 0 }'), '--port', String(port))).toBe(
      `port ${port} on 127.0.0.1 is in use: choose another with --port <number>, 0 for any free one, or as server.port in gateway.yaml`,
    )
  })

  it('of the admin API: says where it stands', async () => {
    const file = config(`{ port: 0, admin: { port: ${port} } }`)
    expect(await told('serve', '--config', file)).toBe(
      `port ${port} on 127.0.0.1 is in use: it is that of the admin API, choose another as server.admin.port in gateway.yaml, 0 for any free one`,
    )
  })

  it('of faults: says how to choose another', async () => {
    expect(await told('faults', '--port', String(port))).toBe(
      `error: port ${port} on 127.0.0.1 is in use: choose another with --port <number>, 0 for any free one`,
    )
  })

  it('and an address that is none of this machine: says which option it is', async () => {
    expect(await told('faults', '--host', '192.0.2.1')).toMatch(
      /^error: cannot listen on 192\.0\.2\.1, port 0: .*: choose another address with --host, or another port with --port <number>$/,
    )
    expect(await told('serve', '--config', config('{ port: 0 }'), '--host', '192.0.2.1')).toMatch(
      /: choose another address with --host or as server\.host in gateway\.yaml, or another port with --port <number> or as server\.port$/,
    )
  })
})
