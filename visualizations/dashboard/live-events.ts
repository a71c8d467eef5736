import { ApiError } from './admin-api.ts'
import type { AdminApi } from './admin-api.ts'
import type { CircuitsReport, TransitionView } from '../../src/gateway/admin/wire.ts'
import { after, every, pageNow } from './page-clock.ts'
import { SseReader } from './sse-reader.ts'
import type { SseEvent } from './sse-reader.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** `retryAt` is of the page's clock. */
  | { readonly state: 'lost'; readonly why: string; readonly retryAt: number }

interface Hearers {
  /** The first report of a connection is there. */
  readonly connected: () => void
  readonly circuits: (report: CircuitsReport) => void
  readonly transition: (transition: TransitionView) => void
  readonly connection: (connection: Connection) => void
  /** The token is not, or no longer, one of the gateway's. */
  readonly refused: (why: string) => void
}

// the gateway sends something every five seconds at least
const LONGEST_SILENCE_MS = 12_000
const WAITS_MS = [1000, 2000, 4000, 8000, 15_000]

/** The live events of the gateway, connected again whenever they break off. */
export class LiveEvents {
  readonly #api: AdminApi
  readonly #hearers: Hearers
  #attempt = new AbortController()
  #failures = 0
  #isLive = false
  #callOff = noWait
  #stopped = false

  constructor(api: AdminApi, hearers: Hearers) {
    this.#api = api
    this.#hearers = hearers
  }

  start(): void {
    addEventListener('online', this.retry)
    document.addEventListener('visibilitychange', this.#seen)
    void this.#connect()
  }

  stop(): void {
    this.#stopped = true
    removeEventListener('online', this.retry)
    document.removeEventListener('visibilitychange', this.#seen)
    this.#callOff()
    this.#attempt.abort()
  }

  /** At once, where a next try is waited for. */
  readonly retry = (): void => {
    if (this.#callOff === noWait) return
    this.#callOff()
    this.#callOff = noWait
    void this.#connect()
  }

  readonly #seen = (): void => {
    if (document.visibilityState === 'visible') this.retry()
  }

  async #connect(): Promise<void> {
    this.#callOff = noWait
    this.#attempt = new AbortController()
    const { signal } = this.#attempt
    try {
      await this.#listen(signal)
      this.#lose('The gateway has ended the connection.')
    } catch (error) {
      if (this.#stopped) return
      if (error instanceof ApiError && error.status === 401) this.#hearers.refused(error.message)
      else this.#lose(error instanceof ApiError ? error.message : 'The connection to the gateway broke off.')
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const attempt = this.#attempt
    let heardAt = pageNow()
    const stopWatch = every(1000, () => {
      if (pageNow() - heardAt > LONGEST_SILENCE_MS) attempt.abort()
    })
    try {
      const parts = (await this.#api.events(signal)).getReader()
      const decoder = new TextDecoder()
      const reader = new SseReader()
      for (;;) {
        const { value, done } = await parts.read()
        if (done) return
        heardAt = pageNow()
        for (const event of reader.push(decoder.decode(value, { stream: true }))) this.#tell(event)
      }
    } finally {
      stopWatch()
    }
  }

  #tell({ event, data }: SseEvent): void {
    if (event === 'transition') this.#hearers.transition(JSON.parse(data) as TransitionView)
    if (event !== 'circuits') return
    this.#hearers.circuits(JSON.parse(data) as CircuitsReport)
    if (this.#isLive) return
    this.#isLive = true
    this.#failures = 0
    this.#hearers.connection({ state: 'live' })
    this.#hearers.connected()
  }

  #lose(why: string): void {
    if (this.#stopped) return
    this.#isLive = false
    const wait = WAITS_MS[Math.min(this.#failures++, WAITS_MS.length - 1)] ?? 0
    this.#hearers.connection({ state: 'lost', why, retryAt: pageNow() + wait })
    this.#callOff = after(wait, () => void this.#connect())
  }
}

const noWait = () => {}
