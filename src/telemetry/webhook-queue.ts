import type { Clock, Random } from '../core/clock.ts'
import type { Logger } from '../core/notifier.ts'
import type { AlertEvent } from './alert-event.ts'
import type { AlertCounts } from './source.ts'
import type { Sign } from './webhook-signature.ts'

// a receiver that is down for a while gets what happened meanwhile, but no flood and nothing stale
const MOST_WAITING = 100
const OLDEST_MS = 3_600_000
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 300_000]
const TIMEOUT_MS = 10_000
/** Waits are drawn up to this much longer: many replicas must not all come back at once. */
const SPREAD = 0.2

export interface QueueOptions {
  readonly url: URL
  /** undefined = not signed. */
  readonly sign: Sign | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

interface Waiting {
  readonly event: AlertEvent
  readonly since: number
}

/** Why a delivery failed, and whether another could do better. */
type Failure = { readonly why: string; readonly final: boolean } | undefined

/** Alerts on their way to one receiver: in order, one at a time, until they are delivered or given up. */
export class WebhookQueue {
  delivered = 0
  dropped = 0
  readonly #options: QueueOptions
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #current: AbortController | undefined
  #wake: (() => void) | undefined
  #closing = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get counts(): AlertCounts {
    return { delivered: this.delivered, dropped: this.dropped, waiting: this.#waiting.length }
  }

  /** Takes an alert. Returns at once; what is too much drops the oldest that is not under way. */
  add(event: AlertEvent): void {
    if (this.#closing) return
    if (this.#waiting.length >= MOST_WAITING)
      this.#drop(this.#waiting.splice(1, 1)[0], 'too many are waiting')
    this.#waiting.push({ event, since: this.#options.clock.now() })
    // the request begins in a turn of its own, not in that of a call
    this.#running ??= Promise.resolve().then(() => this.#run())
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const failure = await this.#deliver(next)
      this.#waiting.shift()
      if (failure === undefined) this.delivered++
      else this.#drop(next, failure)
    }
    this.#running = undefined
  }

  /** Tries until it is delivered; otherwise says why not. The id stays the same, so that a receiver knows it again. */
  async #deliver({ event, since }: Waiting): Promise<string | undefined> {
    const { clock, random } = this.#options
    const body = JSON.stringify(event)
    for (let i = 0; ; i++) {
      if (clock.now() - since > OLDEST_MS) return 'it is too old'
      const failure = await this.#post(event.id, body)
      if (failure === undefined) return undefined
      const wait = RETRY_AFTER_MS[i]
      if (failure.final || wait === undefined || this.#closing) return failure.why
      await this.#pause(Math.ceil(wait * (1 + SPREAD * random())))
    }
  }

  async #post(id: string, body: string): Promise<Failure> {
    const { url, sign, clock } = this.#options
    const timestamp = Math.floor(clock.wall() / 1000)
    const headers = {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'switchgear',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(sign && { 'webhook-signature': sign(id, timestamp, body) }),
    }
    const controller = (this.#current = new AbortController())
    const limit = clock.setTimeout(() => controller.abort(), TIMEOUT_MS)
    try {
      // whoever answers elsewhere is not who was configured: a redirect is a failure
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: controller.signal,
      })
      await answer.body?.cancel().catch(() => {})
      if (answer.ok) return undefined
      const { status } = answer
      return { why: `it answered ${status}`, final: status === 410 || (status >= 300 && status < 400) }
    } catch {
      return {
        why: controller.signal.aborted ? `no answer within ${TIMEOUT_MS} ms` : 'it cannot be reached',
        final: false,
      }
    } finally {
      clock.clearTimeout(limit)
      this.#current = undefined
    }
  }

  #pause(ms: number): Promise<void> {
    const { clock } = this.#options
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, ms)
      this.#wake = () => {
        clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  #drop(waiting: Waiting | undefined, why: string): void {
    if (waiting === undefined) return
    this.dropped++
    const { type, subject } = waiting.event
    // the path of a webhook's address is often its password
    const receiver = this.#options.url.origin
    const text = `an alert about '${subject}' was not delivered to ${receiver}: ${why}`
    try {
      this.#options.logger.warn({ receiver, type, subject }, text)
    } catch {
      // there is nobody else to tell
    }
  }

  /** Takes nothing more; gives what is waiting one try each, `graceMs` for all of them. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#options
    this.#closing = true
    this.#wake?.()
    if (this.#running === undefined) return
    const over = Promise.withResolvers<void>()
    const timer = clock.setTimeout(() => {
      for (const left of this.#waiting.splice(1)) this.#drop(left, 'the process ends')
      this.#current?.abort()
      over.resolve()
    }, graceMs)
    await Promise.race([this.#running, over.promise])
    clock.clearTimeout(timer)
  }
}
