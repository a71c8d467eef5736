import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import type { SupervisorRef } from '../../core/host.ts'
import type { Logger } from '../../core/notifier.ts'
import { ActorFeed } from './actor-feed.ts'
import { definitions } from './definitions.ts'
import { Viewer } from './viewer.ts'
import type { Picture } from './wire.ts'

const TICK_MS = 100
const TICKS_OF_SILENCE = 50
const MOST_VIEWERS = 16

interface Around {
  readonly supervisor: SupervisorRef
  /** Address of the Stately inspector. */
  readonly inspector: string
  /** Which of several processes this is. */
  readonly replica?: string
  readonly clock: Clock
  readonly logger: Logger
}

const sseEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`

/** Tells every viewer ten times a second what the actors have done. Nothing runs while nobody watches. */
export class Relay {
  readonly #around: Around
  readonly #feed: ActorFeed
  readonly #viewers = new Set<Viewer>()
  #timer: unknown
  #silentFor = 0
  #faults = 0

  constructor(around: Around) {
    this.#around = around
    this.#feed = new ActorFeed(around.supervisor, around.clock, this.fault)
  }

  /** Why nobody else is let in; undefined = there is room. */
  get whyFull(): string | undefined {
    return this.#viewers.size < MOST_VIEWERS ? undefined : `${MOST_VIEWERS} pages watch already. Close one.`
  }

  /**
   * Sends everything from now on to `response`, whose head is out, until it closes or `isWelcome`, asked at every tick,
   * says no.
   */
  watch(response: ServerResponse, isWelcome: () => boolean = () => true): void {
    // the others have had what the picture of the new one contains
    this.#tell()
    if (!this.#feed.isOpen) this.#feed.open()
    const viewer = new Viewer(response, isWelcome)
    this.#viewers.add(viewer)
    response.once('close', () => this.#leave(viewer))
    viewer.send(this.#picture(0), 0)
    this.#timer ??= this.#around.clock.setTimeout(this.#tick, TICK_MS)
  }

  /** Ends every feed, for good. */
  close(): void {
    for (const viewer of this.#viewers) {
      this.#leave(viewer)
      viewer.drop()
    }
    this.#feed.close()
  }

  /** Tells the log that something cannot be shown. Once says it; there may be a fault at every event. */
  readonly fault = (error: unknown): void => {
    if (this.#faults++ > 0) return
    this.#around.logger.error({ err: { message: String(error) } }, 'the actors cannot be shown')
  }

  #leave(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer) || this.#viewers.size > 0) return
    this.#around.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#feed.shut()
  }

  readonly #tick = (): void => {
    const { clock } = this.#around
    this.#timer = clock.setTimeout(this.#tick, TICK_MS)
    try {
      // before anything is written: what was just written nobody has read
      this.#weed(clock.now())
      this.#tell()
      for (const viewer of this.#viewers) viewer.catchUp((missed) => this.#picture(missed))
    } catch (error) {
      // whoever looks on takes nobody down
      this.fault(error)
    }
  }

  #weed(now: number): void {
    for (const viewer of this.#viewers) {
      if (viewer.isWelcome() && !viewer.isLost(now)) continue
      this.#leave(viewer)
      viewer.drop()
    }
  }

  #tell(): void {
    const news = this.#feed.news()
    const isDue = ++this.#silentFor >= TICKS_OF_SILENCE
    if (news === undefined && !isDue) return
    this.#silentFor = 0
    const text = news === undefined ? ':\n\n' : sseEvent('news', JSON.stringify(news))
    const events = news === undefined ? 0 : news.rows.length + news.dropped
    for (const viewer of this.#viewers) viewer.send(text, events)
  }

  #picture(missed: number): string {
    const { inspector, replica } = this.#around
    const place = replica === undefined ? {} : { replica }
    const picture: Picture = { ...place, inspector, definitions, ...this.#feed.picture(), missed }
    return sseEvent('picture', JSON.stringify(picture))
  }
}
