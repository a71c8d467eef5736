import type { AnyActorRef, InspectionEvent, Subscription } from 'xstate'
import type { Clock } from '../../core/clock.ts'
import type { SupervisorRef } from '../../core/host.ts'
import { shownEvent, shownSnapshot } from './allow-list.ts'
import { RunningChains } from './running-chains.ts'
import type { MachineName, News, Picture, ShownActor, ShownRow } from './wire.ts'

// so many between two flushes; what is more is dropped, and said to be
const MOST_ROWS = 256
const MOST_CHAINS = 100

/** An actor that is shown. */
interface Known {
  readonly ref: AnyActorRef
  readonly machine: MachineName
  readonly name: string
  /** Of its own system, where it has one. */
  readonly subscription: Subscription | undefined
  /** As it was told last. */
  told: object
  row: Row | undefined
}

interface Row {
  readonly known: Known
  readonly at: number
  readonly source: string | null
  readonly event: { readonly type: string }
  after: object | undefined
}

/**
 * What the actors of one supervisor do, ready to be sent. Observes them while it is open and not otherwise: an observer
 * doubles the cost of every event. It only keeps references until they are asked for; making them fit to be seen is left
 * to {@link news}.
 */
export class ActorFeed {
  readonly #supervisor: SupervisorRef
  readonly #clock: Clock
  readonly #onFault: (error: unknown) => void
  readonly #chains: RunningChains
  readonly #known = new Map<string, Known>()
  #shownChains = 0
  #subscription: Subscription | undefined
  #born: { readonly known: Known; readonly first: object }[] = []
  #rows: Row[] = []
  #ended: Known[] = []
  #moved = new Set<Known>()
  #dropped = 0

  constructor(supervisor: SupervisorRef, clock: Clock, onFault: (error: unknown) => void) {
    this.#supervisor = supervisor
    this.#clock = clock
    this.#onFault = onFault
    this.#chains = new RunningChains(supervisor)
  }

  get isOpen(): boolean {
    return this.#subscription !== undefined
  }

  /** Begins to observe. */
  open(): void {
    const root = this.#supervisor
    this.#subscription = root.system.inspect((event) =>
      this.#hear(event, event.actorRef === root ? 'supervisor' : 'breaker'),
    )
    this.#meet(root, 'supervisor', 'supervisor')
    for (const breaker of Object.values(root.getSnapshot().children)) {
      if (breaker !== undefined) this.#meet(breaker, 'breaker', breaker.id)
    }
    const watcher = {
      began: (call: string, chain: AnyActorRef) => this.#meetChain(call, chain),
      ended: (chain: AnyActorRef) => this.#end(this.#known.get(chain.sessionId)),
    }
    for (const [call, chain] of this.#chains.all()) watcher.began(call, chain)
    this.#chains.watcher = watcher
    this.#take()
  }

  /** Stops observing, and forgets everything. */
  shut(): void {
    this.#subscription?.unsubscribe()
    this.#subscription = undefined
    this.#chains.watcher = undefined
    for (const { subscription } of this.#known.values()) subscription?.unsubscribe()
    this.#known.clear()
    this.#shownChains = 0
    this.#take()
  }

  /** Also forgets the chains. */
  close(): void {
    this.shut()
    this.#chains.close()
  }

  /** Everything as it stands. */
  picture(): Pick<Picture, 'actors' | 'unshown'> {
    const actors = [...this.#known.values()].map((known) => this.#actor(known, known.ref.getSnapshot()))
    return { actors, unshown: this.#unshown }
  }

  /** What has happened since it was last asked; undefined = nothing. */
  news(): News | undefined {
    this.#missBreakers()
    if (this.#born.length + this.#rows.length + this.#moved.size + this.#ended.length + this.#dropped === 0)
      return undefined
    const { born, rows, ended, moved, dropped } = this.#take()
    return {
      actors: born.map(({ known, first }) => this.#actor(known, first)),
      rows: rows.flatMap((row) => this.#shown(row)),
      snapshots: [...moved].flatMap((known) => {
        const snapshot: object = known.ref.getSnapshot()
        if (snapshot === known.told) return []
        known.told = snapshot
        return [{ id: known.ref.sessionId, snapshot: shownSnapshot(known.machine, snapshot) }]
      }),
      gone: ended.map(({ ref }) => ref.sessionId),
      unshown: this.#unshown,
      dropped,
    }
  }

  get #unshown(): number {
    return this.#chains.size - this.#shownChains
  }

  #take() {
    const [born, rows, ended, moved, dropped] = [
      this.#born,
      this.#rows,
      this.#ended,
      this.#moved,
      this.#dropped,
    ]
    this.#born = []
    this.#rows = []
    this.#ended = []
    this.#moved = new Set()
    this.#dropped = 0
    for (const { known } of rows) known.row = undefined
    return { born, rows, ended, moved, dropped }
  }

  /** XState throws what an observer throws into the sender of the event. */
  #hear(event: InspectionEvent, machine: MachineName): void {
    try {
      if (event.type === '@xstate.event') this.#note(event, machine)
      else if (event.type === '@xstate.snapshot') this.#settle(event)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #note(
    { actorRef, sourceRef, event }: Extract<InspectionEvent, { type: '@xstate.event' }>,
    machine: MachineName,
  ): void {
    const ref = actorRef as AnyActorRef
    let known = this.#known.get(ref.sessionId)
    // what is sent to an actor that has ended does not bring it back
    if (known === undefined && ref.getSnapshot().status !== 'active') return
    known ??= this.#meet(ref, machine, ref.id)
    if (this.#rows.length >= MOST_ROWS) return void this.#dropped++
    const source = sourceRef?.sessionId ?? null
    known.row = { known, at: this.#clock.wall(), source, event, after: undefined }
    this.#rows.push(known.row)
  }

  #settle({ actorRef, event, snapshot }: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void {
    const known = this.#known.get(actorRef.sessionId)
    if (known === undefined) return
    if (known.row?.event === event) known.row.after = snapshot
    this.#moved.add(known)
  }

  #meet(ref: AnyActorRef, machine: MachineName, name: string, subscription?: Subscription): Known {
    const first: object = ref.getSnapshot()
    const known: Known = { ref, machine, name, subscription, told: first, row: undefined }
    this.#known.set(ref.sessionId, known)
    this.#born.push({ known, first })
    return known
  }

  /** A chain is a root of its own. */
  #meetChain(call: string, chain: AnyActorRef): void {
    if (this.#shownChains >= MOST_CHAINS || this.#rows.length >= MOST_ROWS) return
    this.#shownChains++
    const subscription = chain.system.inspect((event) => this.#hear(event, 'chain'))
    this.#meet(chain, 'chain', call, subscription)
  }

  #end(known: Known | undefined): void {
    if (known === undefined) return
    known.subscription?.unsubscribe()
    this.#known.delete(known.ref.sessionId)
    if (known.machine === 'chain') this.#shownChains--
    this.#moved.add(known)
    this.#ended.push(known)
  }

  /** Of a breaker's end nobody is told; its supervisor just has it no more. */
  #missBreakers(): void {
    const root = this.#known.get(this.#supervisor.sessionId)
    if (root === undefined || !this.#moved.has(root)) return
    const { children } = this.#supervisor.getSnapshot()
    for (const known of this.#known.values()) {
      if (known.machine === 'breaker' && children[known.name] !== known.ref) this.#end(known)
    }
  }

  #actor({ ref, machine, name }: Known, snapshot: object): ShownActor {
    const root = machine === 'chain' ? ref : this.#supervisor
    return {
      id: ref.sessionId,
      parent: machine === 'breaker' ? root.sessionId : null,
      root: root.sessionId,
      name,
      machine,
      snapshot: shownSnapshot(machine, snapshot),
    }
  }

  /** One that cannot be shown does not cost the others. */
  #shown({ known, at, source, event, after }: Row): ShownRow[] {
    try {
      const row = { id: known.ref.sessionId, at, source, event: shownEvent(event) }
      // a refused event leaves the very same snapshot
      if (after === undefined || after === known.told) return [row]
      known.told = after
      return [{ ...row, snapshot: shownSnapshot(known.machine, after) }]
    } catch (error) {
      this.#onFault(error)
      return []
    }
  }
}
