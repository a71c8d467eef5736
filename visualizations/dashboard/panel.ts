import { batch, computed, signal } from '@preact/signals'
import type { ReadonlySignal, Signal } from '@preact/signals'
import { AdminApi, ApiError } from './admin-api.ts'
import { Circuits } from './circuits.ts'
import type { Order } from '../../src/gateway/admin/wire.ts'
import { LiveEvents } from './live-events.ts'
import type { Connection } from './live-events.ts'
import { after, every, pageNow } from './page-clock.ts'
import { Timeline } from './timeline.ts'
import { NO_WORD, forgetToken, isWord, keepToken } from './token.ts'

/** Who may look, and what is wrong with the token that was tried. */
export type Session =
  | { readonly state: 'out'; readonly fault: string }
  | { readonly state: 'checking' }
  | { readonly state: 'in'; readonly api: AdminApi }

const TICK_MS = 250
const LOAD_MS = 1000

/** Everything that the page shows, and what can be done on it. */
export class Panel {
  readonly session: Signal<Session> = signal({ state: 'out', fault: '' })
  readonly connection: Signal<Connection> = signal({ state: 'connecting' })
  readonly circuits = new Circuits()
  readonly timeline = new Timeline()
  readonly replica = signal('')
  /** When the gateway last told of all circuits, on its clock. */
  readonly heardAt = signal(0)
  readonly #pageTime = signal(pageNow())
  /** The clock of the gateway less that of the page. */
  readonly #ahead = signal(0)
  #live: LiveEvents | undefined
  #stopTick = () => {}
  #isLoadDue = false

  /** Now, on the clock of the gateway. It stands still while the connection is lost: so does what is shown. */
  readonly now: ReadonlySignal<number> = computed(() =>
    this.connection.value.state === 'live' ? this.#pageTime.value + this.#ahead.value : this.heardAt.value,
  )
  /** Until the next try to connect, in ms. */
  readonly retryIn: ReadonlySignal<number> = computed(() => {
    const { value } = this.connection
    return value.state === 'lost' ? Math.max(0, value.retryAt - this.#pageTime.value) : 0
  })

  /** Begins with a token that was kept. */
  resume(token: string | undefined): void {
    if (token !== undefined) this.#begin(token)
  }

  async signIn(token: string): Promise<void> {
    if (!isWord(token)) {
      this.session.value = { state: 'out', fault: NO_WORD }
      return
    }
    this.session.value = { state: 'checking' }
    try {
      await new AdminApi(token).circuits()
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error)
      this.session.value = { state: 'out', fault }
      return
    }
    keepToken(token)
    this.#begin(token)
  }

  signOut(fault = ''): void {
    forgetToken()
    this.#live?.stop()
    this.#stopTick()
    batch(() => {
      this.session.value = { state: 'out', fault }
      this.connection.value = { state: 'connecting' }
      this.circuits.clear()
      this.timeline.clear()
      this.heardAt.value = 0
    })
  }

  retry(): void {
    this.#live?.retry()
  }

  /** @throws ApiError with words for people */
  async command(name: string, verb: 'open' | 'close', command: Order): Promise<void> {
    const { value } = this.session
    if (value.state !== 'in') throw new ApiError(401, 'You are signed out. Sign in again.')
    this.circuits.take(await value.api.command(name, verb, command))
    void this.timeline.load(value.api)
  }

  /** The journal tells more of what was heard: how many calls were refused before. Once for many at a time. */
  #loadSoon(api: AdminApi): void {
    if (this.#isLoadDue) return
    this.#isLoadDue = true
    after(LOAD_MS, () => {
      this.#isLoadDue = false
      if (this.session.peek().state === 'in') void this.timeline.load(api)
    })
  }

  #begin(token: string): void {
    const api = new AdminApi(token)
    this.session.value = { state: 'in', api }
    this.#live = new LiveEvents(api, {
      connected: () => void this.timeline.load(api),
      circuits: ({ replica, now, circuits }) =>
        batch(() => {
          this.replica.value = replica
          this.heardAt.value = now
          this.#ahead.value = now - pageNow()
          const { heldOtherwise } = this.circuits.takeAll(circuits)
          // a hold may change no state, and then no transition tells of it
          if (heldOtherwise) void this.timeline.load(api)
        }),
      transition: (transition) => {
        this.timeline.hear(transition)
        this.#loadSoon(api)
      },
      connection: (connection) => (this.connection.value = connection),
      refused: (why) => this.signOut(why),
    })
    this.#live.start()
    this.#stopTick = every(TICK_MS, () => (this.#pageTime.value = pageNow()))
  }
}
