import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

import { answerParent } from '../../support/child.ts'
import { DONE, answer, request, requestHeaders } from './bodies.ts'

/** One spell of load. */
export interface Load {
  readonly url: string
  readonly stream: boolean
  readonly headers: Readonly<Record<string, string>>
  /** How many requests are under way at a time. */
  readonly connections: number
  /** New requests are made for so long; those under way are waited for. */
  readonly ms: number
}

export interface Done {
  readonly requests: number
  /** From the first request to the last answer. */
  readonly ms: number
}

const bodies = { json: Buffer.from(request(false)), sse: Buffer.from(request(true)) }
const marker = Buffer.from(DONE)
const length = Buffer.byteLength(answer)

/** One request and its answer; made by hand, so that the load takes as little as it can from the gateways. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<void>
  readonly #stream: boolean
  #resolve!: () => void
  #reject!: (error: Error) => void
  #status = 0
  #bytes = 0
  #last: Buffer | undefined

  constructor(stream: boolean) {
    this.#stream = stream
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status
  }

  onResponseData(_controller: unknown, bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#last = bytes
  }

  onResponseEnd(): void {
    const isWhole = this.#stream
      ? this.#last?.subarray(-marker.length).equals(marker)
      : this.#bytes === length
    if (this.#status === 200 && isWhole === true) return this.#resolve()
    const end = this.#last?.toString().slice(-200)
    this.#reject(new Error(`status ${this.#status}, ${this.#bytes} bytes, the last of them: ${end}`))
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error)
  }
}

async function run({ url, stream, headers, connections, ms }: Load): Promise<Done> {
  const pool = new Pool(url, { connections })
  const options = {
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { ...requestHeaders, ...headers },
    body: stream ? bodies.sse : bodies.json,
  } as const
  const start = performance.now()
  const end = start + ms
  let requests = 0
  const work = async () => {
    while (performance.now() < end) {
      const exchange = new Exchange(stream)
      pool.dispatch(options, exchange)
      await exchange.done
      requests++
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  const took = performance.now() - start
  await pool.close()
  return { requests, ms: took }
}

const answers = { run }
export type Loader = typeof answers

answerParent(answers)
