import type { SavedCircuit } from '../../machines/breaker-events.ts'
import { shiftSaved } from '../../machines/circuit-state.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { Surroundings } from './chronicle.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { Beginning } from './circuit-breaker.ts'
import { SwitchgearError } from './errors.ts'
import { rootHost, startSupervisor, supervisorHost } from './host.ts'
import type { SupervisorRef } from './host.ts'
import { checkSaved } from './saved-circuit.ts'
import type { Transition } from './transition.ts'
import { checkNumber } from './validate.ts'
import { toWall } from './to-wall.ts'

export interface RegistryLimits {
  /** Most breakers at a time; an integer ≥ 1. Default 500. */
  readonly maxBuckets?: number
  /** A closed breaker that was not used for so long makes room, in ms. Default 1 800 000. */
  readonly idleMs?: number
}

/** A bucket of a target, or all buckets of one that isolates by model. */
export interface WantedBucket {
  readonly bucket: string
  readonly isolates: boolean
  readonly rules: ResolvedBreaker
}

interface Entry {
  readonly breaker: CircuitBreaker
  /** Declared by name, hence never evicted. */
  pinned: boolean
  usedAt: number
}

type Tell = (transition: Transition, rules: ResolvedBreaker) => void

const NO_POLICY = { onSuccess() {}, onFailure: () => false, reset() {} }

const wantedAs = (wanted: readonly WantedBucket[], name: string) =>
  wanted.find(({ bucket, isolates }) => (isolates ? name.startsWith(`${bucket}/`) : name === bucket))

const namesOf = (wanted: readonly WantedBucket[]) =>
  new Set(wanted.flatMap(({ bucket, isolates }) => (isolates ? [] : [bucket])))

const modelIn = ({ bucket, isolates }: WantedBucket, name: string) =>
  isolates && name !== `${bucket}/` ? name.slice(bucket.length + 1) : undefined

/**
 * Breakers by name, bounded, spawned and kept by one supervisor. A name is one breaker for as long as anybody may ask it:
 * other rules change the breaker, they do not replace it.
 */
export class Buckets {
  readonly supervisor: SupervisorRef
  readonly #entries = new Map<string, Entry>()
  /** Those of targets that are gone, as long as calls under way may ask them; they count for nobody. */
  readonly #retired = new Map<string, Entry>()
  /** Circuits that wait for their first use; times are those of our own clock. */
  readonly #saved: Map<string, SavedCircuit>
  readonly #around: Omit<Surroundings, 'onTransition'>
  readonly #tell: Tell
  readonly #maxBuckets: number
  readonly #idleMs: number
  /** undefined = whoever asks first brings the rules. */
  #declared: readonly WantedBucket[] | undefined
  #closed = false

  constructor(
    around: Omit<Surroundings, 'onTransition' | 'host'>,
    limits: RegistryLimits,
    tell: Tell,
    saved: Readonly<Record<string, SavedCircuit>> = {},
  ) {
    const { clock, notifier } = around
    const own = (circuit: SavedCircuit) => shiftSaved(circuit, clock.now() - clock.wall())
    this.#saved = new Map(
      Object.entries(saved).map(([name, circuit]) => [name, own(checkSaved(circuit, `snapshots.${name}`))]),
    )
    this.#maxBuckets = checkNumber('maxBuckets', limits.maxBuckets ?? 500, { min: 1, integer: true })
    this.#idleMs = checkNumber('idleMs', limits.idleMs ?? 1_800_000, { min: 1, infinite: true })
    this.supervisor = startSupervisor(clock, notifier)
    this.#around = { ...around, host: supervisorHost(this.supervisor) }
    this.#tell = tell
  }

  get size(): number {
    return this.#closed ? 0 : this.#entries.size
  }

  names(): string[] {
    return this.#closed ? [] : [...this.#entries.keys()]
  }

  /** The breaker, without making one. */
  peek(name: string): CircuitBreaker | undefined {
    return (this.#entries.get(name) ?? this.#retired.get(name))?.breaker
  }

  /** Looks at the breaker without making one; a saved circuit is looked at as it would be, and stays as it is. */
  look<T>(
    name: string,
    rules: ResolvedBreaker,
    model: string | undefined,
    at: (breaker: CircuitBreaker | undefined) => T,
  ): T {
    const saved = this.#saved.get(name)
    return saved === undefined ? at(this.peek(name)) : this.#imagine(name, rules, { model, saved }, at)
  }

  #imagine<T>(name: string, rules: ResolvedBreaker, from: Beginning, at: (breaker: CircuitBreaker) => T): T {
    const { clock, random, notifier } = this.#around
    const around = { clock, random, notifier, host: rootHost(clock, notifier), onTransition() {} }
    // policies of the user's own are those of breakers that exist
    const custom = rules.custom.map((policy) => policy && NO_POLICY)
    const imagined = new CircuitBreaker(name, { ...rules, custom }, around, from)
    try {
      return at(imagined)
    } finally {
      imagined.dispose()
    }
  }

  /** Looks at every breaker that exists, and at every circuit that would refuse or is held, used again or not. */
  survey<T>(at: (breaker: CircuitBreaker) => T): T[] {
    if (this.#closed) return []
    const waiting = [...this.#saved].flatMap(([name, saved]) => {
      const found = wantedAs(this.#declared ?? [], name)
      if (found === undefined || (saved.state === 'closed' && saved.hold === null)) return []
      return [this.#imagine(name, found.rules, { model: modelIn(found, name), saved }, at)]
    })
    return [...[...this.#entries.values()].map(({ breaker }) => at(breaker)), ...waiting]
  }

  /** The breaker of this name; made on first use, under the rules that are declared for it, or else under `rules`. */
  obtain(name: string, rules: ResolvedBreaker, model?: string): CircuitBreaker {
    if (this.#closed) throw new SwitchgearError('ERR_CLOSED', 'The registry is closed.')
    const known = this.#entries.get(name)
    if (known === undefined) return this.#retired.get(name)?.breaker ?? this.#make(name, rules, model)
    known.usedAt = this.#around.clock.now()
    return known.breaker
  }

  #make(name: string, rules: ResolvedBreaker, model: string | undefined): CircuitBreaker {
    const { clock, notifier } = this.#around
    const declared = this.#declared && wantedAs(this.#declared, name)
    const retired = this.#declared !== undefined && declared === undefined
    // whoever hears of it, and asks for the same name, finds it
    return notifier.commit(() => {
      const now = clock.now()
      if (!retired) this.#makeRoom(now, 1)
      const onTransition = (transition: Transition) => this.#tell(transition, breaker.options)
      const around = { ...this.#around, onTransition }
      const saved = retired ? undefined : this.#saved.get(name)
      const breaker = new CircuitBreaker(name, declared?.rules ?? rules, around, { model, saved, retired })
      const entry = { breaker, pinned: declared?.isolates === false, usedAt: now }
      if (retired) this.#retired.set(name, entry)
      else {
        this.#saved.delete(name)
        this.#entries.set(name, entry)
      }
      return breaker
    })
  }

  /**
   * Puts these buckets in force. Those that exist go on in their state, under the rules given here; those that nobody
   * wants any more are let go as soon as none of `asked`, the buckets of calls under way, is theirs.
   *
   * @throws SwitchgearError when there is no room for them; then everything stays as it was
   */
  declare(wanted: readonly WantedBucket[], asked: readonly WantedBucket[]): void {
    this.#checkRoom(wanted)
    const before = this.#declared ?? []
    this.#declared = wanted
    for (const name of this.#saved.keys()) {
      const was = wantedAs(before, name)
      if (was !== undefined && wantedAs(wanted, name)?.isolates !== was.isolates) this.#saved.delete(name)
    }
    const known = [...this.#entries, ...this.#retired]
    this.#entries.clear()
    this.#retired.clear()
    // a policy that is told of one may ask for any other: all of them are in their places before
    for (const [name, entry] of known) {
      const kept = wantedAs(wanted, name) === undefined ? this.#retired : this.#entries
      kept.set(name, entry)
    }
    for (const [name, entry] of known) {
      const found = wantedAs(wanted, name)
      if (found === undefined) this.#letGo(name, entry, asked)
      else this.#goOn(name, entry, found)
    }
    const missing = [...namesOf(wanted)].filter((name) => !this.#entries.has(name))
    this.#makeRoom(this.#around.clock.now(), missing.length)
    for (const { bucket, isolates, rules } of wanted) if (!isolates) this.obtain(bucket, rules)
  }

  #goOn(name: string, entry: Entry, found: WantedBucket): void {
    // a bucket of that very name is no circuit of one model, nor the other way round: another failure domain
    const same = entry.pinned === !found.isolates
    entry.pinned = !found.isolates
    if (same) entry.breaker.follow(found.rules)
    else entry.breaker.startOver(found.rules, modelIn(found, name))
  }

  #letGo(name: string, entry: Entry, asked: readonly WantedBucket[]): void {
    // one of a model is made anew where it is asked; of an idle one nothing is lost
    const needed = wantedAs(asked, name) !== undefined && (entry.pinned || !entry.breaker.isIdle)
    if (needed) return entry.breaker.retire()
    this.#retired.delete(name)
    entry.breaker.evict()
  }

  /** Calls have ended: lets go of what was kept for them alone. */
  release(asked: readonly WantedBucket[]): void {
    for (const [name, { breaker }] of this.#retired) {
      if (wantedAs(asked, name) !== undefined) continue
      this.#retired.delete(name)
      breaker.evict()
    }
  }

  #checkRoom(wanted: readonly WantedBucket[]): void {
    const held = [...this.#entries, ...this.#retired].filter(
      ([name, { breaker, pinned }]) =>
        !pinned && wantedAs(wanted, name)?.isolates === true && breaker.getStatus().held,
    )
    if (namesOf(wanted).size + held.length > this.#maxBuckets) throw registryFull(this.#maxBuckets)
  }

  /** Idle closed ones go first; then, where the room is needed, the one used longest ago. A held one never goes. */
  #makeRoom(now: number, places: number): void {
    const loose = [...this.#entries].filter(([, { pinned }]) => !pinned)
    const asleep = ({ breaker, usedAt }: Entry) => now - usedAt >= this.#idleMs && breaker.isIdle
    for (const [name, entry] of loose) if (asleep(entry)) this.#evict(name, entry)
    while (this.#entries.size + places > this.#maxBuckets) {
      const victim = victimOf(loose.filter(([name]) => this.#entries.has(name)))
      if (victim === undefined) throw registryFull(this.#maxBuckets)
      this.#evict(...victim)
    }
  }

  #evict(name: string, { breaker }: Entry): void {
    this.#entries.delete(name)
    breaker.evict()
  }

  /** Every circuit as it would survive a restart, those not yet used again included. */
  snapshots(): Record<string, SavedCircuit> {
    const shift = toWall(this.#around.clock)
    const waiting = [...this.#saved].map(([name, saved]) => [name, shiftSaved(saved, shift)] as const)
    const live = [...this.#entries].map(([name, { breaker }]) => [name, breaker.snapshot()] as const)
    return Object.fromEntries([...waiting, ...live])
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    // they can still be read, and saved
    for (const { breaker } of [...this.#entries.values(), ...this.#retired.values()]) breaker.dispose()
    this.supervisor.stop()
  }
}

const registryFull = (maxBuckets: number) =>
  new SwitchgearError(
    'ERR_REGISTRY_FULL',
    `All ${maxBuckets} circuits are declared or held; raise maxBuckets, or end a hold.`,
  )

function victimOf(loose: readonly [string, Entry][]): [string, Entry] | undefined {
  const oldest = loose.toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
  const flows = ({ held, state }: BreakerStatus) => !held && (state === 'closed' || state === 'degraded')
  return (
    oldest.find(([, { breaker }]) => breaker.isIdle) ??
    oldest.find(([, { breaker }]) => flows(breaker.getStatus())) ??
    oldest.find(([, { breaker }]) => !breaker.getStatus().held)
  )
}
