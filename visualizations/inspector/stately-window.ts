import { effect, signal } from '@preact/signals'
import type { News } from '../../src/adapters/inspect/wire.ts'
import { pageNow } from '../dashboard/page-clock.ts'
import type { Actor, Actors, Hearer } from './actors.ts'
import { actorMessage, rowMessages, snapshotMessage } from './stately-messages.ts'
import type { StatelyMessage } from './stately-messages.ts'

const CONNECTED = '@statelyai.connected'
const DISCONNECTED = '@statelyai.disconnected'
const NAME = 'switchgear-stately-inspector'

/**
 * The Stately inspector in a frame or a window: told of every actor that is looked for once it says that it is there, and
 * of what they do from then on. Messages go to its own origin only.
 */
export class StatelyWindow implements Hearer {
  /** The frame is in the page, so that what it shows outlives a look elsewhere. */
  readonly isFramed = signal(false)
  readonly state = signal<'off' | 'blocked' | 'waiting' | 'connected'>('off')
  readonly posted = signal(0)
  readonly #actors: Actors
  readonly #known = new Set<Actor>()
  #frame: HTMLIFrameElement | null = null
  #popup: Window | null = null

  constructor(actors: Actors) {
    this.#actors = actors
    actors.hearer = this
    addEventListener('message', this.#answer)
    addEventListener('pagehide', () => this.stop())
    effect(() => this.#introduce(actors.wanted.value))
  }

  /** In the page, once its frame is there. */
  showHere(): void {
    this.stop()
    this.state.value = 'waiting'
    this.isFramed.value = true
  }

  /** Needs a click: browsers block windows that nobody asked for. */
  openWindow(): void {
    this.stop()
    this.#popup = open(this.#actors.inspector.value, NAME)
    this.state.value = this.#popup === null ? 'blocked' : 'waiting'
  }

  stop(): void {
    if (this.state.value === 'connected') this.#target?.postMessage({ type: DISCONNECTED }, this.#origin)
    this.isFramed.value = false
    this.#popup = null
    this.#known.clear()
    this.posted.value = 0
    this.state.value = 'off'
  }

  readonly frameIs = (frame: HTMLIFrameElement | null): void => {
    this.#frame = frame
  }

  shown(): void {
    this.#known.clear()
    this.#introduce(this.#actors.wanted.value)
  }

  came(actors: readonly Actor[]): void {
    this.#introduce(actors.filter((actor) => this.#actors.isWanted(actor)))
  }

  heard({ rows, snapshots }: News): void {
    for (const row of rows) {
      const actor = this.#actors.byId.get(row.id)
      if (actor !== undefined && this.#known.has(actor)) this.#post(...rowMessages(actor.told, row))
    }
    for (const { id, snapshot } of snapshots) {
      const actor = this.#actors.byId.get(id)
      if (actor === undefined || !this.#known.has(actor)) continue
      this.#post(snapshotMessage(actor.told, snapshot, { type: '' }, pageNow()))
    }
  }

  #introduce(actors: readonly Actor[]): void {
    if (this.state.peek() !== 'connected') return
    for (const actor of actors) {
      if (this.#known.has(actor) || actor.ended.peek()) continue
      this.#known.add(actor)
      const { told, snapshot } = actor
      const definition = this.#actors.definitions?.[told.machine] ?? ''
      this.#post(actorMessage(told, snapshot.peek(), definition, pageNow()))
    }
  }

  readonly #answer = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (source === null || source !== this.#target || origin !== this.#origin) return
    if (typeof data !== 'object' || data === null || !('type' in data) || data.type !== CONNECTED) return
    // it says so anew after it was loaded anew
    this.#known.clear()
    this.state.value = 'connected'
    this.#introduce(this.#actors.wanted.peek())
  }

  get #target(): Window | null {
    return this.#popup ?? this.#frame?.contentWindow ?? null
  }

  get #origin(): string {
    return new URL(this.#actors.inspector.peek()).origin
  }

  #post(...messages: StatelyMessage[]): void {
    const target = this.#target
    for (const message of messages) target?.postMessage(message, this.#origin)
    this.posted.value = this.posted.peek() + messages.length
  }
}
