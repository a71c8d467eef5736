import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate'

/** One machine under one policy or plan, with everything that could happen to it. */
export interface Model<M extends AnyStateMachine> {
  /** The policy's or plan's name. */
  readonly name: string
  readonly machine: M
  readonly input: InputFrom<M>
  readonly startAt: number
  /** What may happen in this configuration, as of `now`; the machine's own delays left out. */
  readonly events: (snapshot: SnapshotFrom<M>, now: number) => readonly EventFromLogic<M>[]
  /** What tells two configurations apart. */
  readonly key: (snapshot: SnapshotFrom<M>) => string
  /** When the pending delay of the machine ends; null = none is pending. */
  readonly deadline: (snapshot: SnapshotFrom<M>) => number | null
}
