import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import type { BreakerSnapshot } from '../../machines/circuit-state.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { rootHost } from '../../src/core/host.ts'
import { Notifier, silentLogger } from '../../src/core/notifier.ts'
import type { Permit } from '../../src/core/permit.ts'
import { createBreakerRegistry } from '../../src/core/registry.ts'
import type { BreakerRegistry } from '../../src/core/registry.ts'
import type { JournalStore } from '../../src/stores/journal-store.ts'
import { memoryJournal } from '../../src/stores/memory-journal.ts'
import { replayJournal } from '../../src/stores/replay.ts'
import type { ReplayPolicies } from '../../src/stores/replay.ts'
import { createSwitchgear } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { optionsOf, placeOf, runs } from '../machines/oracle-breaker.ts'
import type { Run, Step } from '../machines/oracle-breaker.ts'
import { desk } from './support.ts'

/** A wall clock that has nothing to do with the monotonic one. */
class SkewedClock extends VirtualClock {
  skew = 1_700_000_000_000
  override wall(): number {
    return this.now() + this.skew
  }
}

const NAMES = ['a', 'b']

/** Two circuits under random traffic, commands and restarts, with a journal. */
class Street {
  readonly clock = new SkewedClock()
  readonly journal: JournalStore
  readonly #run: Run
  #registry: BreakerRegistry
  #visits: { settled: boolean; readonly permit: Permit; readonly breaker: CircuitBreaker }[] = []

  constructor(run: Run) {
    this.#run = run
    this.journal = memoryJournal({ capacity: 100_000, clock: this.clock })
    this.#registry = this.#start(run.rolls)
  }

  #start(rolls: readonly number[]): BreakerRegistry {
    let drawn = 0
    const random = () => rolls[drawn++] ?? 0.5
    const registry = createBreakerRegistry({ clock: this.clock, random, journal: this.journal })
    const latest = this.journal.latest()
    for (const name of NAMES) {
      const snapshot = latest[name]
      registry.get(name, { ...optionsOf(this.#run.policy), ...(snapshot && { snapshot }) })
    }
    this.#visits = []
    return registry
  }

  take(todo: Step, i: number): void {
    const breaker = this.#registry.get(NAMES[i % 2]!)
    switch (todo.do) {
      case 'acquire': {
        const permit = breaker.tryAcquire({ id: `call-${i}` } as never)
        if (permit.admitted) this.#visits.push({ settled: false, permit, breaker })
        return
      }
      case 'renew':
      case 'settle': {
        const visit = this.#visits[placeOf(todo, this.#visits)]
        if (visit === undefined) return
        if (todo.do === 'renew') return visit.breaker.renew(visit.permit)
        visit.settled = true
        return visit.breaker.settle(visit.permit, todo.outcome)
      }
      case 'advance':
        return this.clock.advance(todo.ms)
      case 'restart':
        this.#registry.close()
        this.clock.advance(todo.downMs)
        this.clock.skew += 250
        this.#registry = this.#start(todo.rolls)
        return
      default: {
        const { do: command, ...order } = todo
        breaker[command](order)
      }
    }
  }

  /** What the machines that are running now have come to. */
  live(): Record<string, unknown> {
    const { children } = this.#registry.supervisor.getSnapshot()
    return Object.fromEntries(NAMES.map((name) => [name, whole(children[name]?.getSnapshot())]))
  }

  get policies(): ReplayPolicies {
    const { policy } = resolveBreaker(optionsOf(this.#run.policy))
    return Object.fromEntries(NAMES.map((name) => [name, policy]))
  }

  get isPlain(): boolean {
    return typeof this.#run.policy.backoff !== 'function'
  }
}

/** All that a machine knows, through JSON as the journal went. */
const whole = (snapshot: BreakerSnapshot | undefined) =>
  snapshot &&
  JSON.parse(JSON.stringify({ value: snapshot.value, context: { ...snapshot.context, policy: 0 } }))

const replayed = (...of: Parameters<typeof replayJournal>) => {
  const { circuits, differences } = replayJournal(...of)
  const snapshots = [...circuits].map(([name, { snapshot }]) => [name, whole(snapshot)] as const)
  return { differences, circuits, snapshots: Object.fromEntries(snapshots) }
}

describe('a journal replayed', () => {
  it('comes to the same states, bit for bit, whatever the traffic was', () => {
    let rows = 0
    fc.assert(
      fc.property(runs, (run) => {
        const street = new Street(run)
        for (const [i, todo] of run.steps.entries()) street.take(todo, i)
        const all = street.journal.rows({ limit: Infinity })
        const { differences, snapshots, circuits } = replayed(all, street.isPlain ? {} : street.policies)
        expect(differences).toEqual([])
        expect(snapshots).toEqual(street.live())
        expect([...circuits.values()].every(({ skipped }) => skipped === 0)).toBe(true)
        rows += all.length
      }),
      { numRuns: 200 },
    )
    expect(rows).toBeGreaterThan(3000)
  })

  it('goes on from wherever the rows begin, and comes to the same states', () => {
    let begun = 0
    fc.assert(
      fc.property(runs, fc.double({ min: 0, max: 1, noNaN: true }), (run, share) => {
        const street = new Street(run)
        for (const [i, todo] of run.steps.entries()) street.take(todo, i)
        const all = street.journal.rows({ limit: Infinity }).toReversed()
        const rest = all.slice(Math.floor(share * all.length))
        const { differences, circuits, snapshots } = replayed(rest, street.policies)
        expect(differences).toEqual([])
        for (const [name, { snapshot }] of circuits) {
          if (snapshot === undefined) continue
          begun++
          expect(snapshots[name]).toEqual(street.live()[name])
        }
      }),
      { numRuns: 200 },
    )
    expect(begun).toBeGreaterThan(200)
  })

  it('has an entry for every circuit, and how each last stood is what a restart would get', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const street = new Street(run)
        for (const [i, todo] of run.steps.entries()) street.take(todo, i)
        const latest = street.journal.latest()
        expect(Object.keys(latest).sort()).toEqual(NAMES)
        const shift = street.clock.skew
        for (const [name, { context }] of Object.entries(street.live() as never) as never as [
          string,
          { context: Record<string, number | null> },
        ][]) {
          expect(latest[name]?.generation).toBe(context['generation'])
          expect(latest[name]?.openUntil).toBe(
            context['openUntil'] === null ? null : (context['openUntil'] ?? 0) + shift,
          )
        }
      }),
      { numRuns: 60 },
    )
  })
})

const story = async (journal: JournalStore, clock: VirtualClock) => {
  const answer = (request: string) =>
    request === 'fail'
      ? Promise.reject(Object.assign(new Error('secret'), { status: 503 }))
      : Promise.resolve(request)
  const gear = createSwitchgear<string, string>({
    clock,
    random: () => 0.25,
    journal,
    snapshots: journal.latest(),
    targets: [
      {
        name: 'openai',
        invoke: answer,
        maxRetries: 0,
        circuitBreaker: {
          threshold: 2,
          cooldownMs: 1000,
          cooldownBackoff: { multiplier: 2 },
          degradation: {},
        },
      },
      { name: 'backup', invoke: answer, maxRetries: 0, circuitBreaker: { threshold: Infinity } },
    ],
  })
  for (const request of ['ok', 'fail', 'fail', 'fail']) await gear.call(request).catch(() => {})
  clock.advance(1000)
  await gear.call('fail').catch(() => {})
  clock.advance(2000)
  await gear.call('ok')
  gear.openCircuit({ name: 'backup' }, { by: 'kim', reason: 'the bill', hold: true, ttlMs: 5000 })
  clock.advance(7000)
  return gear
}

describe('a journal file replayed', () => {
  it('tells the story of an outage over two lives of the process, and comes to the same states', async () => {
    const { journal, clock, open } = desk()
    await (await story(journal, clock)).close()
    journal.close()
    const again = open()
    const gear = await story(again, clock)
    const rows = again.rows({ limit: Infinity })

    const { differences, snapshots } = replayed(rows)
    expect(differences).toEqual([])
    const { children } = gear.supervisor.getSnapshot()
    expect(snapshots).toEqual({
      openai: whole(children['openai']?.getSnapshot()),
      backup: whole(children['backup']?.getSnapshot()),
    })
    const told = rows.toReversed().map(({ circuit, from, to, why }) => `${circuit} ${from} → ${to}: ${why}`)
    expect(told.slice(0, 11)).toEqual([
      'openai closed → closed: the breaker begins',
      'backup closed → closed: the breaker begins',
      'openai closed → open: 2 failures in a row, the last of kind server_error; next try in 250 ms',
      'openai open → half-open: the cooldown is over, probes may pass; 1 call was refused before',
      'openai half-open → half-open: a call passes as a probe',
      'openai half-open → open: the trial failed: 0 of 1 probe succeeded, the last failure was server_error; next try in 500 ms',
      'openai open → half-open: the cooldown is over, probes may pass',
      'openai half-open → half-open: a call passes as a probe',
      'openai half-open → closed: the trial succeeded: 1 of 1 probe succeeded',
      'backup closed → open: by hand, by kim ("the bill"), held until 2026-03-01T00:00:08.000Z',
      'backup open → half-open: the hold has run out',
    ])
    expect(JSON.stringify(rows)).not.toContain('secret')
    await gear.close()
  })

  it('shows where a row and the machine do not agree, even if its hash is right', () => {
    const journal = memoryJournal()
    const registry = createBreakerRegistry({ clock: new VirtualClock(), journal, threshold: 1 })
    const breaker = registry.get('a')
    breaker.settle(breaker.tryAcquire() as Permit, { outcome: 'failure', failure: 'timeout' })
    const [open, started] = journal.rows()
    const forged = { ...open!, to: 'degraded' } as const
    expect(replayJournal([forged, started!]).differences).toEqual([
      {
        seq: 2,
        circuit: 'a',
        journalled: { state: 'degraded', saved: open?.saved },
        replayed: { state: 'open', saved: open?.saved },
      },
    ])
  })

  it('goes on where an actor failed and another took its place', () => {
    const journal = memoryJournal()
    const clock = new VirtualClock(1000)
    const notifier = new Notifier(silentLogger)
    const resolved = resolveBreaker({ threshold: 1, cooldownMs: 500 })
    let poison = 0
    const policy = {
      ...resolved.policy,
      get maxRetryAfterMs() {
        if (poison-- > 0) throw new Error('poisoned')
        return 300_000
      },
    }
    const around = {
      clock,
      notifier,
      journal,
      random: () => 0.5,
      host: rootHost(clock, notifier),
      onTransition: () => {},
    }
    const breaker = new CircuitBreaker('a', { ...resolved, policy }, around)
    const [first, late] = [breaker.tryAcquire() as Permit, breaker.tryAcquire() as Permit]
    const failure = { outcome: 'failure', failure: 'timeout', retryAfterMs: 2000 } as const
    breaker.settle(first, failure)
    poison = 1
    breaker.settle(late, { ...failure, retryAfterMs: 9000 })
    expect(
      journal
        .rows()
        .map(({ type }) => type)
        .toReversed(),
    ).toEqual(['breaker.started', 'call.failed', 'breaker.started', 'resumed'])
    expect(breaker.state).toBe('open')
    clock.advance(2000)
    expect(breaker.tryAcquire()).toMatchObject({ admitted: true, probe: true })
    const { differences, circuits } = replayJournal(journal.rows())
    expect(differences).toEqual([])
    expect(circuits.get('a')).toMatchObject({ rows: 6, snapshot: { value: 'halfOpen' } })
  })

  it('and a restart go on from where somebody moved the actor directly', () => {
    const journal = memoryJournal()
    const clock = new VirtualClock(1000)
    const registry = createBreakerRegistry({ clock, journal, threshold: 1, cooldownMs: 500 })
    registry.get('a')
    const by = { by: 'kim', reason: '', at: 1000, roll: 0.5 }
    registry.supervisor.getSnapshot().children['a']?.send({ type: 'operator.opened', ...by })
    // who else would tell the journal
    registry.get('b').open()
    clock.advance(500)
    expect(registry.get('a').tryAcquire()).toMatchObject({ probe: true })
    const rows = journal.rows({ circuit: 'a' }).toReversed()
    expect(rows.map(({ type, from, to }) => [type, from, to])).toEqual([
      ['breaker.started', 'closed', 'closed'],
      ['circuit.saved', 'closed', 'open'],
      ['cooldown.elapsed', 'open', 'half-open'],
      ['probe.requested', 'half-open', 'half-open'],
    ])
    expect(rows[1]).toMatchObject({ saved: { state: 'open' }, why: 'by hand, by kim; next try in 500 ms' })
    const { differences, snapshots } = replayed(journal.rows())
    expect(differences).toEqual([])
    expect(snapshots['a']).toEqual(whole(registry.supervisor.getSnapshot().children['a']?.getSnapshot()))
  })

  it('needs the rules where a function is part of them, and says so by what it leaves out', () => {
    const journal = memoryJournal()
    const options = { threshold: 1, cooldownBackoff: () => 500 }
    const registry = createBreakerRegistry({ clock: new VirtualClock(), journal })
    const breaker = registry.get('a', options)
    breaker.settle(breaker.tryAcquire() as Permit, { outcome: 'failure', retryAfterMs: Infinity })
    const rows = journal.rows()
    expect(replayJournal(rows).circuits.get('a')).toEqual({ snapshot: undefined, rows: 0, skipped: 2 })
    const policies: Record<string, BreakerPolicy> = { a: resolveBreaker(options).policy }
    const { circuits, differences } = replayJournal(rows, policies)
    expect(differences).toEqual([])
    expect(circuits.get('a')).toMatchObject({ rows: 2, skipped: 0, snapshot: { value: { open: 'cooling' } } })
  })
})
