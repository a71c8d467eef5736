import { signal } from '@preact/signals'
import type { News, Picture } from '../../src/adapters/inspect/wire.ts'
import { after, every, pageNow } from '../dashboard/page-clock.ts'
import { SseReader } from '../dashboard/sse-reader.ts'
import type { Actors } from './actors.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'lost' }
  /** Trying again would not help. */
  | { readonly state: 'refused'; readonly why: string }

const RETRY_MS = 2000
// something comes every five seconds at least
const LONGEST_SILENCE_MS = 12_000

/** What the server tells of the actors, connected again whenever it breaks off. */
export class Feed {
  readonly connection = signal<Connection>({ state: 'connecting' })
  readonly #token: string | undefined
  readonly #actors: Actors

  constructor(token: string | undefined, actors: Actors) {
    this.#token = token
    this.#actors = actors
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        if (!(await this.#listen())) return
      } catch {
        // the next try tells
      }
      this.connection.value = { state: 'lost' }
      await new Promise<void>((resolve) => void after(RETRY_MS, resolve))
    }
  }

  /** False = refused for good. */
  async #listen(): Promise<boolean> {
    const attempt = new AbortController()
    const answer = await fetch('feed', {
      headers: { authorization: `Bearer ${this.#token ?? ''}` },
      signal: attempt.signal,
      cache: 'no-store',
      credentials: 'omit',
    })
    if (answer.status === 401) {
      this.connection.value = { state: 'refused', why: await answer.text() }
      return false
    }
    if (!answer.ok || answer.body === null) return true
    let heardAt = pageNow()
    const stopWatch = every(1000, () => {
      if (pageNow() - heardAt > LONGEST_SILENCE_MS) attempt.abort()
    })
    try {
      // another process may be there now, and have other actors under the same ids
      this.#actors.forget()
      const decoder = new TextDecoder()
      const reader = new SseReader()
      for await (const part of answer.body) {
        heardAt = pageNow()
        for (const { event, data } of reader.push(decoder.decode(part, { stream: true }))) {
          this.connection.value = { state: 'live' }
          if (event === 'picture') this.#actors.show(JSON.parse(data) as Picture)
          if (event === 'news') this.#actors.hear(JSON.parse(data) as News)
        }
      }
    } finally {
      stopWatch()
    }
    return true
  }
}
