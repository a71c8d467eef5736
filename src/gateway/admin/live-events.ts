import type { ServerResponse } from 'node:http'

import type { Clock } from '../../core/clock.ts'
import { inWords } from '../../core/errors.ts'
import { causeInWords } from '../../core/explain.ts'
import type { Logger } from '../../core/notifier.ts'
import type { Transition } from '../../core/transition.ts'
import { AdminError } from './admin-error.ts'
import type { AdminGear } from './circuit-view.ts'
import { Viewer } from './viewer.ts'
import type { TransitionView } from './wire.ts'

const TICK_MS = 1000
const LONGEST_SILENCE_MS = 5000
const MOST_VIEWERS = 64
const KEEP_ALIVE = ':\n\n'

/** All circuits, ready to be sent. */
export interface Frame {
  readonly text: () => string
  /** Two frames with the same one differ in nothing but the time that has passed. */
  readonly fingerprint: string
}

interface Around {
  readonly gear: () => AdminGear
  readonly frame: () => Frame
  readonly clock: Clock
  readonly logger: Logger
}

/** An event of a stream of server-sent events. */
const sseEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`

/**
 * The live events: one ticker and one listener for all viewers, and none where nobody watches. All circuits are sent at
 * once, then once a second while something changes and every five seconds otherwise; transitions as they happen.
 */
export class LiveEvents {
  readonly #around: Around
  readonly #viewers = new Set<Viewer>()
  #timer: unknown
  #heard: AdminGear | undefined
  #unhear = () => {}
  #fingerprint = ''
  #toldAt = 0

  constructor(around: Around) {
    this.#around = around
  }

  get size(): number {
    return this.#viewers.size
  }

  /** @throws AdminError, 503, where too many watch already */
  checkRoom(): void {
    if (this.#viewers.size < MOST_VIEWERS) return
    const text = `${MOST_VIEWERS} viewers are watching, which is all that are let in. Close one, or ask GET /admin/circuits.`
    throw new AdminError(503, 'too_many_viewers', text)
  }

  /** Sends everything from now on to `response`, whose head is out, until it closes. */
  add(who: string, isWelcome: () => boolean, response: ServerResponse): void {
    const viewer = new Viewer(who, isWelcome, response)
    this.#viewers.add(viewer)
    response.once('close', () => this.#remove(viewer))
    const { frame, clock } = this.#around
    const { text, fingerprint } = frame()
    this.#hear()
    viewer.send(`retry: 2000\n\n${sseEvent('circuits', text())}`, clock.now())
    if (this.#timer !== undefined) return
    this.#timer = clock.setTimeout(this.#tick, TICK_MS)
    this.#fingerprint = fingerprint
    this.#toldAt = clock.now()
  }

  /** Ends every stream. */
  close(): void {
    for (const viewer of this.#viewers) {
      this.#remove(viewer)
      viewer.end()
    }
  }

  #remove(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer) || this.#viewers.size > 0) return
    this.#around.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#unhear()
    this.#unhear = () => {}
    this.#heard = undefined
  }

  readonly #tick = (): void => {
    const { clock, logger } = this.#around
    const now = clock.now()
    this.#weed(now)
    if (this.#viewers.size === 0) return
    this.#timer = clock.setTimeout(this.#tick, TICK_MS)
    try {
      this.#tellState(now)
    } catch (error) {
      // nobody's dashboard takes the gateway with it
      logger.error({ err: error }, 'admin: the circuits cannot be shown')
    }
  }

  #tellState(now: number): void {
    this.#hear()
    const { text, fingerprint } = this.#around.frame()
    const isNews = fingerprint !== this.#fingerprint || now - this.#toldAt >= LONGEST_SILENCE_MS
    const told = isNews ? sseEvent('circuits', text()) : KEEP_ALIVE
    if (isNews) {
      this.#fingerprint = fingerprint
      this.#toldAt = now
    }
    for (const viewer of this.#viewers) viewer.sendState(told, now)
  }

  /** A reload may have put another switchgear in place. */
  #hear(): void {
    const gear = this.#around.gear()
    if (gear === this.#heard) return
    this.#unhear()
    this.#heard = gear
    this.#unhear = gear.on('transition', (transition) => this.#tell(transition))
  }

  #tell(transition: Transition): void {
    const now = this.#around.clock.now()
    const text = sseEvent('transition', JSON.stringify(transitionView(transition)))
    for (const viewer of this.#viewers) viewer.send(text, now)
    this.#weed(now)
  }

  #weed(now: number): void {
    const { logger } = this.#around
    for (const viewer of this.#viewers) {
      const why = !viewer.isWelcome()
        ? 'the token is out of use'
        : viewer.isLost(now)
          ? 'nobody reads them'
          : ''
      if (why === '') continue
      this.#remove(viewer)
      viewer.drop()
      logger.warn({ who: viewer.who }, `admin: the live events of ${viewer.who} are cut off: ${why}`)
    }
  }
}

function transitionView(transition: Transition): TransitionView {
  const { bucket, from, to, at, cause, openUntil, observed } = transition
  const why = causeInWords(cause)
  const tells = to === 'open' && openUntil !== null && !observed
  return {
    circuit: bucket,
    from,
    to,
    at,
    why,
    told: tells ? `${why}; next try ${inWords(Math.max(0, openUntil - at))}` : why,
    ...(observed && { observed }),
    ...(cause.by !== undefined && { by: cause.by }),
    ...(cause.reason !== undefined && cause.reason !== '' && { reason: cause.reason }),
    openUntil,
  }
}
