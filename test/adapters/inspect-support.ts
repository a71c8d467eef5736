import type { News, Picture } from '../../src/adapters/inspect/wire.ts'
import { SseReader } from '../../visualizations/dashboard/sse-reader.ts'

type Told = { readonly picture: Picture } | { readonly news: News }

/** Address and token of a page. */
export function partsOf(url: string): { readonly origin: string; readonly token: string } {
  const { origin, hash } = new URL(url)
  return { origin, token: hash.replace('#token=', '') }
}

export function askFeed(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const { origin, token } = partsOf(url)
  return fetch(`${origin}/feed`, { headers: { authorization: `Bearer ${token}`, ...headers } })
}

/** A page that watches, without a browser. */
export class Watcher implements AsyncDisposable {
  readonly #parts: ReadableStreamDefaultReader<Uint8Array>
  readonly #reader = new SseReader()
  readonly #decoder = new TextDecoder()
  readonly #told: Told[] = []

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#parts = body.getReader()
  }

  static async begin(url: string): Promise<Watcher> {
    return Watcher.of(await askFeed(url))
  }

  static of({ status, body }: Response): Watcher {
    if (status !== 200 || body === null) throw new Error(`status ${status}`)
    return new Watcher(body)
  }

  /** What it is told next; undefined = the feed has ended. */
  async next(): Promise<Told | undefined> {
    while (this.#told.length === 0) {
      const { value, done } = await this.#parts.read()
      if (done) return undefined
      for (const { event, data } of this.#reader.push(this.#decoder.decode(value, { stream: true })))
        this.#told.push({ [event]: JSON.parse(data) as unknown } as Told)
    }
    return this.#told.shift()
  }

  async picture(): Promise<Picture> {
    for (let told = await this.next(); told !== undefined; told = await this.next())
      if ('picture' in told) return told.picture
    throw new Error('the feed has ended')
  }

  /** Every event type until this one. */
  async until(type: string): Promise<string[]> {
    const types: string[] = []
    for (let told = await this.next(); told !== undefined; told = await this.next()) {
      if ('news' in told) types.push(...told.news.rows.map(({ event }) => event.type))
      if (types.includes(type)) return types
    }
    throw new Error('the feed has ended')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // it may have been cut off
    await this.#parts.cancel().catch(() => {})
  }
}
