import { hostname } from 'node:os'
import { systemClock, systemRandom } from '../core/clock.ts'
import type { Clock, Random } from '../core/clock.ts'
import { ConfigError } from '../core/errors.ts'
import { silentLogger } from '../core/notifier.ts'
import type { Logger } from '../core/notifier.ts'
import { checkKeys, checkList, checkNumber, checkWord } from '../core/validate.ts'
import { ALERT_REASONS, toEvent } from './alert-event.ts'
import type { AlertReason } from './alert-event.ts'
import { AlertWatch } from './alert-watch.ts'
import type { AlertRules } from './alert-watch.ts'
import type { AlertCounts, TelemetryGear } from './source.ts'
import { WebhookQueue } from './webhook-queue.ts'
import { signer } from './webhook-signature.ts'

/** One receiver of alerts. */
export interface AlertReceiver {
  /** Where the CloudEvent is posted to: http or https, without a user in it. Redirects are not followed. */
  readonly url: string
  /** `whsec_` and 24 to 64 bytes as base64: signs every delivery as Standard Webhooks say. Default: not signed. */
  readonly secret?: string
  /** What is told. Default: all of it. */
  readonly on?: readonly AlertReason[]
  /** So many openings of one circuit, an integer ≥ 2, within so many ms. Default 5 within 600 000. */
  readonly flapping?: { readonly opens?: number; readonly withinMs?: number }
  /** A trial that takes longer is stuck, in ms. Default 300 000. */
  readonly stuckHalfOpenMs?: number
}

export interface WebhookAlertOptions {
  readonly receivers: readonly AlertReceiver[]
  /** Who sends: the events' `source`, a URI or a path. Default `/switchgear/` and the name of the host. */
  readonly source?: string
  /** Default: the real clock; give the switchgear's own where it has another. */
  readonly clock?: Clock
  /** Source of chance for the back-off: 0 ≤ value < 1. Default: `Math.random`. */
  readonly random?: Random
  /** Hears of alerts that were not delivered. Default: silent. */
  readonly logger?: Logger
}

export interface WebhookAlerts extends AsyncDisposable {
  /** What became of them so far, over all receivers. */
  readonly counts: AlertCounts
  /** Tells no more; gives what is waiting one more try, for `graceMs` at most. Default 5000. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

const GRACE_MS = 5_000

/**
 * Tells webhooks what an operator must know: one CloudEvent for one thing that happened, off the path of calls, retried
 * under the same id. A receiver that is down hurts nobody; what it cannot be told is counted and logged.
 *
 * @throws ConfigError, RangeError for a receiver that cannot work
 * @example
 * ```ts
 * const alerts = webhookAlerts(gear, {
 *   receivers: [{ url: 'https://hooks.example.com/switchgear', secret: process.env.WEBHOOK_SECRET, on: ['open'] }],
 * })
 * ```
 */
export function webhookAlerts(gear: TelemetryGear, options: WebhookAlertOptions): WebhookAlerts {
  checkKeys('', options, ['receivers', 'source', 'clock', 'random', 'logger'])
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options
  const { source = `/switchgear/${hostname()}` } = options
  const resolved = checkList('receivers', options.receivers).map((receiver, i) =>
    resolve(receiver as AlertReceiver, `receivers[${i}]`),
  )
  const ways = resolved.map(({ url, sign, rules }) => {
    const queue = new WebhookQueue({ url, sign, clock, random, logger })
    return { queue, watch: new AlertWatch(gear, clock, rules, (alert) => queue.add(toEvent(alert, source))) }
  })
  const close: WebhookAlerts['close'] = async ({ graceMs = GRACE_MS } = {}) => {
    for (const { watch } of ways) watch.stop()
    await Promise.all(ways.map(({ queue }) => queue.close(graceMs)))
  }
  return {
    get counts() {
      const sum = { delivered: 0, dropped: 0, waiting: 0 }
      for (const { queue } of ways) {
        const { delivered, dropped, waiting } = queue.counts
        sum.delivered += delivered
        sum.dropped += dropped
        sum.waiting += waiting
      }
      return sum
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function resolve(receiver: AlertReceiver, path: string) {
  checkKeys(path, receiver, ['url', 'secret', 'on', 'flapping', 'stuckHalfOpenMs'])
  const { secret, on = ALERT_REASONS, flapping = {}, stuckHalfOpenMs = 300_000 } = receiver
  checkKeys(`${path}.flapping`, flapping, ['opens', 'withinMs'])
  const reasons = checkList(`${path}.on`, on).map((word) => checkWord(`${path}.on`, word, ALERT_REASONS))
  const { opens = 5, withinMs = 600_000 } = flapping
  const above = { min: 0, above: true }
  const rules: AlertRules = {
    on: new Set(reasons),
    flapping: {
      opens: checkNumber(`${path}.flapping.opens`, opens, { min: 2, integer: true }),
      withinMs: checkNumber(`${path}.flapping.withinMs`, withinMs, above),
    },
    stuckHalfOpenMs: checkNumber(`${path}.stuckHalfOpenMs`, stuckHalfOpenMs, above),
  }
  const url = checkUrl(receiver.url, `${path}.url`)
  return { url, sign: secret === undefined ? undefined : signer(secret, `${path}.secret`), rules }
}

function checkUrl(text: unknown, path: string): URL {
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw new ConfigError(`${path} is no address of a webhook.`, {
    path,
    hint: 'It must be an http(s) URL without a user in it, such as https://hooks.example.com/switchgear.',
  })
}
