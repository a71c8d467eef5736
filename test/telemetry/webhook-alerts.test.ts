import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { createSwitchgear } from '../../src/index.ts'
import { systemClock } from '../../src/core/clock.ts'
import { webhookAlerts } from '../../src/telemetry/webhook-alerts.ts'
import type { AlertReceiver } from '../../src/telemetry/webhook-alerts.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { answer, failing, never, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'
import { startReceiver } from './receiver.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const breaker = { threshold: 2, cooldownMs: 30_000 }
const down: Target = { name: 'a', invoke: failing(status(500)), maxRetries: 0, circuitBreaker: breaker }

/** A switchgear on a clock that stands still, at the present time: signatures expire. */
function scene(targets: readonly Target[], receivers: readonly AlertReceiver[]) {
  const clock = new VirtualClock(systemClock.wall())
  const warnings: string[] = []
  const logger = { info() {}, error() {}, warn: (_fields: object, text: string) => void warnings.push(text) }
  const gear = createSwitchgear<string, string, string>({ targets, clock, random: () => 0 })
  const alerts = webhookAlerts(gear, {
    receivers,
    clock,
    logger,
    random: () => 0,
    source: '/switchgear/replica-1',
  })
  return { clock, gear, alerts, warnings }
}

const calls = (gear: ReturnType<typeof scene>['gear'], n: number) =>
  Promise.all(Array.from({ length: n }, () => gear.call('hi').catch(() => {})))

/** Lets a circuit with a trial of one probe open again and again. */
async function reopen({ clock, gear }: Pick<ReturnType<typeof scene>, 'clock' | 'gear'>) {
  clock.advance(30_000)
  await calls(gear, 1)
}

describe('an opening', () => {
  it('is one CloudEvent, signed as Standard Webhooks say, however many calls failed at once', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, alerts } = scene([down], [{ url: receiver.url, secret: SECRET }])
    await calls(gear, 50)
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 }))
    expect(receiver.deliveries).toHaveLength(1)
    const { headers, body } = receiver.deliveries[0]!
    const verified = new Webhook(SECRET).verify(body, headers as Record<string, string>)
    expect(verified).toEqual({
      specversion: '1.0',
      id: headers['webhook-id'],
      source: '/switchgear/replica-1',
      type: 'dev.switchgear.circuit.opened.v1',
      subject: 'a',
      time: new Date(clock.wall()).toISOString(),
      datacontenttype: 'application/json',
      data: {
        summary:
          "Circuit 'a' is open, calls are refused: 2 failures in a row, the last of kind server_error.",
        circuit: 'a',
        from: 'closed',
        why: 'tripped',
        failure: 'server_error',
        consecutiveFailures: 2,
        openUntil: new Date(clock.wall() + 30_000).toISOString(),
        generation: 2,
        call: expect.any(String),
      },
    })
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
  })

  it('that was forged or changed on the way is told apart by its signature', async () => {
    await using receiver = await startReceiver()
    const { gear, alerts } = scene([down], [{ url: receiver.url, secret: SECRET }])
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    const { headers, body } = receiver.deliveries[0]!
    const hook = new Webhook(SECRET)
    expect(() => hook.verify(body.replace('open', 'closed'), headers as Record<string, string>)).toThrow()
    const other = new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)
    expect(() => other.verify(body, headers as Record<string, string>)).toThrow()
  })

  it('goes out unsigned where no secret is given, and to every receiver', async () => {
    await using one = await startReceiver()
    await using two = await startReceiver()
    const { gear, alerts } = scene([down], [{ url: one.url }, { url: two.url, secret: SECRET }])
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(2))
    expect(one.deliveries[0]?.headers['webhook-signature']).toBeUndefined()
    expect(one.deliveries[0]?.headers['webhook-id']).toBeDefined()
    expect(two.deliveries[0]?.headers['webhook-signature']).toMatch(/^v1,/)
  })

  it('of a circuit that is only observed says that nothing is refused', async () => {
    await using receiver = await startReceiver()
    const watched: Target = { ...down, circuitBreaker: { ...breaker, mode: 'observe' } }
    const { gear, alerts } = scene([watched], [{ url: receiver.url }])
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    expect(receiver.events()).toMatchObject([
      {
        data: {
          summary:
            "Circuit 'a' would be open (only observed: nothing is refused): 2 failures in a row, the last of kind server_error.",
          observed: true,
        },
      },
    ])
  })

  it('says nothing that a provider said', async () => {
    await using receiver = await startReceiver()
    const invoke = failing(status(401, { message: 'wrong key sk-very-secret' }))
    const { gear, alerts } = scene([{ ...down, invoke }], [{ url: receiver.url }])
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(2))
    expect(receiver.deliveries.map(({ body }) => body).join('')).not.toContain('sk-very-secret')
  })
})

describe('a hold', () => {
  it('is told once, as a hold, with who and why and until when', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, alerts } = scene([down], [{ url: receiver.url }])
    gear.openCircuit({}, { hold: true, ttlMs: 60_000, by: 'alice', reason: 'maintenance' })
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    const until = new Date(clock.wall() + 60_000).toISOString()
    expect(receiver.events()).toMatchObject([
      {
        type: 'dev.switchgear.circuit.held.v1',
        data: {
          summary: `Circuit 'a' is held open, calls are refused, by alice ("maintenance"), until ${until}.`,
          state: 'open',
          by: 'alice',
          reason: 'maintenance',
          until,
        },
      },
    ])
  })

  it('is told where it changes no state: a closed circuit held closed, an open one held open', async () => {
    await using receiver = await startReceiver()
    const { gear, alerts } = scene([down], [{ url: receiver.url, on: ['hold'] }])
    gear.closeCircuit({}, { hold: true, by: 'bob' })
    gear.closeCircuit({}, { by: 'bob' })
    await calls(gear, 2)
    gear.openCircuit({}, { hold: true, by: 'carol' })
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(2))
    expect(receiver.events().map(({ data }) => data)).toMatchObject([
      { state: 'closed', by: 'bob', until: null },
      { state: 'open', by: 'carol', until: null },
    ])
  })

  it('is told as an opening to who does not listen to holds', async () => {
    await using receiver = await startReceiver()
    const { gear, alerts } = scene([down], [{ url: receiver.url, on: ['open'] }])
    gear.openCircuit({}, { hold: true, by: 'alice' })
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    expect(receiver.events()).toMatchObject([
      { type: 'dev.switchgear.circuit.opened.v1', data: { why: 'operator', by: 'alice', openUntil: null } },
    ])
  })
})

describe('a circuit that opens again and again', () => {
  it('flaps once it has opened so often in so long, and is told again only after as many more', async () => {
    await using receiver = await startReceiver()
    const flapping = { opens: 3, withinMs: 100_000 }
    const it = scene([down], [{ url: receiver.url, on: ['flapping'], flapping }])
    await calls(it.gear, 2)
    await reopen(it)
    expect(it.alerts.counts.waiting).toBe(0)
    await reopen(it)
    await vi.waitFor(() => expect(it.alerts.counts.delivered).toBe(1))
    await reopen(it)
    await reopen(it)
    expect(it.alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 })
    await reopen(it)
    await vi.waitFor(() => expect(it.alerts.counts.delivered).toBe(2))
    const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(2)
    expect(receiver.events()[0]).toMatchObject({
      type: 'dev.switchgear.circuit.flapping.v1',
      data: { circuit: 'a', opens: 3, withinMs: 100_000 },
    })
  })

  it('does not flap where the openings are far apart, or an operator’s', async () => {
    await using receiver = await startReceiver()
    const flapping = { opens: 2, withinMs: 20_000 }
    const it = scene([down], [{ url: receiver.url, on: ['flapping'], flapping }])
    await calls(it.gear, 2)
    await reopen(it)
    it.gear.closeCircuit()
    it.gear.openCircuit()
    it.gear.closeCircuit()
    it.gear.openCircuit()
    expect(it.alerts.counts).toEqual({ delivered: 0, dropped: 0, waiting: 0 })
  })
})

describe('a trial', () => {
  const opened = async (invoke: Target['invoke'], receiver: AlertReceiver) => {
    let dead = true
    const wanted = invoke!
    const target: Target = {
      ...down,
      timeoutMs: Infinity,
      circuitBreaker: { ...breaker, probeLeaseMs: 10_000_000 },
      invoke: (request, context) => (dead ? Promise.reject(status(500)) : wanted(request, context)),
    }
    const it = scene([target], [{ on: ['stuck-half-open'], ...receiver }])
    await calls(it.gear, 2)
    dead = false
    it.clock.advance(30_000)
    return it
  }

  it('that hangs while calls are refused is stuck', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, alerts } = await opened(never, { url: receiver.url, stuckHalfOpenMs: 120_000 })
    const leave = new AbortController()
    const probe = gear.call('hi', { signal: leave.signal }).catch(() => {})
    await calls(gear, 3)
    clock.advance(119_999)
    expect(alerts.counts.waiting).toBe(0)
    clock.advance(1)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    expect(receiver.events()).toMatchObject([
      {
        type: 'dev.switchgear.circuit.stuck-half-open.v1',
        data: { circuit: 'a', probesInFlight: 1, refused: 3, probesSucceeded: 0 },
      },
    ])
    leave.abort()
    await probe
  })

  it('that nobody asks anything of is not stuck, until somebody does', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, alerts } = await opened(never, { url: receiver.url, stuckHalfOpenMs: 120_000 })
    clock.advance(1_000_000)
    expect(alerts.counts).toEqual({ delivered: 0, dropped: 0, waiting: 0 })
    const leave = new AbortController()
    const probe = gear.call('hi', { signal: leave.signal }).catch(() => {})
    clock.advance(120_000)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    leave.abort()
    await probe
  })

  it('that ends in time is not stuck, and leaves no timer', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, alerts } = await opened(answer('yes'), {
      url: receiver.url,
      stuckHalfOpenMs: 120_000,
    })
    await calls(gear, 1)
    expect(gear.getCircuitState()).toBe('closed')
    expect(clock.pending).toBe(0)
    expect(alerts.counts.waiting).toBe(0)
  })

  it('is no longer watched after closing', async () => {
    const { clock, alerts } = await opened(never, { url: 'http://127.0.0.1:9' })
    const before = clock.pending
    await alerts.close()
    expect(clock.pending).toBe(before - 1)
  })

  it('that was going on before anybody looked is watched, too', async () => {
    await using receiver = await startReceiver()
    const { clock, gear } = await opened(never, { url: receiver.url, on: ['auth'] })
    clock.advance(60_000)
    const later = webhookAlerts(gear, { clock, receivers: [{ url: receiver.url, stuckHalfOpenMs: 90_000 }] })
    const leave = new AbortController()
    const probe = gear.call('hi', { signal: leave.signal }).catch(() => {})
    clock.advance(30_000)
    await vi.waitFor(() => expect(later.counts.delivered).toBe(1))
    leave.abort()
    await probe
  })
})

describe('a failure that waiting does not heal', () => {
  it.each([
    ['auth', 401, 'dev.switchgear.target.auth-failed.v1'],
    ['quota', 402, 'dev.switchgear.target.quota-exhausted.v1'],
  ] as const)('of kind %s is told at the first request, and once an hour', async (on, code, type) => {
    await using receiver = await startReceiver()
    const target = { ...down, circuitBreaker: false, invoke: failing(status(code)) }
    const { clock, gear, alerts } = scene([target], [{ url: receiver.url, on: [on] }])
    await calls(gear, 20)
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 }))
    clock.advance(3_599_999)
    await calls(gear, 1)
    expect(alerts.counts.waiting).toBe(0)
    clock.advance(1)
    await calls(gear, 1)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(2))
    expect(receiver.events()).toMatchObject([{ type, subject: 'a' }, { type }])
  })
})

describe('a receiver', () => {
  /** Alerts on a clock of their own, on which there is nothing but deliveries. */
  const several = (receivers: readonly AlertReceiver[]) => {
    const start = systemClock.wall()
    const [clock, own] = [new VirtualClock(start), new VirtualClock(start)]
    const warnings: string[] = []
    const logger = { info() {}, error() {}, warn: (_: object, text: string) => void warnings.push(text) }
    const gear = createSwitchgear<string, string, string>({ targets: [down], clock: own, random: () => 0 })
    const all = receivers.map((receiver) => ({ on: ['open'] as const, ...receiver }))
    const alerts = webhookAlerts(gear, { receivers: all, clock, logger, random: () => 0 })
    return { clock, gear, warnings, alerts }
  }
  const one = (url: string, more: Partial<AlertReceiver> = {}) => several([{ url, ...more }])

  /** Waits until a pause of `ms` has begun, and lets it pass. */
  const pauseOver = async (clock: VirtualClock, ms: number) => {
    await vi.waitFor(() => expect(clock.nextAt).toBe(clock.now() + ms))
    clock.advance(ms)
  }

  it('that fails for a while gets the alert again under the same id, freshly signed', async () => {
    await using receiver = await startReceiver(
      (response, n) => void response.writeHead(n < 3 ? 503 : 200).end(),
    )
    const { clock, gear, alerts } = one(receiver.url, { secret: SECRET })
    await calls(gear, 2)
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1))
    for (const wait of [1_000, 5_000]) await pauseOver(clock, wait)
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 }))
    const { deliveries } = receiver
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-signature'])).size).toBe(3)
    for (const { headers, body } of deliveries)
      new Webhook(SECRET).verify(body, headers as Record<string, string>)
  })

  it('that stays dead loses the alert after six tries, which is counted and logged without its address', async () => {
    await using receiver = await startReceiver((response) => void response.writeHead(500).end())
    const { clock, gear, alerts, warnings } = one(receiver.url)
    await calls(gear, 2)
    for (const wait of [1_000, 5_000, 30_000, 120_000, 300_000]) await pauseOver(clock, wait)
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 0, dropped: 1, waiting: 0 }))
    expect(receiver.deliveries).toHaveLength(6)
    expect(warnings).toEqual([
      `an alert about 'a' was not delivered to ${new URL(receiver.url).origin}: it answered 500`,
    ])
  })

  it('that redirects is not followed', async () => {
    await using elsewhere = await startReceiver()
    await using receiver = await startReceiver(
      (response) => void response.writeHead(307, { location: elsewhere.url }).end(),
    )
    const { gear, alerts, warnings } = one(receiver.url)
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.dropped).toBe(1))
    expect(elsewhere.deliveries).toEqual([])
    expect(receiver.deliveries).toHaveLength(1)
    expect(warnings[0]).toContain('it answered 307')
  })

  it('that is gone is not asked again', async () => {
    await using receiver = await startReceiver((response) => void response.writeHead(410).end())
    const { gear, alerts } = one(receiver.url)
    await calls(gear, 2)
    await vi.waitFor(() => expect(alerts.counts.dropped).toBe(1))
    expect(receiver.deliveries).toHaveLength(1)
  })

  it('that hangs, or cannot be reached, delays no call and nobody else’s alerts', async () => {
    await using hanging = await startReceiver(() => {})
    await using well = await startReceiver()
    const closed = await startReceiver()
    await closed[Symbol.asyncDispose]()
    const { clock, gear, alerts } = several([hanging, closed, well].map(({ url }) => ({ url })))
    await calls(gear, 2)
    await vi.waitFor(() => expect(well.deliveries).toHaveLength(1))
    await vi.waitFor(() => expect(hanging.deliveries).toHaveLength(1))
    await pauseOver(clock, 1_000)
    await pauseOver(clock, 5_000)
    // the limit of the one that hangs
    await pauseOver(clock, 4_000)
    await vi.waitFor(() => expect(clock.nextAt).toBe(clock.now() + 1_000))
    expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 2 })
    const ended = alerts.close({ graceMs: 0 })
    clock.advance(0)
    await ended
  })

  it('that is dead for long keeps no more than a hundred alerts, the newest ones, and none older than an hour', async () => {
    await using receiver = await startReceiver((response) => void response.writeHead(500).end())
    const { clock, gear, alerts, warnings } = one(receiver.url)
    await calls(gear, 2)
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1))
    for (let i = 0; i < 110; i++) {
      gear.closeCircuit()
      gear.openCircuit()
    }
    expect(alerts.counts).toEqual({ delivered: 0, dropped: 11, waiting: 100 })
    expect(warnings[0]).toContain('too many are waiting')
    await vi.waitFor(() => expect(clock.nextAt).toBe(clock.now() + 1_000))
    clock.advance(3_700_000)
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 0, dropped: 111, waiting: 0 }))
    expect(warnings.at(-1)).toContain('it is too old')
  })
})

describe('closing', () => {
  it('delivers what is waiting, then hears nothing more', async () => {
    await using receiver = await startReceiver()
    const { gear, alerts } = scene([down], [{ url: receiver.url }])
    await calls(gear, 2)
    await alerts.close()
    expect(receiver.deliveries).toHaveLength(1)
    gear.closeCircuit()
    await calls(gear, 2)
    expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 })
  })

  it('does not wait for the next try: there is one at once', async () => {
    await using receiver = await startReceiver(
      (response, n) => void response.writeHead(n < 2 ? 503 : 200).end(),
    )
    const { gear, alerts, warnings } = scene([down], [{ url: receiver.url, on: ['open'] }])
    await calls(gear, 2)
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1))
    await alerts.close()
    expect(alerts.counts).toEqual({ delivered: 1, dropped: 0, waiting: 0 })
    expect(warnings).toEqual([])
  })

  it('waits no longer than it is told to, and counts what it gave up', async () => {
    await using receiver = await startReceiver(() => {})
    const { clock, gear, alerts } = scene([down], [{ url: receiver.url, on: ['open'] }])
    await calls(gear, 2)
    gear.closeCircuit()
    gear.openCircuit()
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1))
    const closed = alerts.close({ graceMs: 2_000 })
    clock.advance(2_000)
    await closed
    await vi.waitFor(() => expect(alerts.counts).toEqual({ delivered: 0, dropped: 2, waiting: 0 }))
  })
})

describe('what cannot work is refused', () => {
  const { gear } = scene([down], [])
  const url = 'https://hooks.example.com/x'
  it.each([
    ['a secret without whsec_', { url, secret: Buffer.alloc(32).toString('base64') }, /secret/],
    ['a secret that is too short', { url, secret: 'whsec_c2hvcnQ=' }, /secret/],
    [
      'a secret that is no base64',
      { url, secret: 'whsec_not base64, but long enough to be one, surely' },
      /secret/,
    ],
    ['an address that is none', { url: 'hooks.example.com' }, /url/],
    ['an address of a file', { url: 'file:///etc/passwd' }, /url/],
    ['an address with a user in it', { url: 'https://user:pass@hooks.example.com' }, /url/],
    ['an unknown reason', { url, on: ['opened'] }, /on/],
    ['an unknown key', { url, secrets: 'x' }, /Did you mean 'secret'/],
    ['one opening that flaps', { url, flapping: { opens: 1 } }, /flapping\.opens/],
    ['no time to be stuck', { url, stuckHalfOpenMs: 0 }, /stuckHalfOpenMs/],
  ])('%s', (_, receiver, words) => {
    expect(() => webhookAlerts(gear, { receivers: [receiver as AlertReceiver] })).toThrow(words)
  })

  it('and a secret is not repeated', () => {
    const told = () => webhookAlerts(gear, { receivers: [{ url, secret: 'whsec_sk-very-secret' }] })
    expect(told).toThrow(/receivers\[0\]\.secret is no Standard Webhooks secret/)
    expect(told).not.toThrow(/sk-very-secret/)
  })
})
