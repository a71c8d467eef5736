import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

import { Watcher } from '../adapters/inspect-support.ts'

function serve(...args: string[]) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--port', '0', ...args],
    {
      cwd: resolve(import.meta.dirname, '../..'),
    },
  )
  let told = ''
  child.stdout.on('data', (data) => (told += data))
  child.stderr.on('data', (data) => (told += data))
  const ended = once(child, 'close')
  return { child, ended, told: () => told, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

it('serve --inspect shows the live actors, and ends while somebody watches', async () => {
  using server = serve('--inspect')
  const address = () => /Live actors, on this machine only: (\S+)/.exec(server.told())?.[1] ?? ''
  await expect.poll(address, { timeout: 30_000 }).not.toBe('')
  await using watcher = await Watcher.begin(address())
  const { actors } = await watcher.picture()
  expect(actors.map(({ name }) => name)).toEqual(['supervisor', 'primary', 'backup'])
  server.child.kill('SIGTERM')
  expect(await server.ended).toEqual([0, null])
})

it('serve --inspect ends at once where its port is in use', async () => {
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  using server = serve('--inspect', String(port))
  expect(await server.ended).toEqual([1, null])
  expect(server.told()).toContain(
    `error: Port ${port} on 127.0.0.1 is in use. Choose another with --inspect <port>; --inspect alone takes any free one.\n`,
  )
})
