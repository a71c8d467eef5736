import { describe, expect, it } from 'vitest'
import { breakerGuards } from '../../machines/breaker-guards.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import type { BreakerContext } from '../../machines/breaker-context.ts'
import { kindTrips } from '../../machines/breaker-policy.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { chainGuards } from '../../machines/chain-guards.ts'
import type { ChainContext } from '../../machines/chain-context.ts'
import type { ChainEvent } from '../../machines/chain-events.ts'
import { cappedRetryAfter, drawCooldown, longestCooldown } from '../../machines/cooldown.ts'
import { largestShare, nearestRule, shareOf } from '../../machines/tripping.ts'

const policy: BreakerPolicy = {
  rules: [{ kind: 'consecutive', threshold: 2 }],
  cooldownMs: 1000,
  backoff: null,
  maxRetryAfterMs: 0,
  kinds: {},
  degradedAt: 0.5,
  halfOpenProbes: 1,
  halfOpenSuccessRatio: 1,
  halfOpenConcurrency: 1,
  halfOpenVerdict: 'all',
}
const reading = { rules: [{ count: 2, calls: 2 }], kinds: {}, consecutiveFailures: 2 }

describe('guards are total: every event has an answer', () => {
  const saved: SavedCircuit = {
    version: 1,
    state: 'open',
    hold: null,
    generation: 3,
    reopens: 0,
    cause: { why: 'tripped' },
    since: 0,
    openedAt: 0,
    cooldownMs: 1000,
    openUntil: 1000,
  }
  const breakerEvents: BreakerEvent[] = [
    { type: 'call.failed', at: 5, generation: 1, reading, failure: 'server_error', roll: 0 },
    { type: 'call.succeeded', at: 5, generation: 1, reading, roll: 0 },
    { type: 'reading.aged', at: 5, reading, quietMs: 10 },
    { type: 'cooldown.elapsed', at: 5 },
    { type: 'probe.requested', at: 5, permit: 1 },
    { type: 'probe.succeeded', at: 5, generation: 1, permit: 1, roll: 0 },
    { type: 'probe.failed', at: 5, generation: 1, permit: 1, failure: 'network', roll: 0 },
    { type: 'probe.released', at: 5, generation: 1, permit: 1 },
    { type: 'probe.expired', at: 5, generation: 1, permit: 1, roll: 0 },
    { type: 'operator.opened', at: 5, by: 'a', reason: 'b', roll: 0 },
    { type: 'operator.closed', at: 5, by: 'a', reason: 'b' },
    { type: 'hold.ended', at: 5 },
    { type: 'resumed', at: 5, saved },
  ] as BreakerEvent[]
  const context = {
    policy,
    generation: 1,
    reopens: 0,
    cause: { why: 'started' },
    since: 0,
    openedAt: null,
    cooldownMs: null,
    openUntil: null,
    hold: null,
    trial: null,
  } as BreakerContext

  it.each(Object.entries(breakerGuards))('breaker: %s', (_name, guard) => {
    for (const event of breakerEvents) expect(typeof guard({ context, event })).toBe('boolean')
  })

  it('only a saved circuit can have been anything', () => {
    for (const event of breakerEvents.filter(({ type }) => type !== 'resumed')) {
      const { wasCooling, wasHalfOpen, wasHeldClosed, wasHeldOpen } = breakerGuards
      for (const guard of [wasCooling, wasHalfOpen, wasHeldClosed, wasHeldOpen]) {
        expect(guard({ context, event })).toBe(false)
      }
    }
  })

  const planned = { name: 'a', maxRetries: 2, retry: { baseMs: 1, multiplier: 2, maxMs: 10 } }
  const chain: ChainContext = {
    plan: {
      targets: ['a'],
      known: { a: planned },
      lists: { 'context-window': {}, 'content-policy': {} },
      whenAllOpen: { kind: 'fail' },
      startedAt: 0,
      deadlineAt: null,
    },
    ahead: [],
    asked: ['a'],
    refused: [],
    list: 'chain',
    target: 'a',
    attempt: 1,
    lastResort: false,
    bypassed: false,
    waitUntil: null,
    patienceUntil: null,
  } as unknown as ChainContext
  const chainEvents = [
    { type: 'target.admitted', at: 5, target: 'a' },
    { type: 'target.refused', at: 5, target: 'a', reason: 'open', retryAt: 9 },
    { type: 'attempt.succeeded', at: 5 },
    { type: 'backoff.elapsed', at: 5, permitIsCurrent: true },
    { type: 'stream.committed', at: 5 },
    { type: 'circuit.changed', at: 5 },
    { type: 'wait.elapsed', at: 5 },
    { type: 'caller.aborted', at: 5 },
    { type: 'deadline.passed', at: 5 },
  ] as ChainEvent[]

  it.each(Object.entries(chainGuards))('chain: %s', (_name, guard) => {
    for (const event of chainEvents) expect(typeof guard({ context: chain, event })).toBe('boolean')
  })

  it('only a failed attempt is retried or sent elsewhere', () => {
    const { mayRetry, goesOn, hasListOfItsOwn } = chainGuards
    for (const event of chainEvents) {
      for (const guard of [mayRetry, goesOn, hasListOfItsOwn])
        expect(guard({ context: chain, event })).toBe(false)
    }
  })

  describe('waiting for a circuit that returns', () => {
    const waits = (retryAt: number | null, waitMs: number | undefined, reason = 'open') =>
      chainGuards.worthWaiting({
        context: {
          ...chain,
          asked: [],
          refused: [{ target: 'a', reason: reason as 'open', retryAt }],
          plan: {
            ...chain.plan,
            whenAllOpen: waitMs === undefined ? { kind: 'fail' } : { kind: 'wait', waitMs },
          },
        },
        event: { type: 'target.refused', at: 100, target: 'a', reason: 'open', retryAt },
      })
    it.each([
      ['just when patience ends', 150, 50, true],
      ['a moment later', 151, 50, false],
      ['earlier', 120, 50, true],
      ['nobody knows when', null, 50, false],
      ['and nobody waits', 100, undefined, false],
      ['and patience is nothing', 100, 0, false],
    ] as const)('%s', (_when, retryAt, waitMs, worth) => {
      expect(waits(retryAt, waitMs)).toBe(worth)
    })
  })
})

describe('a failure without a kind is of no kind', () => {
  const named = { ...policy, kinds: { undefined: { immediateOpen: true, cooldownMs: 77 } } }

  it('trips nothing of its own', () => {
    expect(kindTrips(named, undefined, reading)).toBe(false)
    expect(kindTrips(named, 'undefined', reading)).toBe(true)
  })

  it('has no cooldown of its own', () => {
    expect(drawCooldown(named, 0, 0, undefined)).toBe(1000)
    expect(drawCooldown(named, 0, 0, 'undefined')).toBe(77)
  })
})

describe('what a provider says about its return', () => {
  it.each([
    [undefined, 0],
    [Number.NaN, 0],
    [-5, 0],
    [0, 0],
    [0.2, 1],
    [200, 200],
    [5000, 300],
    [Infinity, 300],
  ])('%s is believed as %i', (told, believed) => {
    expect(cappedRetryAfter({ ...policy, maxRetryAfterMs: 300 }, told)).toBe(believed)
  })
})

describe('the longest open period', () => {
  const backoff = () => 1
  it.each([
    ['a function that drew more', { ...policy, backoff }, 5000, 5000],
    ['a function that drew less', { ...policy, backoff }, 10, 1000],
    ['no back-off', policy, 5000, 1000],
    ['a kind of its own', { ...policy, kinds: { auth: { cooldownMs: 9000 } } }, 0, 9000],
  ])('%s', (_what, rules, drawn, longest) => {
    expect(longestCooldown(rules, drawn)).toBe(longest)
  })
})

describe('shares', () => {
  it('a rule without a reading has reached nothing', () => {
    expect(shareOf({ kind: 'consecutive', threshold: 1 }, undefined)).toBe(0)
    expect(largestShare([{ kind: 'consecutive', threshold: 1 }], [])).toBe(0)
  })

  it('a policy of the user has reached all or nothing', () => {
    expect(shareOf({ kind: 'custom' }, { count: 1, calls: 1 })).toBe(1)
    expect(shareOf({ kind: 'custom' }, { count: 0, calls: 0 })).toBe(0)
  })

  it('the largest counts', () => {
    const rules = [{ kind: 'consecutive', threshold: 4 } as const, { kind: 'leaky', threshold: 2 } as const]
    expect(
      largestShare(rules, [
        { count: 1, calls: 1 },
        { count: 1, calls: 1 },
      ]),
    ).toBe(0.5)
    expect(
      largestShare(rules, [
        { count: 3, calls: 3 },
        { count: 1, calls: 1 },
      ]),
    ).toBe(0.75)
    expect(largestShare([], [])).toBe(0)
  })
})

describe('the rule that decided', () => {
  const rules = [
    { kind: 'consecutive', threshold: 10 },
    { kind: 'leaky', threshold: 4 },
    { kind: 'consecutive', threshold: 4 },
  ] as const
  const counted = (...counts: number[]) => counts.map((count) => ({ count, calls: count }))

  it('is the one whose threshold is reached most, the first of several', () => {
    expect(nearestRule(rules, counted(5, 3, 2))).toBe(1)
    expect(nearestRule(rules, counted(5, 1, 3))).toBe(2)
    expect(nearestRule(rules, counted(10, 4, 4))).toBe(0)
    expect(nearestRule([], [])).toBe(-1)
  })
})
