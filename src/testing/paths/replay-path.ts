import { isDeepStrictEqual } from 'node:util'
import { createActor } from 'xstate'
import type { Actor, AnyMachineSnapshot, AnyStateMachine, SnapshotFrom } from 'xstate'
import { isDelayEvent, takenTransitions } from '../graph-seam.ts'
import { VirtualClock } from '../virtual-clock.ts'
import type { CoverPath } from './edge-cover.ts'
import type { Edge } from './edge-graph.ts'
import type { Model } from './model.ts'

/** Where the real actor went another way than the path. */
export interface PathFault {
  readonly model: string
  readonly events: readonly string[]
  readonly message: string
}

export interface Replay {
  /** Definitions of the transitions that were taken. */
  readonly taken: ReadonlySet<object>
  readonly faults: readonly PathFault[]
  readonly steps: number
}

/** What a check sees after each step. */
export interface Stop<M extends AnyStateMachine> {
  readonly edge: Edge<M>
  readonly snapshot: SnapshotFrom<M>
  /** Timers that are armed. */
  readonly pending: number
  /** When the next of them fires; undefined = none is armed. */
  readonly nextAt: number | undefined
  readonly now: number
}

interface Run<M extends AnyStateMachine> {
  readonly actor: Actor<M>
  readonly clock: VirtualClock
  readonly model: Model<M>
}

const look = <M extends AnyStateMachine>({ actor }: Run<M>) => actor.getSnapshot() as SnapshotFrom<M>

function sameAs(one: unknown, other: unknown): boolean {
  const [a, b] = [one as AnyMachineSnapshot, other as AnyMachineSnapshot]
  return (
    isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.context, b.context) && a.status === b.status
  )
}

/** Moves the clock on to `at`, but never into a deadline that the path has not come to. */
function wait<M extends AnyStateMachine>({ clock, model, ...run }: Run<M>, at: number): void {
  const deadline = model.deadline(look({ clock, model, ...run }))
  const until = deadline === null ? at : Math.min(at, deadline - 1)
  if (until > clock.now()) clock.set(until)
}

function take<M extends AnyStateMachine>(run: Run<M>, edge: Edge<M>): string | undefined {
  const { actor, clock, model } = run
  wait(run, edge.at)
  if (!isDelayEvent(edge.event)) {
    actor.send(edge.event)
    return undefined
  }
  const early = look(run)
  if (!sameAs(early, edge.before)) return 'the delay ended before its time'
  clock.set(Math.max(clock.now(), model.deadline(early) ?? 0))
  return undefined
}

/** Takes one path on a real actor under a virtual clock and compares value and context after every step. */
export function replayPath<M extends AnyStateMachine>(
  model: Model<M>,
  { steps, refusals }: CoverPath<M>,
  check?: (stop: Stop<M>) => void,
): Replay {
  const taken = new Set<object>()
  const faults: PathFault[] = []
  const clock = new VirtualClock(model.startAt)
  const inspect = (event: Parameters<typeof takenTransitions>[0]) => {
    for (const definition of takenTransitions(event)) taken.add(definition)
  }
  const options = { input: model.input, clock, inspect }
  const actor = createActor(model.machine, options as never)
  const fault = (at: number, message: string) =>
    faults.push({ model: model.name, events: steps.slice(0, at + 1).map(({ event }) => event.type), message })
  actor.subscribe({ error: (error) => fault(steps.length, `the actor failed: ${String(error)}`) })
  actor.start()
  const run: Run<M> = { actor, clock, model }
  for (const [i, edge] of steps.entries()) {
    const problem = take(run, edge)
    if (problem !== undefined) fault(i, problem)
    if (!sameAs(look(run), edge.after))
      fault(i, `the actor is not where the model says after ${edge.event.type}`)
    check?.({ edge, snapshot: look(run), pending: clock.pending, nextAt: clock.nextAt, now: clock.now() })
  }
  for (const { event, at } of refusals) {
    const before = look(run)
    wait(run, at)
    actor.send(event)
    if (look(run) !== before) fault(steps.length, `${event.type} was not refused`)
  }
  actor.stop()
  return { taken, faults, steps: steps.length + refusals.length }
}
