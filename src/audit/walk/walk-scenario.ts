import { Document, isMap, isSeq } from 'yaml'
import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import type { Seen } from './circuit-fields.ts'
import type { WalkNode } from './walk.ts'
import { wayTo } from './walk.ts'
import type { Ending, WalkStep } from './walk-step.ts'

/** A step of a scenario file. */
type Entry = Record<string, unknown>

/** A scenario of one breaker, as it is written down. */
export interface WalkedScenario {
  readonly name: string
  readonly why?: string
  readonly breaker: CircuitBreakerOptions & { readonly probeLeaseMs: number }
  readonly roll: number
  readonly steps: readonly Entry[]
}

const endingOf = ({ failure, retryAfterMs, latencyMs }: Ending): Entry => ({
  ...(failure !== undefined && { failure }),
  ...(retryAfterMs !== undefined && { retryAfterMs }),
  ...(latencyMs !== undefined && { latencyMs }),
})

function entryOf(step: WalkStep): Entry {
  switch (step.do) {
    case 'call':
      return { calls: { outcome: step.outcome, times: 1, ...endingOf(step) } }
    case 'admit':
      return { admit: step.permit }
    case 'settle':
      return {
        [step.outcome]: step.permit,
        ...endingOf(step),
        // without it the time that the call took would count
        ...(step.latencyMs === undefined && step.outcome !== 'ignore' && { latencyMs: 0 }),
      }
    case 'wait':
      return { advance: step.ms }
    default: {
      const { do: verb, ...options } = step
      return { [verb]: options }
    }
  }
}

const repeats = (a: Entry, b: Entry) => {
  const [one, other] = [a['calls'], b['calls']] as (Entry | undefined)[]
  if (one === undefined || other === undefined || Object.keys(a).length > 1) return false
  const plain = ({ times: _times, ...rest }: Entry) => JSON.stringify(rest)
  return plain(one) === plain(other)
}

/** The way to a place as steps; each says the state where it changes, the last one `told` as well. */
export function stepsTo(node: WalkNode, side: number, told: Partial<Record<keyof Seen, true>> = {}): Entry[] {
  const way = wayTo(node)
  const entries: Entry[] = []
  let state = 'closed'
  for (const [i, { step, circuits }] of way.entries()) {
    if (step === undefined) continue
    const { seen } = circuits[side]!
    const isLast = i === way.length - 1
    const changed = seen.state !== state
    state = seen.state
    const entry = {
      ...entryOf(step),
      ...((changed || isLast) && { expect: seen.state }),
      ...(isLast && told.canExecute === true && { canExecute: seen.canExecute }),
    }
    const last = entries.at(-1)
    if (last !== undefined && repeats(last, entry)) {
      const calls = last['calls'] as Entry
      entries[entries.length - 1] = { ...entry, calls: { ...calls, times: Number(calls['times']) + 1 } }
    } else entries.push(entry)
  }
  // beside a failing call it would be the provider's word
  if (told.retryAfterMs === true)
    entries.push({ retryAfterMs: way.at(-1)?.circuits[side]?.seen.retryAfterMs ?? 0 })
  return entries
}

/** A scenario as the text of a file. */
export function scenarioText({ name, why, breaker, roll, steps }: WalkedScenario): string {
  const document = new Document({
    kind: 'breaker',
    name,
    ...(why !== undefined && { why }),
    random: [roll],
    breaker,
    steps,
  })
  const inOneLine = (value: unknown) => {
    if (isMap(value) || isSeq(value)) value.flow = true
  }
  for (const key of ['random', 'breaker']) inOneLine(document.get(key))
  const list = document.get('steps')
  if (isSeq(list)) for (const item of list.items) inOneLine(item)
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
