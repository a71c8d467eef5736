import type { Cause } from '../../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { whyOpened } from '../../audit/incident/why-opened.ts'
import { isSwitchgearError } from '../../core/errors.ts'
import type { Explanation } from '../../core/explain.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import type { JournalFilter } from '../../stores/journal-store.ts'
import { AdminError, badRequest } from './admin-error.ts'
import { seeCircuits } from './circuit-view.ts'
import type { SeenCircuit } from './circuit-view.ts'
import { readOrder } from './command.ts'
import type { AdminContext, Reloaded } from './context.ts'
import { findCircuit, wayTo } from './find-circuit.ts'
import { readQuery, rowView } from './journal-query.ts'
import type { Frame } from './live-events.ts'
import type { CircuitView, CircuitsReport, CommandResult, GroupView, JournalRowView, Order } from './wire.ts'
import { cleanWords } from './words.ts'

const ROWS_OF_ONE = 50

/** `GET /admin/circuits/:circuit` */
export interface CircuitDetail extends CommandResult {
  readonly explanation: Explanation
  /** Why it opened by its rules, with the limit and the window of the rule; absent where it has not, or nobody knows. */
  readonly opened?: string
  /** The last rows, the newest first; empty where no journal is kept. */
  readonly journal: readonly JournalRowView[]
}

/** What each route of the admin API answers. */
export class AdminDesk {
  readonly #context: AdminContext

  constructor(context: AdminContext) {
    this.#context = context
  }

  /** `GET /admin/circuits` */
  circuits(): CircuitsReport {
    return this.#report(this.#see())
  }

  /** The same for whoever watches. */
  frame(): Frame {
    const seen = this.#see()
    const fingerprint = seen.map(({ view }) => fingerprintOf(view)).join('\n')
    return { fingerprint, text: () => JSON.stringify(this.#report(seen)) }
  }

  /** `GET /admin/circuits/:circuit` */
  circuit(path: readonly string[]): CircuitDetail {
    const circuit = path.join('/')
    const { gear, targets } = this.#context.present()
    const { view, told } = findCircuit(circuit, this.#see(), gear, targets)
    const rows = this.#rowsOf(circuit)
    const policy = this.#policyOf(circuit)
    const cause = openingCause(told, rows)
    return {
      ...view,
      ...this.#place,
      explanation: told,
      ...(cause !== undefined && { opened: whyOpened(cause, policy) }),
      journal: rows.map(rowView),
    }
  }

  /** `GET /admin/chart`: with the numbers of the circuit that is asked for, otherwise with those of the default rules. */
  async chart({ circuit, ...others }: Readonly<Record<string, unknown>>): Promise<{ readonly svg: string }> {
    const isOne = circuit === undefined || typeof circuit === 'string'
    if (!isOne || Object.keys(others).length > 0) throw badRequest('The query knows circuit, once.')
    const { gear, targets } = this.#context.present()
    if (circuit !== undefined) findCircuit(circuit, this.#see(), gear, targets)
    return { svg: await this.#context.chart(circuit === undefined ? undefined : this.#policyOf(circuit)) }
  }

  /** `POST /admin/circuits/:circuit/open` and `…/close` */
  command(path: readonly string[], body: unknown, by: string): CommandResult {
    const { gear, targets } = this.#context.present()
    const circuit = path.slice(0, -1).join('/')
    const verb = path.at(-1)
    if (circuit === '' || (verb !== 'open' && verb !== 'close')) {
      throw new AdminError(
        404,
        'unknown_url',
        'A circuit can be told open or close: POST /admin/circuits/<circuit>/open',
      )
    }
    const order = { ...readOrder(body), by }
    const selector = wayTo(circuit, this.#see(), gear, targets)
    const held = peekHold(circuit, this.#see())
    if (verb === 'open') gear.openCircuit(selector, order)
    else gear.closeCircuit(selector, order)
    const { view } = findCircuit(circuit, this.#see(), gear, targets)
    const isHeld = held !== undefined && !order.hold
    if (verb === 'open' && (isHeld || view.state === 'closed' || view.state === 'degraded'))
      throw heldAlready(view)
    return { ...view, ...this.#place }
  }

  /** `GET /admin/journal` */
  journal(query: Readonly<Record<string, unknown>>): { readonly rows: readonly JournalRowView[] } {
    const filter = readQuery(query)
    try {
      return { rows: this.#rows(filter).map(rowView) }
    } catch (error) {
      this.#context.logger.error({ err: error }, 'admin: the journal cannot be read')
      const text = 'The journal cannot be read. `switchgear journal verify` says what is wrong with it.'
      throw new AdminError(500, 'journal_unreadable', text)
    }
  }

  /** `POST /admin/reload` */
  async reload(body: unknown): Promise<Reloaded> {
    const { reload } = this.#context
    if (typeof body === 'object' && body !== null && Object.keys(body).length > 0) {
      throw badRequest('A reload takes no options.')
    }
    if (reload === undefined) {
      throw badRequest('This gateway runs without a configuration file: there is nothing to read again.')
    }
    try {
      const { changed, kept } = await reload()
      return { changed, kept }
    } catch (error) {
      if (!isSwitchgearError(error) && !(error instanceof RangeError)) throw error
      const text = `The new configuration is broken, and the old one stays in force:\n${error.message}`
      // the line that a fault shows is indented and belongs to it
      throw new AdminError(400, 'invalid_config', text, { faults: error.message.split(/\n(?!\s)/) })
    }
  }

  /** What a body asks for, as the log tells it; {} where it cannot be read. */
  order(body: unknown): Order {
    try {
      return readOrder(body)
    } catch {
      return {}
    }
  }

  #policyOf(circuit: string): BreakerPolicy | undefined {
    const { breakers } = this.#context.present().gear.stats()
    return breakers.find(({ bucket }) => bucket === circuit)?.policy
  }

  #see(): SeenCircuit[] {
    const { gear, targets } = this.#context.present()
    return seeCircuits(gear, targets)
  }

  /** Which replica answers, and when. */
  get #place(): { readonly replica: string; readonly now: number } {
    const { replica, clock } = this.#context
    return { replica, now: clock.wall() }
  }

  #report(seen: readonly SeenCircuit[]): CircuitsReport {
    const { groups } = this.#context.present()
    return {
      ...this.#place,
      ...(groups !== undefined && { groups: groups.map(groupView) }),
      circuits: seen.map(({ view }) => view),
    }
  }

  /** A journal that cannot be read is no reason to show nothing of the circuit. */
  #rowsOf(circuit: string): readonly JournalRow[] {
    try {
      return this.#rows({ circuit, limit: ROWS_OF_ONE })
    } catch (error) {
      this.#context.logger.error({ err: error }, 'admin: the journal cannot be read')
      return []
    }
  }

  #rows(filter: JournalFilter): readonly JournalRow[] {
    return this.#context.journal?.rows(filter) ?? []
  }
}

/** What opened a circuit that is not closed; undefined = an operator did, or nobody knows any more. */
function openingCause({ status }: Explanation, rows: readonly JournalRow[]): Cause | undefined {
  if (status.held || (status.state !== 'open' && status.state !== 'half-open')) return undefined
  const opening = rows.find(
    ({ type, from, to }) => type !== 'resumed' && to === 'open' && (from === 'closed' || from === 'degraded'),
  )
  const causes = [status.cause, ...(opening?.saved == null ? [] : [opening.saved.cause])]
  return causes.find(({ why }) => why === 'tripped' || why === 'kind_tripped')
}

const groupView = ({ name, targets, strategy, fallbacks }: GroupView): GroupView => ({
  name,
  targets,
  strategy,
  fallbacks,
})

const peekHold = (circuit: string, seen: readonly SeenCircuit[]) =>
  seen.find(({ view }) => view.circuit === circuit)?.view.hold

/** Nothing has happened, and whoever thinks otherwise sends calls into an outage. */
function heldAlready({ circuit, state, hold }: CircuitView): AdminError {
  const why =
    hold === undefined
      ? 'The gateway is closing.'
      : state === 'open'
        ? `It is held open by ${hold.by} already, and a plain open does not shorten a hold. Close it to end the hold.`
        : `It is held closed by ${hold.by}, and a plain open lifts no hold. Hold it open, or close it first.`
  const text = `'${cleanWords(circuit, 100)}' did not open. ${why}`
  return new AdminError(409, 'held', text)
}

/** Everything of a view that changes for another reason than that time passes. */
function fingerprintOf(view: CircuitView): string {
  const { circuit, state, observed, generation, hold, probes, calls, refused, late, fallbacks, targets } =
    view
  const numbers = [
    generation,
    hold?.until,
    calls.success,
    calls.failure,
    calls.neutral,
    refused,
    late,
    fallbacks,
  ]
  return [
    circuit,
    state,
    observed,
    ...targets,
    ...numbers,
    probes.inFlight,
    probes.succeeded,
    probes.failed,
  ].join()
}
