import { signal } from '@preact/signals'
import type { News, Picture } from '../../src/adapters/inspect/wire.ts'
import { after, every, pageNow } from '../dashboard/page-clock.ts'
import { SseReader } from '../dashboard/sse-reader.ts'
import { wordsOf } from '../dashboard/words-of.ts'
import type { Actors } from './actors.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** `why` is what the server says of it; empty = nothing. */
  | { readonly state: 'lost'; readonly why: string }
  /** Trying again would not help. */
  | { readonly state: 'refused'; readonly why: string }

interface FeedOptions {
  /** Where it is, from the page. */
  readonly path: string
  readonly token: string | undefined
  readonly actors: Actors
}

const RETRY_MS = 2000
// something comes every five seconds at least
const LONGEST_SILENCE_MS = 12_000

/** What the server tells of the actors, connected again whenever it breaks off. */
export class Feed {
  readonly connection = signal<Connection>({ state: 'connecting' })
  readonly #options: FeedOptions
  #attempt = new AbortController()
  #isStopped = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      let why = ''
      try {
        why = await this.#listen()
      } catch {
        // the next try tells
      }
      if (this.#isStopped || this.connection.value.state === 'refused') return
      this.connection.value = { state: 'lost', why }
      await new Promise<void>((resolve) => void after(RETRY_MS, resolve))
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#attempt.abort()
  }

  /** Until it breaks off; the answer says why, where the server does. */
  async #listen(): Promise<string> {
    const { path, token = '', actors } = this.#options
    const attempt = (this.#attempt = new AbortController())
    const answer = await fetch(path, {
      headers: { authorization: `Bearer ${token}` },
      signal: attempt.signal,
      cache: 'no-store',
      credentials: 'omit',
    })
    if (!answer.ok || answer.body === null) {
      const why = await wordsOf(answer)
      if (answer.status === 401) this.connection.value = { state: 'refused', why }
      return why
    }
    let heardAt = pageNow()
    const stopWatch = every(1000, () => {
      if (pageNow() - heardAt > LONGEST_SILENCE_MS) attempt.abort()
    })
    try {
      // another process may be there now, and have other actors under the same ids
      actors.forget()
      const decoder = new TextDecoder()
      const reader = new SseReader()
      for await (const part of answer.body) {
        heardAt = pageNow()
        for (const { event, data } of reader.push(decoder.decode(part, { stream: true }))) {
          this.connection.value = { state: 'live' }
          if (event === 'picture') actors.show(JSON.parse(data) as Picture)
          if (event === 'news') actors.hear(JSON.parse(data) as News)
        }
      }
    } finally {
      stopWatch()
    }
    return ''
  }
}
