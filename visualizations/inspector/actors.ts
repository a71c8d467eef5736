import { batch, computed, signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type {
  MachineName,
  News,
  Picture,
  ShownActor,
  ShownRow,
  ShownSnapshot,
} from '../../src/adapters/inspect/wire.ts'
import { inWords } from './chart-states.ts'

const MOST_ROWS = 100
const MOST_ENDED = 20

/** A row as it is listed, with a key of its own. */
export interface SeenRow extends ShownRow {
  readonly key: number
  /** The state that it led to, where that is another one. */
  readonly to: string | undefined
}

/** An actor as it stands. */
export interface Actor {
  readonly told: ShownActor
  readonly snapshot: Signal<ShownSnapshot>
  /** The state before the present one; undefined = it has had no other yet. */
  readonly before: Signal<unknown>
  /** Type of the event that led from there; undefined = nobody knows. */
  readonly movedBy: Signal<string | undefined>
  readonly ended: Signal<boolean>
  /** The newest first. */
  readonly rows: Signal<readonly SeenRow[]>
}

/** Who hears of what the actors do. */
export interface Hearer {
  /** All of them may be others. */
  shown(): void
  /** These are new, and stand as they were when they came. */
  came(actors: readonly Actor[]): void
  /** What the others did, who may have ended since. */
  heard(news: News): void
}

const ORDER: readonly MachineName[] = ['supervisor', 'breaker', 'chain']

/** All actors that live, and the chains that ended last. */
export class Actors {
  readonly byId = new Map<string, Actor>()
  /** Supervisor, breakers by name, chains with the newest first. */
  readonly all = signal<readonly Actor[]>([])
  /** Part of the name or the state of those that are looked for. */
  readonly filter = signal('')
  readonly wanted = computed(() => this.all.value.filter((actor) => this.isWanted(actor)))
  readonly chosen = signal<Actor | undefined>(undefined)
  readonly inspector = signal('')
  /** Which of several processes tells this; empty = there is but one. */
  readonly replica = signal('')
  /** Events that were never told, because there were too many. */
  readonly untold = signal(0)
  /** Chains under way that are not shown. */
  readonly unshown = signal(0)
  definitions: Picture['definitions'] | undefined
  hearer: Hearer | undefined
  #lastKey = 0
  #wished: string | undefined

  /** @param wished the breaker that is looked at as soon as it is there */
  constructor(wished?: string) {
    this.#wished = wished
  }

  choose(actor: Actor): void {
    this.#wished = undefined
    this.chosen.value = actor
  }

  isWanted({ told, snapshot }: Actor): boolean {
    const wanted = this.filter.value.trim().toLowerCase()
    if (wanted === '') return true
    return `${told.name} ${inWords(snapshot.value.value)}`.toLowerCase().includes(wanted)
  }

  forget(): void {
    this.byId.clear()
    this.untold.value = 0
  }

  show({ replica = '', inspector, definitions, actors, unshown, missed }: Picture): void {
    batch(() => {
      this.definitions = definitions
      this.inspector.value = inspector
      this.replica.value = replica
      this.unshown.value = unshown
      this.untold.value += missed
      const here = new Set(actors.map(({ id }) => id))
      for (const [id, actor] of this.byId) if (!here.has(id)) actor.ended.value = true
      for (const told of actors) this.#add(told)
      this.#arrange()
      this.hearer?.shown()
    })
  }

  hear(news: News): void {
    batch(() => {
      this.unshown.value = news.unshown
      this.untold.value += news.dropped
      for (const told of news.actors) this.#add(told)
      this.hearer?.came(news.actors.flatMap(({ id }) => this.byId.get(id) ?? []))
      const rows = new Map<Actor, SeenRow[]>()
      for (const row of news.rows) this.#note(row, rows)
      for (const [actor, fresh] of rows) {
        actor.rows.value = [...fresh.toReversed(), ...actor.rows.value].slice(0, MOST_ROWS)
      }
      for (const { id, snapshot } of news.snapshots) this.#move(this.byId.get(id), snapshot)
      this.hearer?.heard(news)
      for (const id of news.gone) {
        const actor = this.byId.get(id)
        if (actor !== undefined) actor.ended.value = true
      }
      if (news.actors.length + news.gone.length > 0) this.#arrange()
    })
  }

  #add(told: ShownActor): void {
    const known = this.byId.get(told.id)
    if (known !== undefined) return void this.#move(known, told.snapshot)
    this.byId.set(told.id, {
      told,
      snapshot: signal(told.snapshot),
      before: signal(undefined),
      movedBy: signal(undefined),
      ended: signal(false),
      rows: signal([]),
    })
  }

  #note(row: ShownRow, rows: Map<Actor, SeenRow[]>): void {
    const actor = this.byId.get(row.id)
    if (actor === undefined) return
    const to = this.#move(actor, row.snapshot, row.event.type)
    const fresh = rows.get(actor) ?? []
    if (fresh.length === 0) rows.set(actor, fresh)
    fresh.push({ ...row, key: ++this.#lastKey, to })
  }

  /** The new state in words, where it is another one. */
  #move(actor: Actor | undefined, snapshot: ShownSnapshot | undefined, event?: string): string | undefined {
    if (actor === undefined || snapshot === undefined) return undefined
    const { value } = actor.snapshot.value
    const [from, to] = [inWords(value), inWords(snapshot.value)]
    actor.snapshot.value = snapshot
    if (from === to) return undefined
    actor.before.value = value
    actor.movedBy.value = event
    return to
  }

  /** Puts them in order, and forgets who ended long ago. */
  #arrange(): void {
    const old = [...this.byId.values()].filter(({ ended }) => ended.value)
    for (const { told } of old.slice(0, -MOST_ENDED)) this.byId.delete(told.id)
    const rank = ({ told }: Actor) => ORDER.indexOf(told.machine)
    // those that came last are last in the map
    const all = [...this.byId.values()].toReversed()
    all.sort((a, b) => rank(a) - rank(b) || (a.told.machine === 'breaker' ? byName(a, b) : 0))
    this.all.value = all
    const wish = this.#wished
    const wished =
      wish !== undefined && all.find(({ told }) => told.machine === 'breaker' && told.name === wish)
    if (wished) return this.choose(wished)
    const { value: chosen } = this.chosen
    if (chosen !== undefined && this.byId.get(chosen.told.id) === chosen) return
    this.chosen.value = all.find(({ told }) => told.name === chosen?.told.name) ?? all[0]
  }
}

const byName = (a: Actor, b: Actor) => a.told.name.localeCompare(b.told.name, 'en', { numeric: true })
