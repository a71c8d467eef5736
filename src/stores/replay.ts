import { isDeepStrictEqual } from 'node:util'
import { initialTransition, transition } from 'xstate'
import type { BreakerContext } from '../../machines/breaker-context.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { circuitState, savedCircuit, shiftSaved } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import { freshTrial } from '../../machines/trial.ts'
import type { JournalRow } from './journal-row.ts'
import { policyFromJson } from './policy-json.ts'

/** One circuit after its rows were sent to a machine again. */
export interface ReplayedCircuit {
  /** The machine's last snapshot; undefined = no row told where to begin, or by which rules. */
  readonly snapshot: BreakerSnapshot | undefined
  /** Rows that were sent again. */
  readonly rows: number
  /** Rows before the first from which it can be gone on. */
  readonly skipped: number
}

/** A row after which the machine is not as the journal says. */
export interface ReplayDifference {
  readonly seq: number
  readonly circuit: string
  readonly journalled: { readonly state: CircuitState | null; readonly saved: SavedCircuit | null }
  readonly replayed: { readonly state: CircuitState; readonly saved: SavedCircuit }
}

/** What a replay came to. */
export interface Replay {
  readonly circuits: ReadonlyMap<string, ReplayedCircuit>
  /** Empty = the journal and the machine tell the same story. */
  readonly differences: readonly ReplayDifference[]
}

/** Rules by bucket, where they are to be others than the journalled ones, or where the journal could not hold them. */
export type ReplayPolicies = Readonly<Record<string, BreakerPolicy>>

const LIFE: ReadonlySet<JournalRow['type']> = new Set([
  'breaker.started',
  'breaker.evicted',
  'circuit.saved',
] as const)

const plain = <T>(value: T) => JSON.parse(JSON.stringify(value)) as T

/** One circuit on its way through its rows. */
class Circuit {
  readonly #own: BreakerPolicy | undefined
  #policy: BreakerPolicy | undefined
  snapshot: BreakerSnapshot | undefined
  rows = 0
  skipped = 0

  constructor(own: BreakerPolicy | undefined) {
    this.#own = own
    this.#policy = own
  }

  /** Follows one row; what it returns is no longer what the journal says. */
  follow(row: JournalRow): Omit<ReplayDifference, 'seq' | 'circuit'> | undefined {
    const { event } = row
    if (event.type === 'breaker.evicted') {
      this.snapshot = undefined
      return undefined
    }
    if (event.type === 'breaker.started') {
      this.#policy = this.#own ?? policyFromJson(event.policy)
      this.snapshot = this.#policy && begun(this.#policy, event.at)
      this.#count()
      return undefined
    }
    if (this.snapshot === undefined || LIFE.has(event.type)) {
      this.snapshot = this.#policy && standing(row, this.#policy)
      this.#count()
      return undefined
    }
    const [next] = transition(breakerMachine, this.snapshot, event as BreakerEvent)
    this.snapshot = next
    this.rows++
    const replayed = {
      state: circuitState(next),
      saved: plain(shiftSaved(savedCircuit(next), row.at - event.at)),
    }
    const journalled = { state: row.to, saved: row.saved }
    return isDeepStrictEqual(replayed, journalled) ? undefined : { journalled, replayed }
  }

  #count(): void {
    if (this.snapshot === undefined) this.skipped++
    else this.rows++
  }
}

function begun(policy: BreakerPolicy, at: number): BreakerSnapshot {
  const [snapshot] = initialTransition(breakerMachine, { policy, at })
  return snapshot
}

/** The machine as it stood after a row; undefined in the midst of a trial, of which a row does not know enough. */
function standing({ from, to, at, event, saved }: JournalRow, policy: BreakerPolicy) {
  if (saved === null || (to === 'half-open' && from === 'half-open')) return undefined
  const { version: _version, state: _state, ...facts } = shiftSaved(saved, event.at - at)
  const trial = to === 'half-open' ? freshTrial : null
  const context: BreakerContext = { ...facts, policy, trial }
  const held = saved.hold !== null
  if (to === 'half-open') return breakerMachine.resolveState({ value: 'halfOpen', context })
  const value =
    to === 'open'
      ? { open: held ? ('held' as const) : ('cooling' as const) }
      : {
          closed: held ? ('held' as const) : to === 'degraded' ? ('degraded' as const) : ('healthy' as const),
        }
  return breakerMachine.resolveState({ value, context })
}

/**
 * Sends the journalled events to fresh machines. A circuit begins with its `breaker.started`, or, where retention has
 * dropped that, wherever a row tells enough to go on from. The rules are the journalled ones unless `policies` has others;
 * a circuit whose rows tell of no rules at all needs them there.
 *
 * @param rows in any order
 * @example
 * ```ts
 * const { differences } = replayJournal(journal.rows({ limit: Infinity }))
 * ```
 */
export function replayJournal(rows: Iterable<JournalRow>, policies: ReplayPolicies = {}): Replay {
  const circuits = new Map<string, Circuit>()
  const differences: ReplayDifference[] = []
  for (const row of [...rows].sort((a, b) => a.seq - b.seq)) {
    const name = row.circuit
    if (row.event.type === 'journal.interrupted' && row.event.lost > 0)
      for (const circuit of circuits.values()) circuit.snapshot = undefined
    if (name === null) continue
    const known = circuits.get(name)
    const circuit = known ?? new Circuit(Object.hasOwn(policies, name) ? policies[name] : undefined)
    if (known === undefined) circuits.set(name, circuit)
    const difference = circuit.follow(row)
    if (difference !== undefined) differences.push({ seq: row.seq, circuit: name, ...difference })
  }
  return { circuits, differences }
}
