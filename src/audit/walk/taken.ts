import type { AnyMachineSnapshot, EventObject } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerEvent } from '../../../machines/breaker-events.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import { writtenTransitions } from '../../testing/graph-seam.ts'

interface Definitions {
  getTransitionData(snapshot: AnyMachineSnapshot, event: EventObject): readonly object[]
}

const written = writtenTransitions(breakerMachine)
const idOf = ({ source, event, index }: (typeof written)[number]) => `${source}/${event}/${index}`
const ids = new Map(written.map((each) => [each.definition, idOf(each)]))
const verdicts = written.filter(({ event }) => event === 'always')
const verdictTo = (state: string) =>
  verdicts.filter(({ targets }) => targets[0]?.startsWith(`breaker.${state}`) === true).map(idOf)
const elapsed = written.filter(({ event }) => event.startsWith('xstate.after.')).map(idOf)

/** The written transitions that `event` took, by the ids of the chart. */
export function takenBy(before: BreakerSnapshot, event: BreakerEvent, after: BreakerSnapshot): string[] {
  const definitions = (breakerMachine as unknown as Definitions).getTransitionData(before, event)
  const own = definitions.flatMap((definition) => ids.get(definition) ?? [])
  const { why } = after.context.cause
  const isVerdict = event.type.startsWith('probe.') && after.value !== 'halfOpen'
  const verdict = !isVerdict ? [] : why === 'trial_met' ? verdictTo('closed') : verdictTo('open')
  // whoever notices it first, the end of a cooldown is one transition to people
  return [...own, ...verdict, ...(event.type === 'cooldown.elapsed' ? elapsed : [])]
}
