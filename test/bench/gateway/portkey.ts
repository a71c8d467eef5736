import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import { measured } from './proxy.ts'

/** It takes no 0 for any free port. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const Native = globalThis.Response
const port = await freePort()
// without its log page, as it is meant to be run in production
process.env.NODE_ENV = 'production'
process.argv.splice(2, Infinity, `--port=${port}`, '--headless')
await import('@portkey-ai/gateway/build/start-server.js')

// With the @hono/node-server that npm installs for it, every stream ends in a 500 (Portkey-AI/gateway#1389): that one's
// Response takes the headers of an answer of fetch without copying them, and they cannot be changed.
const Light = globalThis.Response
const isForeign = (init: ResponseInit | undefined): init is Response =>
  init instanceof Native && !Light.prototype.isPrototypeOf(init)

class Mended extends Light {
  constructor(...[body, init]: ConstructorParameters<typeof Light>) {
    super(body, isForeign(init) ? { status: init.status, headers: new Headers(init.headers) } : init)
  }
}
Object.defineProperty(globalThis, 'Response', { value: Mended })

measured(`http://127.0.0.1:${port}`)
