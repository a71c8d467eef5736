import type { BreakerEvent } from '../../../machines/breaker-events.ts'
import type { BreakerContext } from '../../../machines/breaker-context.ts'
import type { breakerMachine } from '../../../machines/breaker.machine.ts'
import { callsFlow, circuitState } from '../../../machines/circuit-state.ts'
import { isDelayEvent } from '../graph-seam.ts'
import { edgeCover } from '../paths/edge-cover.ts'
import type { Edge, EdgeGraph } from '../paths/edge-graph.ts'
import type { BreakerStep } from '../scenario/scenario.ts'

type BreakerEdge = Edge<typeof breakerMachine>
type Entry = Omit<BreakerStep, 'line'>

/** A step of a path, and the sort of edge that it belongs to. */
export interface ToldStep extends BreakerStep {
  readonly sort: string
}

const withWait = (words: string, { retryAfterMs }: { readonly retryAfterMs?: number | undefined }) =>
  retryAfterMs === undefined ? words : `${words} and names a wait`

function happening(event: BreakerEvent, { before, taken }: BreakerEdge, isLate: boolean): string {
  switch (event.type) {
    case 'call.failed':
      return isLate
        ? withWait('a late call fails', event)
        : withWait(taken ? 'a call fails, the last that it takes' : 'a call fails', event)
    case 'call.succeeded':
      return isLate ? 'a late call succeeds' : 'a call succeeds'
    case 'probe.requested':
      return taken ? 'a caller is let in' : 'a caller is refused'
    case 'probe.failed':
      return withWait('a probe fails', event)
    case 'probe.succeeded':
      return 'a probe succeeds'
    case 'probe.released':
      return 'a probe ends without a verdict'
    case 'probe.expired':
      return 'a probe is lost'
    case 'operator.opened':
    case 'operator.closed': {
      const verb = event.type === 'operator.opened' ? 'open' : 'close'
      if (event.hold !== true) return `${verb} by hand`
      return `hold ${verb === 'open' ? 'open' : 'closed'}${event.until === undefined ? '' : ' for a while'}`
    }
    case 'hold.ended':
      return 'the hold ends'
    default:
      return before.context.openUntil === null ? event.type : 'the cooldown ends'
  }
}

const isOfBefore = ({ event, before }: BreakerEdge) =>
  'generation' in event && event.generation !== before.context.generation

/** In which state, and what: what a breaker does wrong there it does wrong on every path. */
function sortOf(edge: BreakerEdge): string {
  const held = edge.before.context.hold === null ? '' : ', held'
  return `${circuitState(edge.before)}${held}: ${happening(edge.event, edge, isOfBefore(edge))}`
}

/** Tells a path through the machine as steps that can be taken from outside. */
class Teller {
  readonly steps: ToldStep[] = []
  readonly #startAt: number
  readonly #probes = new Map<number, string>()
  #late = 0
  #named = 0
  #failures = 0

  constructor(startAt: number) {
    this.#startAt = startAt
  }

  tell(edge: BreakerEdge, sort: string): void {
    const { event, before, after } = edge
    const isLate = isOfBefore(edge)
    const entries = this.#entries(event, edge, isLate)
    if (callsFlow(after) && after.context.generation !== before.context.generation) this.#failures = 0
    const { openUntil, hold } = after.context
    const until = openUntil ?? hold?.until ?? null
    const isRefused = circuitState(after) === 'open'
    const wait = isRefused && { retryAfterMs: until === null ? null : until - edge.at }
    const seen: Entry = {
      expect: circuitState(after),
      ...(callsFlow(after) && { consecutiveFailures: this.#failures }),
    }
    const last = entries.at(-1) ?? {}
    // beside a failure it would be the provider's word
    const told = 'fail' in last ? [{ ...last, ...seen }, { ...wait }] : [{ ...last, ...seen, ...wait }]
    const steps: Entry[] = [...entries.slice(0, -1), ...told]
    for (const [i, step] of steps.entries())
      this.steps.push({ line: 0, sort, ...(i === 0 && { at: edge.at - this.#startAt }), ...step })
  }

  /** The late calls, which must be under way from the start. */
  get lateCalls(): ToldStep[] {
    return Array.from({ length: this.#late }, (_, i) => ({
      line: 0,
      sort: 'closed: a caller is let in',
      at: 0,
      admit: `old${i + 1}`,
    }))
  }

  #entries(event: BreakerEvent, { taken, before }: BreakerEdge, isLate: boolean): Entry[] {
    if (isDelayEvent(event)) return []
    switch (event.type) {
      case 'call.failed': {
        const { retryAfterMs, reading } = event
        const wait = retryAfterMs !== undefined && { retryAfterMs }
        if (isLate) return [{ fail: `old${++this.#late}`, ...wait }]
        return this.#inARow(reading.consecutiveFailures, wait)
      }
      case 'call.succeeded':
        if (isLate) return [{ succeed: `old${++this.#late}` }]
        return this.#afterAlmost(before.context)
      case 'probe.requested': {
        const name = `${taken ? 'probe' : 'other'}${++this.#named}`
        if (taken) this.#probes.set(event.permit, name)
        return [taken ? { admit: name } : { reject: name }]
      }
      case 'probe.succeeded':
        return [{ succeed: this.#probe(event) }]
      case 'probe.failed': {
        const { retryAfterMs } = event
        return [{ fail: this.#probe(event), ...(retryAfterMs !== undefined && { retryAfterMs }) }]
      }
      case 'probe.released':
        return [{ ignore: this.#probe(event) }]
      case 'operator.opened':
      case 'operator.closed': {
        const { hold, until, at } = event
        const command = {
          ...(hold === true && { hold }),
          ...(until !== undefined && { ttlMs: until - at }),
        }
        return [event.type === 'operator.opened' ? { open: command } : { close: command }]
      }
      default:
        return []
    }
  }

  #inARow(times: number, wait: false | { readonly retryAfterMs: number }): Entry[] {
    const one = { outcome: 'fail', times: 1, ...wait } as const
    const before: Entry[] = times === 1 ? [] : [{ calls: { outcome: 'fail', times: times - 1 } }]
    // where something was counted already, a success begins anew
    const fresh: Entry[] = this.#failures === 0 ? [] : [{ calls: { outcome: 'succeed', times: 1 } }]
    this.#failures = times
    return [...fresh, ...before, { calls: one }]
  }

  /** A success that has something to forgive. */
  #afterAlmost({ policy }: BreakerContext): Entry[] {
    const [rule] = policy.rules
    const most = rule?.kind === 'consecutive' ? rule.threshold - 1 - this.#failures : 0
    const almost: Entry[] = most < 1 ? [] : [{ calls: { outcome: 'fail', times: most } }]
    this.#failures = 0
    return [...almost, { calls: { outcome: 'succeed', times: 1 } }]
  }

  #probe({ permit }: { readonly permit: number }): string {
    return this.#probes.get(permit) ?? ''
  }
}

/** A way through the machine: its last step may only show what the one before has done. */
export interface EdgeWay {
  readonly steps: readonly BreakerEdge[]
  readonly proof: BreakerEdge | undefined
}

/** A way as the steps of a scenario, with the state to be seen after each. */
export function toldWay({ steps, proof }: EdgeWay, startAt: number): ToldStep[] {
  const teller = new Teller(startAt)
  for (const edge of steps) teller.tell(edge, sortOf(edge))
  const last = steps.at(-1)
  if (proof !== undefined && last !== undefined) teller.tell(proof, sortOf(last))
  return [...teller.lateCalls, ...teller.steps]
}

/**
 * The ways of an edge cover. What is refused at its end is a way each, so that one cannot hide another; where a probe is
 * under way, it must still be able to decide.
 */
export function waysOf(graph: EdgeGraph<typeof breakerMachine>): EdgeWay[] {
  const proofs = new Map(
    graph.edges
      .filter(({ event }) => event.type === 'probe.succeeded')
      .map((edge) => [edge.source, edge] as const),
  )
  return edgeCover(graph).flatMap(({ steps, refusals }): EdgeWay[] =>
    refusals.length === 0
      ? [{ steps, proof: undefined }]
      : refusals.map((edge) => ({ steps: [...steps, edge], proof: proofs.get(edge.source) })),
  )
}
