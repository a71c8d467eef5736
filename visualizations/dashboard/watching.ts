import { effect, signal } from '@preact/signals'
import type { Actors } from '../inspector/actors.ts'
import { Feed } from '../inspector/feed.ts'
import { AdminApi } from './admin-api.ts'
import { NO_WORD, forgetToken, isWord, keepToken } from './token.ts'

/** Who may watch the live actors: whoever has a token of the admin API. */
export class Watching {
  /** undefined = nobody has signed in. */
  readonly feed = signal<Feed | undefined>(undefined)
  /** What is wrong with the token that was tried; empty = nothing. */
  readonly fault = signal('')
  readonly #actors: Actors
  #api: AdminApi | undefined

  constructor(actors: Actors) {
    this.#actors = actors
    effect(() => {
      const connection = this.feed.value?.connection.value
      if (connection?.state === 'refused') this.end(connection.why)
    })
  }

  signIn(token: string): void {
    if (!isWord(token)) {
      this.fault.value = NO_WORD
      return
    }
    keepToken(token)
    this.begin(token)
  }

  begin(token: string): void {
    this.fault.value = ''
    this.#api = new AdminApi(token)
    const feed = new Feed({ path: 'admin/inspect', token, actors: this.#actors })
    this.feed.value = feed
    void feed.run()
  }

  /** The chart of a breaker with its own numbers. */
  readonly chartOf = async (breaker: string): Promise<string> => {
    if (this.#api === undefined) throw new Error('Nobody has signed in.')
    return this.#api.chart(breaker)
  }

  end(fault = ''): void {
    forgetToken()
    this.feed.peek()?.stop()
    this.feed.value = undefined
    this.#api = undefined
    this.fault.value = fault
  }
}
