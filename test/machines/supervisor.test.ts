import { describe, expect, it, vi } from 'vitest'
import { createActor } from 'xstate'
import type { BreakerEvent } from '../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { chainMachine } from '../../machines/chain.machine.ts'
import { supervisorMachine } from '../../machines/supervisor.machine.ts'
import type { SupervisorNotice } from '../../machines/supervisor.machine.ts'
import type { CircuitBreakerOptions, OnStateChange } from '../../src/core/breaker-options.ts'
import type { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Logger } from '../../src/core/notifier.ts'
import type { Permit, Refusal } from '../../src/core/permit.ts'
import { createBreakerRegistry } from '../../src/core/registry.ts'
import { breakerPolicies } from '../../src/testing/paths/breaker-policies.ts'
import { chainPlans } from '../../src/testing/paths/chain-plans.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const STARTED_AT = 1_000_000
const ops = { by: 'ops', reason: 'drill' } as const

function policyNamed(name: string): BreakerPolicy {
  const policy = breakerPolicies[name]
  if (policy === undefined) throw new Error(`no policy '${name}'`)
  return policy
}
const plain = policyNamed('threshold 1, 1 probe')

const reading = { rules: [{ count: 1, calls: 1 }], kinds: {}, consecutiveFailures: 1 }
const failed = (generation: number, at: number): BreakerEvent => ({
  type: 'call.failed',
  at,
  generation,
  reading,
  roll: 0.5,
  failure: 'server_error',
})

/** A policy that works until it is poisoned; then reading `field` throws. */
function poisonable(policy: BreakerPolicy, field: keyof BreakerPolicy) {
  let poison: Error | undefined
  const value = policy[field]
  const get = () => {
    if (poison !== undefined) throw poison
    return value
  }
  return {
    policy: Object.defineProperty({ ...policy }, field, { get, enumerable: true }),
    poison: (message = 'poisoned') => void (poison = new Error(message)),
    cure: () => void (poison = undefined),
  }
}

function start() {
  const clock = new VirtualClock(STARTED_AT)
  const supervisor = createActor(supervisorMachine, { clock })
  const errors: unknown[] = []
  const notices: SupervisorNotice[] = []
  supervisor.subscribe({ error: (error) => errors.push(error) })
  supervisor.on('*', (notice) => notices.push(notice))
  supervisor.start()
  const want = (bucket: string, policy: BreakerPolicy = plain) =>
    supervisor.send({ type: 'breakers.wanted', at: clock.now(), wanted: [{ bucket, policy }] })
  const child = (bucket: string) => {
    const ref = supervisor.getSnapshot().children[bucket]
    if (ref === undefined) throw new Error(`no breaker '${bucket}'`)
    return ref
  }
  const trip = (bucket: string) =>
    child(bucket).send(failed(child(bucket).getSnapshot().context.generation, clock.now()))
  return { clock, supervisor, errors, notices, want, child, trip }
}

describe('a wanted breaker', () => {
  it('is spawned closed, with the policy and the time of the event', () => {
    const { want, child, supervisor } = start()
    want('openai')
    const { value, context, status } = child('openai').getSnapshot()
    expect(status).toBe('active')
    expect(value).toEqual({ closed: 'healthy' })
    expect(context).toMatchObject({ policy: plain, since: STARTED_AT, generation: 1 })
    expect(supervisor.getSnapshot().context.breakers).toEqual({ openai: plain })
  })

  it('is spawned once: wanted again it stays as it is, whatever the policy', () => {
    const { want, child, trip, supervisor } = start()
    want('openai')
    trip('openai')
    const [ref, before] = [child('openai'), child('openai').getSnapshot()]
    want('openai', policyNamed('leaky'))
    expect(child('openai')).toBe(ref)
    expect(child('openai').getSnapshot()).toBe(before)
    expect(supervisor.getSnapshot().context.breakers).toEqual({ openai: plain })
  })

  it('comes with others in one event, each name once', () => {
    const { supervisor, child } = start()
    const wanted = ['a', 'b/model', 'a', '__proto__', 'constructor'].map((bucket) => ({
      bucket,
      policy: plain,
    }))
    supervisor.send({ type: 'breakers.wanted', at: STARTED_AT, wanted })
    const { children, context } = supervisor.getSnapshot()
    expect(Object.keys(context.breakers)).toEqual(expect.arrayContaining(['a', 'b/model', 'constructor']))
    expect(Object.keys(children)).toEqual(expect.arrayContaining(['a', 'b/model', 'constructor']))
    expect(child('a')).not.toBe(child('b/model'))
  })

  it('takes no notice of an empty wish', () => {
    const { supervisor } = start()
    supervisor.send({ type: 'breakers.wanted', at: STARTED_AT, wanted: [] })
    expect(supervisor.getSnapshot().children).toEqual({})
  })

  it("lives on the supervisor's clock", () => {
    const { clock, want, trip, child } = start()
    want('openai')
    trip('openai')
    clock.advance(999)
    expect(child('openai').getSnapshot().value).toEqual({ open: 'cooling' })
    clock.advance(1)
    expect(child('openai').getSnapshot().value).toBe('halfOpen')
  })
})

describe('an evicted breaker', () => {
  it('is stopped with its timer and forgotten; the others go on', () => {
    const { clock, want, trip, child, supervisor } = start()
    want('openai')
    want('anthropic')
    trip('openai')
    trip('anthropic')
    expect(clock.pending).toBe(2)
    const [gone, other] = [child('openai'), child('anthropic')]
    supervisor.send({ type: 'breaker.evicted', at: clock.now(), bucket: 'openai' })
    expect(gone.getSnapshot().status).toBe('stopped')
    expect(clock.pending).toBe(1)
    expect(supervisor.getSnapshot().context.breakers).toEqual({ anthropic: plain })
    expect(Object.keys(supervisor.getSnapshot().children)).toEqual(['anthropic'])
    clock.advance(1000)
    expect(other.getSnapshot().value).toBe('halfOpen')
  })

  it('starts anew when it is wanted again', () => {
    const { want, trip, child, supervisor } = start()
    want('openai')
    trip('openai')
    const gone = child('openai')
    supervisor.send({ type: 'breaker.evicted', at: STARTED_AT, bucket: 'openai' })
    want('openai', policyNamed('leaky'))
    expect(child('openai')).not.toBe(gone)
    expect(child('openai').getSnapshot().value).toEqual({ closed: 'healthy' })
    expect(child('openai').getSnapshot().context.policy).toBe(breakerPolicies['leaky'])
  })

  it('that nobody knows changes nothing, inherited names included', () => {
    const { want, supervisor } = start()
    want('openai')
    const before = supervisor.getSnapshot()
    for (const bucket of ['nobody', 'toString', ''])
      supervisor.send({ type: 'breaker.evicted', at: STARTED_AT, bucket })
    expect(supervisor.getSnapshot()).toBe(before)
  })
})

describe("an operator's command", () => {
  it('reaches its breaker and no other', () => {
    const { want, child, supervisor } = start()
    want('openai')
    want('anthropic')
    const other = child('anthropic').getSnapshot()
    const command = { type: 'operator.opened', at: STARTED_AT, roll: 0.5, ...ops, hold: true } as const
    supervisor.send({ type: 'operator.commanded', at: STARTED_AT, bucket: 'openai', command })
    expect(child('openai').getSnapshot().value).toEqual({ open: 'held' })
    expect(child('openai').getSnapshot().context.hold).toEqual({ until: null, ...ops })
    expect(child('anthropic').getSnapshot()).toBe(other)
    const close = { type: 'operator.closed', at: STARTED_AT + 1, ...ops } as const
    supervisor.send({ type: 'operator.commanded', at: STARTED_AT + 1, bucket: 'openai', command: close })
    expect(child('openai').getSnapshot().value).toEqual({ closed: 'healthy' })
  })

  it('for a bucket that nobody knows is refused', () => {
    const { want, supervisor, errors } = start()
    want('openai')
    const before = supervisor.getSnapshot()
    const command = { type: 'operator.closed', at: STARTED_AT, ...ops } as const
    for (const bucket of ['nobody', 'toString'])
      supervisor.send({ type: 'operator.commanded', at: STARTED_AT, bucket, command })
    expect(supervisor.getSnapshot()).toBe(before)
    expect(errors).toEqual([])
  })
})

describe('a chain', () => {
  it('is counted while it lasts and told of at both ends', () => {
    const { supervisor, notices } = start()
    const plan = chainPlans['one target, no retry']
    if (plan === undefined) throw new Error('no plan')
    const chain = createActor(chainMachine, { input: { plan } })
    supervisor.send({ type: 'chain.started', at: STARTED_AT, call: 'call 1', chain })
    supervisor.send({ type: 'chain.started', at: STARTED_AT, call: 'call 2', chain })
    expect(supervisor.getSnapshot().context.chains).toBe(2)
    supervisor.send({ type: 'chain.ended', at: STARTED_AT, call: 'call 1' })
    expect(supervisor.getSnapshot().context.chains).toBe(1)
    expect(notices).toEqual([
      { type: 'chain.started', call: 'call 1', chain },
      { type: 'chain.started', call: 'call 2', chain },
      { type: 'chain.ended', call: 'call 1' },
    ])
    // a root of its own
    expect(supervisor.getSnapshot().children).toEqual({})
  })
})

describe('a breaker that fails', () => {
  it('is replaced under its name and reported; the supervisor and the others live on', () => {
    const { want, child, trip, supervisor, errors, notices } = start()
    const { policy, poison } = poisonable(plain, 'rules')
    want('openai', policy)
    want('anthropic')
    trip('anthropic')
    const [broken, other, untouched] = [child('openai'), child('anthropic'), child('anthropic').getSnapshot()]
    // a root without an error observer would end the process
    broken.subscribe({ error: () => {} })
    poison('the rules are poisoned')
    trip('openai')
    expect(broken.getSnapshot().status).toBe('error')
    expect(supervisor.getSnapshot().status).toBe('active')
    expect(errors).toEqual([])
    expect(child('openai')).not.toBe(broken)
    expect(child('openai').getSnapshot()).toMatchObject({ status: 'active', value: { closed: 'healthy' } })
    expect(child('openai').getSnapshot().context.policy).toBe(policy)
    expect(child('anthropic')).toBe(other)
    expect(child('anthropic').getSnapshot()).toBe(untouched)
    expect(supervisor.getSnapshot().context.replaced).toBe(1)
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatchObject({ type: 'breaker.replaced', bucket: 'openai' })
    expect(notices[0]).toHaveProperty('message', expect.stringContaining('the rules are poisoned'))
  })

  it('works again once what broke it is gone', () => {
    const { want, child, trip } = start()
    const { policy, poison, cure } = poisonable(plain, 'rules')
    want('openai', policy)
    child('openai').subscribe({ error: () => {} })
    poison()
    trip('openai')
    cure()
    trip('openai')
    expect(child('openai').getSnapshot().value).toEqual({ open: 'cooling' })
  })

  it('is replaced as often as it fails', () => {
    const { want, child, trip, supervisor, notices, errors } = start()
    const { policy, poison } = poisonable(plain, 'rules')
    want('openai', policy)
    poison()
    for (let i = 0; i < 3; i++) {
      child('openai').subscribe({ error: () => {} })
      trip('openai')
    }
    expect(supervisor.getSnapshot().context.replaced).toBe(3)
    expect(notices).toHaveLength(3)
    expect(errors).toEqual([])
    expect(child('openai').getSnapshot().status).toBe('active')
  })

  it('leaves no timer behind', () => {
    const { clock, want, child, trip } = start()
    const { policy, poison } = poisonable(plain, 'maxRetryAfterMs')
    want('openai', policy)
    trip('openai')
    expect(clock.pending).toBe(1)
    child('openai').subscribe({ error: () => {} })
    poison()
    child('openai').send({ ...failed(1, STARTED_AT), retryAfterMs: 5 } as BreakerEvent)
    expect(child('openai').getSnapshot().value).toEqual({ closed: 'healthy' })
    expect(clock.pending).toBe(0)
  })

  it('is replaced when a command broke it too', () => {
    const { want, child, supervisor, errors } = start()
    const { policy, poison } = poisonable(plain, 'backoff')
    want('openai', policy)
    child('openai').subscribe({ error: () => {} })
    poison()
    const command = { type: 'operator.opened', at: STARTED_AT, roll: 0.5, ...ops } as const
    supervisor.send({ type: 'operator.commanded', at: STARTED_AT, bucket: 'openai', command })
    expect(supervisor.getSnapshot().context.replaced).toBe(1)
    expect(child('openai').getSnapshot().status).toBe('active')
    expect(errors).toEqual([])
  })

  it('and is kept no more takes nobody down', () => {
    const { want, child, supervisor, errors } = start()
    want('openai')
    const before = child('openai')
    supervisor.send({ type: 'xstate.error.actor.gone', actorId: 'gone', error: new Error('late') } as never)
    expect(supervisor.getSnapshot().status).toBe('active')
    expect(supervisor.getSnapshot().context.replaced).toBe(0)
    expect(child('openai')).toBe(before)
    expect(errors).toEqual([])
  })

  it('is reported in 200 characters at most', () => {
    const { want, child, trip, notices } = start()
    const { policy, poison } = poisonable(plain, 'rules')
    want('openai', policy)
    child('openai').subscribe({ error: () => {} })
    poison('x'.repeat(1000))
    trip('openai')
    const [notice] = notices
    expect(notice?.type === 'breaker.replaced' && notice.message.length).toBe(200)
  })
})

interface Subject {
  readonly breaker: CircuitBreaker
  readonly clock: VirtualClock
  readonly logger: { readonly [K in keyof Logger]: ReturnType<typeof vi.fn<Logger[K]>> }
  /** `from → to`, as a listener hears of it. */
  readonly transitions: string[]
  /** Breaks the actor with the next event that reads this field of the policy. */
  readonly break: (field: keyof BreakerPolicy, act: () => void) => void
}

type Make = (
  options: CircuitBreakerOptions & object,
  around: { clock: VirtualClock; logger: Logger },
) => CircuitBreaker

const makers: Record<string, Make> = {
  'a breaker of its own': (options, around) => createBreaker({ ...options, ...around, name: 'openai' }),
  'a breaker under a supervisor': (options, around) => {
    const registry = createBreakerRegistry({ ...options, ...around })
    registry.get('anthropic')
    return registry.get('openai')
  },
}

function subject(make: Make, options: CircuitBreakerOptions = {}): Subject {
  const clock = new VirtualClock(STARTED_AT)
  const logger = {
    info: vi.fn<Logger['info']>(),
    warn: vi.fn<Logger['warn']>(),
    error: vi.fn<Logger['error']>(),
  }
  const transitions: string[] = []
  const onStateChange: OnStateChange = (from, to) => void transitions.push(`${from} → ${to}`)
  const breaker = make({ threshold: 2, cooldownMs: 1000, onStateChange, ...options }, { clock, logger })
  const spoil = (field: keyof BreakerPolicy, act: () => void) => {
    const value = breaker.options.policy[field]
    let left = 1
    const get = () => {
      if (left-- > 0) throw new Error('poisoned')
      return value
    }
    Object.defineProperty(breaker.options.policy, field, { get, configurable: true, enumerable: true })
    act()
    Object.defineProperty(breaker.options.policy, field, { value, configurable: true, enumerable: true })
  }
  return { breaker, clock, logger, transitions, break: spoil }
}

function admitted(given: Permit | Refusal): Permit {
  if (!given.admitted) throw new Error(`refused: ${given.reason}`)
  return given
}
const fail = (breaker: CircuitBreaker, retryAfterMs?: number) =>
  breaker.settle(admitted(breaker.tryAcquire()), {
    outcome: 'failure',
    ...(retryAfterMs && { retryAfterMs }),
  })
const succeed = (breaker: CircuitBreaker) =>
  breaker.settle(admitted(breaker.tryAcquire()), { outcome: 'success' })

function trips(breaker: CircuitBreaker): void {
  fail(breaker)
  fail(breaker)
  expect(breaker.state).toBe('open')
}

const logged = ({ logger }: Subject) => logger.error.mock.calls.map(([, message]) => message)

describe.each(Object.entries(makers))('%s, its actor failed', (_name, make) => {
  it('is closed as before, counting from zero, and opens again like any other', () => {
    const seen = subject(make)
    const early = admitted(seen.breaker.tryAcquire())
    seen.break('rules', () => fail(seen.breaker))
    expect(logged(seen).filter((text) => text.includes('openai'))).not.toEqual([])
    expect(logged(seen).join('\n')).toContain('poisoned')
    expect(seen.breaker.state).toBe('closed')
    expect(seen.breaker.getFailureBreakdown()).toEqual({})
    // of another generation now
    seen.breaker.settle(early, { outcome: 'failure' })
    expect(seen.breaker.stats.late).toBe(1)
    trips(seen.breaker)
  })

  it('stays open for the rest of its cooldown', () => {
    const seen = subject(make)
    const early = admitted(seen.breaker.tryAcquire())
    trips(seen.breaker)
    seen.clock.advance(400)
    seen.break('maxRetryAfterMs', () => seen.breaker.settle(early, { outcome: 'failure', retryAfterMs: 5 }))
    expect(logged(seen).join('\n')).toContain('poisoned')
    expect(seen.breaker.state).toBe('open')
    expect(seen.breaker.tryAcquire()).toMatchObject({ admitted: false, reason: 'open', retryAfterMs: 600 })
    expect(seen.clock.pending).toBe(1)
    seen.clock.advance(599)
    expect(seen.breaker.state).toBe('open')
    seen.clock.advance(1)
    expect(seen.breaker.state).toBe('half-open')
    succeed(seen.breaker)
    expect(seen.breaker.state).toBe('closed')
    expect(seen.transitions).toEqual(['closed → open', 'open → half-open', 'half-open → closed'])
  })

  it('starts its trial afresh, with the reopen count that it had', () => {
    const seen = subject(make, {
      halfOpenProbes: 2,
      cooldownBackoff: { multiplier: 2, jitter: 'none' },
    })
    trips(seen.breaker)
    seen.clock.advance(1000)
    fail(seen.breaker)
    fail(seen.breaker)
    expect(seen.breaker.tryAcquire()).toMatchObject({ admitted: false, retryAfterMs: 2000 })
    seen.clock.advance(2000)
    const early = admitted(seen.breaker.tryAcquire())
    seen.break('halfOpenConcurrency', () => void seen.breaker.tryAcquire())
    expect(logged(seen).join('\n')).toContain('poisoned')
    expect(seen.breaker.state).toBe('half-open')
    seen.breaker.settle(early, { outcome: 'success' })
    expect(seen.breaker.stats.late).toBe(1)
    fail(seen.breaker)
    fail(seen.breaker)
    expect(seen.breaker.tryAcquire()).toMatchObject({ admitted: false, retryAfterMs: 4000 })
  })

  it('takes commands, and can be disposed of without a timer left', () => {
    const seen = subject(make)
    seen.break('backoff', () => seen.breaker.open(ops))
    expect(logged(seen).join('\n')).toContain('poisoned')
    expect(seen.breaker.state).toBe('closed')
    seen.breaker.open({ ...ops, hold: true })
    expect(seen.breaker.getStatus().held).toBeTruthy()
    seen.breaker.close(ops)
    seen.breaker.open(ops)
    expect(seen.breaker.state).toBe('open')
    seen.breaker.dispose()
    expect(seen.clock.pending).toBe(0)
  })

  it('survives it again and again', () => {
    const seen = subject(make)
    for (let i = 0; i < 5; i++) seen.break('rules', () => fail(seen.breaker))
    expect(logged(seen).filter((text) => text.includes('threw'))).toHaveLength(5)
    trips(seen.breaker)
  })
})

describe('under one supervisor', () => {
  it('a held circuit stays held, and the neighbours notice nothing', () => {
    const clock = new VirtualClock(STARTED_AT)
    const logger = {
      info: vi.fn<Logger['info']>(),
      warn: vi.fn<Logger['warn']>(),
      error: vi.fn<Logger['error']>(),
    }
    const registry = createBreakerRegistry({ threshold: 2, cooldownMs: 1000, clock, logger })
    const [held, neighbour] = [registry.get('openai'), registry.get('anthropic')]
    held.open({ ...ops, hold: true, ttlMs: 5000 })
    trips(neighbour)
    const before = registry.supervisor.getSnapshot().children['anthropic']?.getSnapshot()
    const poisoned: BreakerEvent = Object.defineProperty({ type: 'hold.ended', at: 0 } as const, 'at', {
      get: () => {
        throw new Error('poisoned')
      },
    })
    registry.supervisor.getSnapshot().children['openai']?.send(poisoned)
    // nobody of ours has sent it, so nobody of ours flushes at once
    clock.advance(1)
    held.canExecute()
    fail(registry.get('third'))
    expect(registry.supervisor.getSnapshot().context.replaced).toBe(1)
    expect(registry.supervisor.getSnapshot().children['anthropic']?.getSnapshot()).toBe(before)
    expect(neighbour.state).toBe('open')
    expect(logger.error.mock.calls.map(([fields]) => fields)).toContainEqual(
      expect.objectContaining({ bucket: 'openai' }),
    )
    expect(held.getStatus().held).toBeTruthy()
    expect(held.state).toBe('open')
    clock.set(STARTED_AT + 4999)
    expect(held.tryAcquire()).toMatchObject({ admitted: false, reason: 'held' })
    clock.set(STARTED_AT + 5000)
    expect(held.state).toBe('half-open')
    registry.close()
    expect(clock.pending).toBe(0)
  })
})
