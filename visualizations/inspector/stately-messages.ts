import type { ShownActor, ShownEvent, ShownRow, ShownSnapshot } from '../../src/adapters/inspect/wire.ts'

/** The version of `@statelyai/inspect` whose messages these are. */
const VERSION = '0.7.2'

interface Base {
  readonly _version: string
  /** Epoch ms. */
  readonly createdAt: string
  readonly id: null
  readonly rootId: string
  readonly sessionId: string
}

/** A snapshot with everything that a reader of XState's may look for. */
interface StatelySnapshot extends ShownSnapshot {
  readonly children: object
  readonly historyValue: object
  readonly tags: readonly string[]
}

/** What the Stately inspector understands. */
export type StatelyMessage = Base &
  (
    | {
        readonly type: '@xstate.actor'
        readonly name: string
        readonly parentId: string | undefined
        /** JSON of the machine's configuration. */
        readonly definition: string
        readonly snapshot: StatelySnapshot
      }
    | { readonly type: '@xstate.event'; readonly event: ShownEvent; readonly sourceId: string | undefined }
    | { readonly type: '@xstate.snapshot'; readonly event: ShownEvent; readonly snapshot: StatelySnapshot }
  )

type Whose = Pick<ShownActor, 'id' | 'root'>

const base = ({ id, root }: Whose, at: number): Base => ({
  _version: VERSION,
  createdAt: String(at),
  id: null,
  rootId: root,
  sessionId: id,
})

const whole = (snapshot: ShownSnapshot): StatelySnapshot => ({
  ...snapshot,
  children: {},
  historyValue: {},
  tags: [],
})

/** Registers an actor, as it stands. */
export function actorMessage(
  actor: Whose & Pick<ShownActor, 'name' | 'parent'>,
  snapshot: ShownSnapshot,
  definition: string,
  at: number,
): StatelyMessage {
  return {
    type: '@xstate.actor',
    ...base(actor, at),
    name: actor.name,
    parentId: actor.parent ?? undefined,
    definition,
    snapshot: whole(snapshot),
  }
}

/** An event, and what it led to. */
export function rowMessages(actor: Whose, { at, source, event, snapshot }: ShownRow): StatelyMessage[] {
  const sent: StatelyMessage = {
    type: '@xstate.event',
    ...base(actor, at),
    event,
    sourceId: source ?? undefined,
  }
  return snapshot === undefined ? [sent] : [sent, snapshotMessage(actor, snapshot, event, at)]
}

export function snapshotMessage(
  actor: Whose,
  snapshot: ShownSnapshot,
  event: ShownEvent,
  at: number,
): StatelyMessage {
  return { type: '@xstate.snapshot', ...base(actor, at), event, snapshot: whole(snapshot) }
}
