import { setTimeout as delay } from 'node:timers/promises'

import { Agent } from 'undici'

const SCRAPE_MS = 2000

/** What Prometheus and a dashboard do all the while: scrape the metrics, and read the live events. */
export class Onlooker {
  readonly #agent = new Agent()
  readonly #origin: string
  readonly #token: string
  readonly #over = new AbortController()
  readonly #looking: Promise<unknown>
  /** Events of the live stream. */
  events = 0

  constructor(origin: string, token: string) {
    this.#origin = origin
    this.#token = token
    this.#looking = Promise.all([this.#scrape(), this.#read()])
  }

  /** Sum of a counter over all labels. */
  async total(counter: string): Promise<number> {
    const text = await this.#get('/metrics')
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${counter}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  async leave(): Promise<void> {
    this.#over.abort()
    await this.#looking
    await this.#agent.destroy()
  }

  async #get(path: string): Promise<string> {
    const { body } = await this.#agent.request({ origin: this.#origin, path, method: 'GET' })
    return body.text()
  }

  async #scrape(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.#get('/metrics')
      await delay(SCRAPE_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#over
    const headers = { authorization: `Bearer ${this.#token}` }
    const request = { origin: this.#origin, path: '/admin/events', method: 'GET', headers, signal } as const
    while (!signal.aborted) {
      try {
        const { body } = await this.#agent.request(request)
        for await (const bytes of body.setEncoding('utf8'))
          this.events += String(bytes).split('\n\n').length - 1
      } catch (error) {
        if (!signal.aborted) throw error
      }
    }
  }
}
