import { describe, expect, it } from 'vitest'

import { ActorFeed } from '../../src/adapters/inspect/actor-feed.ts'
import { shownEvent, shownSnapshot } from '../../src/adapters/inspect/allow-list.ts'
import { definitions } from '../../src/adapters/inspect/definitions.ts'
import { settle } from '../support/fate.ts'
import { rig } from '../support/rig.ts'

const SECRET = 'sk-secret-0123456789'
const leak = (message: string) => Object.assign(new Error(message), { status: 503, body: SECRET })

describe('what is shown', () => {
  it('is nothing of requests, answers, errors or settings', async () => {
    const { gear, clock } = rig([
      {
        name: 'fails',
        maxRetries: 1,
        circuitBreaker: { threshold: 1, cooldownBackoff: Object.assign(() => 1, { key: SECRET }) },
        invoke: () => Promise.reject(leak(SECRET)),
      },
      { name: 'answers', invoke: () => Promise.resolve(SECRET), circuitBreaker: true },
    ])
    const feed = new ActorFeed(gear.supervisor, clock, () => {})
    const told: unknown[] = []
    const look = () => told.push(feed.picture(), feed.news())
    feed.open()
    const call = gear.call(SECRET)
    await settle()
    look()
    clock.advance(60_000)
    expect(await call).toBe(SECRET)
    gear.openCircuit({ name: 'answers' }, { by: 'alice', reason: 'maintenance' })
    await gear.call(SECRET).catch(() => {})
    look()
    const text = JSON.stringify([told, definitions])
    expect(text).toContain('attempt.failed')
    expect(text).toContain('maintenance')
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain('policy')
  })

  it('is no field that nobody has allowed', () => {
    expect(
      shownEvent({ type: 'call.failed', at: 1, prompt: SECRET, input: {}, error: leak('x') } as never),
    ).toEqual({
      type: 'call.failed',
      at: 1,
    })
    const snapshot = {
      status: 'done',
      value: 'running',
      context: { chains: 2, breakers: { a: SECRET, b: SECRET }, prompt: SECRET },
      output: SECRET,
      error: SECRET,
    }
    expect(shownSnapshot('supervisor', snapshot)).toEqual({
      status: 'done',
      value: 'running',
      context: { chains: 2, breakers: 2 },
    })
  })

  it('is nothing of another kind than is allowed', () => {
    const odd = {
      type: 'call.failed',
      at: { prompt: SECRET },
      failure: [SECRET],
      reading: SECRET,
      wanted: SECRET,
      verdict: { failure: { toString: () => SECRET }, prompt: SECRET },
      hold: SECRET,
      by: () => SECRET,
    }
    expect(JSON.stringify(shownEvent(odd))).not.toContain(SECRET)
    expect(shownEvent({ ...odd, reading: null, until: null } as never)).toMatchObject({
      reading: null,
      until: null,
    })
  })

  it('is short: names to 100, words to 200 characters, lists to 50', () => {
    const long = 'x'.repeat(5000)
    const many = Array.from({ length: 500 }, () => ({ bucket: long }))
    const kinds = Object.fromEntries(many.map((_each, i) => [`${i}${long}`, i]))
    const reading = { rules: [], kinds, consecutiveFailures: 1 }
    const {
      type,
      reason,
      bucket,
      wanted,
      reading: told,
    } = shownEvent({
      type: long,
      reason: `${'x'.repeat(198)}😀😀`,
      bucket: long,
      wanted: many,
      reading,
    } as never)
    expect([type, bucket]).toEqual([`${'x'.repeat(99)}…`, `${'x'.repeat(99)}…`])
    expect(reason).toBe(`${'x'.repeat(198)}…`)
    expect(wanted).toEqual(Array.from({ length: 50 }, () => ({ bucket })))
    const names = Object.keys((told as typeof reading).kinds)
    expect([names.length, Math.max(...names.map(({ length }) => length))]).toEqual([50, 100])
  })
})
