/** What the page is told of the actors, as server-sent events: `picture` once, then `news`. */

export type MachineName = 'supervisor' | 'breaker' | 'chain'

/** The allow-listed part of a snapshot. */
export interface ShownSnapshot {
  readonly status: string
  /** A state value of XState: a name, or names of regions with their own. */
  readonly value: unknown
  readonly context: Readonly<Record<string, unknown>>
}

/** The allow-listed part of an event. */
export type ShownEvent = Readonly<Record<string, unknown>> & { readonly type: string }

export interface ShownActor {
  /** XState's session id. */
  readonly id: string
  /** Session ids of the actor that spawned it, null = none, and of the root of its system. */
  readonly parent: string | null
  readonly root: string
  /** The bucket of a breaker, the call of a chain. */
  readonly name: string
  readonly machine: MachineName
  readonly snapshot: ShownSnapshot
}

/** One event that an actor was sent. */
export interface ShownRow {
  /** Of the actor. */
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  /** Session id of the actor that sent it; null = the runtime. */
  readonly source: string | null
  readonly event: ShownEvent
  /** What it led to; absent = it changed nothing. */
  readonly snapshot?: ShownSnapshot
}

/** Everything as it stands: the first thing a viewer is told, and again after it could not follow. */
export interface Picture {
  /** Which of several processes tells this; states differ from one to the other. */
  readonly replica?: string
  /** Address of the Stately inspector. */
  readonly inspector: string
  /** Each machine as Stately reads it: JSON of its configuration. */
  readonly definitions: Readonly<Record<MachineName, string>>
  readonly actors: readonly ShownActor[]
  /** Chains under way that are not shown, because too many are. */
  readonly unshown: number
  /** Events that this viewer was not told, because it did not read, since the last picture. */
  readonly missed: number
}

/** What has happened since. */
export interface News {
  readonly actors: readonly ShownActor[]
  readonly rows: readonly ShownRow[]
  /** The latest of actors whose own rows do not tell it. */
  readonly snapshots: readonly { readonly id: string; readonly snapshot: ShownSnapshot }[]
  /** Session ids of actors that have ended. */
  readonly gone: readonly string[]
  readonly unshown: number
  /** Events that nobody was told, because there were too many at once. */
  readonly dropped: number
}
