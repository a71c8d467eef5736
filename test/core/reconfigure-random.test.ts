import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../src/index.ts'
import { settle } from '../support/fate.ts'
import { rig, status } from '../support/rig.ts'
import type { Rig, Target } from '../support/rig.ts'

describe('the state of a circuit', () => {
  const act = (gear: Rig['gear'], clock: Rig['clock']) => ({
    open: () => gear.openCircuit({}),
    hold: () => gear.openCircuit({}, { hold: true, ttlMs: 700 }),
    close: () => gear.closeCircuit({}),
    holdClosed: () => gear.closeCircuit({}, { hold: true, ttlMs: 700 }),
    lose: () => clock.dropTimers(),
    advance: () => clock.advance(600),
  })
  type Act = keyof ReturnType<typeof act> | 'fail' | 'succeed'
  const acts = fc.constantFrom<Act>(
    ...(['fail', 'succeed', 'open', 'hold', 'close', 'holdClosed', 'advance', 'advance', 'lose'] as const),
  )

  it('survives changed rules, whatever has happened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { maxLength: 15 }), fc.boolean(), async (story, isolateByModel) => {
        let good = true
        const invoke = () => (good ? Promise.resolve('ok') : Promise.reject(status(500)))
        const cooldownBackoff = { multiplier: 2, maxMs: 8000, jitter: 'none' } as const
        const ruled = (threshold: number): Target[] => [
          {
            name: 'a',
            maxRetries: 0,
            circuitBreaker: { threshold, cooldownMs: 1000, cooldownBackoff, isolateByModel },
            invoke,
          },
        ]
        const { gear, clock } = rig(ruled(2))
        for (const step of story) {
          good = step === 'succeed'
          if (step === 'fail' || step === 'succeed') await gear.call('x').catch(() => {})
          else act(gear, clock)[step]()
        }
        const facts = () => {
          const seen = gear.getStatus()
          if (seen === undefined) return undefined
          const { state, held, retryAfterMs, openUntil, reopenCount, openedAt } = seen
          return { state, held, retryAfterMs, openUntil, reopenCount, openedAt }
        }
        const [before, generation] = [facts(), gear.getStatus()?.generation ?? 0]
        gear.reconfigure({ targets: ruled(3) })
        expect(facts()).toEqual(before)
        expect(gear.getStatus()?.generation ?? 0).toBeGreaterThanOrEqual(generation)
        await gear.close()
        expect(clock.pending).toBe(0)
      }),
      { numRuns: 400 },
    )
  })
})

const NAMES = ['a', 'b', 'c'] as const
type Name = (typeof NAMES)[number]
type Kind = 'gone' | 'free' | 'strict' | 'lenient' | 'isolating' | 'sharing'
type Rules = Readonly<Record<Name, Kind>>
type Step =
  | { readonly do: 'call'; readonly model: 'm' | 'n'; readonly first: number }
  | { readonly do: 'finish'; readonly i: number; readonly good: boolean }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'open' | 'close'; readonly name: Name; readonly model: 'm' | 'n'; readonly hold: boolean }
  | { readonly do: 'reconfigure'; readonly rules: Rules }

const kinds = fc.constantFrom<Kind>('gone', 'free', 'strict', 'lenient', 'isolating', 'sharing')
const rules: fc.Arbitrary<Rules> = fc.record({
  a: kinds,
  b: kinds,
  c: fc.constantFrom<Kind>('strict', 'lenient'),
})
const model = fc.constantFrom('m' as const, 'n' as const)
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), model, first: fc.nat(2) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('finish' as const), i: fc.nat(5), good: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(100, 600, 2000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('open' as const, 'close' as const),
      name: fc.constantFrom(...NAMES),
      model,
      hold: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reconfigure' as const), rules }) },
)

const BREAKERS = {
  strict: { threshold: 1, cooldownMs: 1000 },
  lenient: { threshold: 3, cooldownMs: 1000 },
  isolating: { threshold: 1, cooldownMs: 1000, isolateByModel: true },
  sharing: { threshold: 2, cooldownMs: 1000 },
}

/** Calls under way, operators, time and one change of rules after the other; and a listener that meddles with it. */
class Turmoil {
  readonly broken: string[] = []
  asked = 0
  late = 0
  readonly #entries = new Map<string, JournalEntry>()
  readonly #pending: ((good: boolean) => void)[] = []
  readonly #clock: Rig['clock']
  readonly #gear: Rig['gear']
  #rules: Rules
  /** Targets that are gone, and were held open, of all models, when they went. */
  readonly #goneHeld = new Set<Name>()

  constructor(first: Rules, meddling: readonly Step[]) {
    this.#rules = first
    const { gear, clock } = rig(this.#targets(first), {
      journal: { append: (entry) => this.#append(entry) },
      whenAllOpen: { waitMs: 1500 },
      random: () => 0.9,
    })
    this.#gear = gear
    this.#clock = clock
    const next = [...meddling]
    gear.on('transition', () => {
      const step = next.shift()
      if (step !== undefined) this.#take(step)
    })
  }

  #append(entry: JournalEntry): void {
    const before = this.#entries.get(entry.bucket)
    if (entry.event.type === 'breaker.evicted') return void this.#entries.delete(entry.bucket)
    if (before !== undefined && before.saved.generation > entry.saved.generation)
      this.broken.push(`the generation of ${entry.bucket} fell`)
    this.#entries.set(entry.bucket, entry)
  }

  #targets(wanted: Rules): Target[] {
    return NAMES.flatMap((name) => {
      const kind = wanted[name]
      if (kind === 'gone') return []
      const circuitBreaker = kind === 'free' ? false : BREAKERS[kind]
      const invoke: Target['invoke'] = (_request, context) => this.#answer(name, context.model)
      const bucket = kind === 'sharing' && { bucket: 'shared' }
      return [
        { name, invoke, circuitBreaker, maxRetries: 1, retry: { baseMs: 300 }, timeoutMs: 5000, ...bucket },
      ]
    })
  }

  #circuit(name: Name, wanted: string | undefined) {
    const own = this.#rules[name] === 'isolating' && wanted !== undefined
    return { name, ...(own && { model: wanted }) }
  }

  #answer(name: Name, wanted: string | undefined): Promise<string> {
    this.asked++
    if (this.#goneHeld.has(name)) this.broken.push(`${name} was asked, which went while it was held open`)
    if (this.#rules[name] !== 'gone') {
      const seen = this.#gear.getStatus(this.#circuit(name, wanted))
      if (seen?.state === 'open') this.broken.push(`${name} was asked although its circuit is open`)
      if (seen?.state === 'half-open' && seen.probes.inFlight !== 1)
        this.broken.push(`${name} was asked in its trial, and not as a probe`)
    }
    return new Promise((resolve, reject) =>
      this.#pending.push((good) => (good ? resolve(name) : reject(status(500)))),
    )
  }

  #take(step: Step): void {
    const gear = this.#gear
    if (step.do === 'call') {
      const present = gear.getCircuitStates().map(({ provider }) => provider)
      const targets = [
        ...present.slice(step.first % present.length),
        ...present.slice(0, step.first % present.length),
      ]
      gear.call('x', { model: step.model, targets }).catch(() => {})
    } else if (step.do === 'advance') this.#clock.advance(step.ms)
    else if (step.do === 'finish')
      this.#pending.splice(step.i % Math.max(1, this.#pending.length), 1)[0]?.(step.good)
    else if (step.do === 'reconfigure') this.#reconfigure(step.rules)
    else if (this.#rules[step.name] !== 'gone') {
      const order = step.hold ? { hold: true } : {}
      if (step.do === 'open') gear.openCircuit(this.#circuit(step.name, step.model), order)
      else gear.closeCircuit(this.#circuit(step.name, step.model), order)
    }
  }

  #reconfigure(wanted: Rules): void {
    for (const name of NAMES) {
      const isHeld = (m: string) => {
        const seen = this.#gear.getStatus(this.#circuit(name, m))
        return seen?.held === true && seen.state === 'open'
      }
      const leaves = this.#rules[name] !== 'gone' && wanted[name] === 'gone'
      // a bucket that others share stays in force, and may be closed
      if (leaves && this.#rules[name] !== 'sharing' && isHeld('m') && isHeld('n')) this.#goneHeld.add(name)
      if (wanted[name] !== 'gone') this.#goneHeld.delete(name)
    }
    if (this.#gear.stats().running > 0) this.late++
    this.#rules = wanted
    this.#gear.reconfigure({ targets: this.#targets(wanted), whenAllOpen: { waitMs: 1500 } })
  }

  #look(when: string): void {
    const shown = this.#gear.stats().breakers.map(({ bucket }) => bucket)
    const kept = Object.keys(this.#gear.supervisor.getSnapshot().children)
    const same = (a: readonly string[], b: readonly string[]) =>
      a.length === b.length && a.every((name) => b.includes(name))
    if (!same(shown, [...this.#entries.keys()]))
      this.broken.push(`${when}: the journal has ${[...this.#entries.keys()]}, and there are ${shown}`)
    if (!same(shown, Object.keys(this.#gear.snapshots()))) this.broken.push(`${when}: snapshots`)
    const idle = this.#gear.stats().running === 0
    if (!shown.every((name) => kept.includes(name)) || (idle && !same(shown, kept)))
      this.broken.push(`${when}: the supervisor keeps ${kept}, and there are ${shown}`)
  }

  async play(story: readonly Step[]): Promise<this> {
    for (const step of story) {
      this.#take(step)
      await settle()
      this.#look(step.do)
    }
    for (let i = 0; i < 12; i++) {
      for (const end of this.#pending.splice(0)) end(true)
      this.#clock.advance(1000)
      await settle()
    }
    if (this.#gear.stats().running > 0) this.broken.push('a call never ends')
    if (this.#gear.supervisor.getSnapshot().context.chains > 0) this.broken.push('a chain never ends')
    this.#look('at the end')
    await this.#gear.close()
    if (this.#clock.pending > 0) this.broken.push(`${this.#clock.pending} timers are left`)
    return this
  }
}

describe('calls under way while the rules change again and again', () => {
  it('ask the circuits in force, and leave nothing behind', async () => {
    let [asked, late] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(steps, { maxLength: 5, size: 'max' }),
        fc.array(steps, { minLength: 5, maxLength: 30, size: 'max' }),
        async (first, meddling, story) => {
          const turmoil = await new Turmoil(first, meddling).play(story)
          expect(turmoil.broken).toEqual([])
          asked += turmoil.asked
          late += turmoil.late
        },
      ),
      { numRuns: 150 },
    )
    expect(asked).toBeGreaterThan(500)
    expect(late).toBeGreaterThan(200)
  })
})
