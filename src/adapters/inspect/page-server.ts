import type { IncomingMessage, ServerResponse } from 'node:http'
import { placeRefusal, tokenRefusal } from './gatekeeper.ts'
import type { Refused } from './gatekeeper.ts'
import { pageFiles, securityHeaders } from './page-files.ts'
import type { Relay } from './relay.ts'

interface Around {
  readonly relay: Relay
  readonly token: string
  /** Address of the Stately inspector. */
  readonly inspector: string
}

/** Answers the page and its feed on this machine. */
export class PageServer {
  readonly #around: Around
  readonly #files = pageFiles()
  readonly #headers: Readonly<Record<string, string>>

  constructor(around: Around) {
    this.#around = around
    this.#headers = securityHeaders(around.inspector)
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#answer(request, response)
    } catch (error) {
      this.#around.relay.fault(error)
      response.destroy()
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = '', url = '' } = request
    const path = url.split('?', 1)[0] ?? ''
    const refusal = placeRefusal(headers) ?? methodRefusal(method)
    if (refusal !== undefined) return this.#refuse(response, refusal)
    if (path === '/feed') return this.#watch(request, response)
    const file = this.#files.get(path)
    if (file === undefined) return this.#refuse(response, { status: 404, why: 'There is no such page here.' })
    response.writeHead(file.status, { ...this.#headers, 'content-type': file.type })
    response.end(method === 'HEAD' ? undefined : file.body)
  }

  #refuse(response: ServerResponse, { status, why }: Refused): void {
    response.writeHead(status, { ...this.#headers, 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${why}\n`)
  }

  #watch({ headers, method }: IncomingMessage, response: ServerResponse): void {
    const { relay, token } = this.#around
    const refusal = tokenRefusal(headers, token) ?? fullRefusal(relay)
    if (refusal !== undefined) return this.#refuse(response, refusal)
    response.writeHead(200, { ...this.#headers, 'content-type': 'text/event-stream' })
    if (method === 'HEAD') response.end()
    else relay.watch(response)
  }
}

function fullRefusal({ whyFull }: Relay): Refused | undefined {
  return whyFull === undefined ? undefined : { status: 503, why: whyFull }
}

function methodRefusal(method: string): Refused | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  return { status: 405, why: 'Here is nothing but to be read: GET or HEAD.' }
}
