import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import { resolveBreaker } from '../../core/breaker-options.ts'
import { exploreModel } from '../paths/edge-graph.ts'
import type { BreakerAdapter, Offer } from './adapter.ts'
import { toldWay, waysOf } from './edge-story.ts'
import type { ToldStep } from './edge-story.ts'
import { BEFORE, examine } from './examine.ts'
import type { Divergence } from './examine.ts'
import { outsideModel } from './outside-model.ts'
import { toldSteps } from './told-steps.ts'
import type { BreakerScenario } from '../scenario/scenario.ts'

/** A path through every kind of step, as a scenario. */
export interface EdgePath extends BreakerScenario {
  readonly steps: readonly ToldStep[]
}

/** Every step that can be taken from outside under some rules, as paths. */
export interface EdgePaths {
  readonly paths: readonly EdgePath[]
  readonly edges: number
  /** What can happen, and in which state. */
  readonly sorts: readonly string[]
}

/**
 * The edge cover of some rules, as far as a breaker with these offers can be driven along it.
 *
 * @throws RangeError where anything but failures in a row opens the circuit, or nothing is open for any time
 */
export function edgePaths(name: string, rules: CircuitBreakerOptions, offers: readonly Offer[]): EdgePaths {
  const { policy, probeLeaseMs } = resolveBreaker(rules)
  const [rule, ...others] = policy.rules
  const counts = rule?.kind === 'consecutive' && Number.isFinite(rule.threshold) && others.length === 0
  const isPlain = Object.keys(policy.kinds).length === 0 && policy.degradedAt === null
  if (!counts || !isPlain || policy.cooldownMs < 1) {
    throw new RangeError(
      `The rules '${name}' cannot be walked from outside: give a finite threshold and a cooldown, and neither kinds nor degradation.`,
    )
  }
  const { threshold } = rule
  const graph = exploreModel(outsideModel(name, { policy, threshold, probeLeaseMs, offers }))
  const paths = waysOf(graph).map((way): EdgePath => {
    const steps = toldWay(way, graph.model.startAt)
    const isLeased = steps.some(({ sort }) => sort.endsWith('a probe is lost'))
    const breaker = { ...rules, ...(isLeased && { probeLeaseMs }) }
    return { kind: 'breaker', name, breaker, random: [0.5], steps }
  })
  const sorts = [...new Set(paths.flatMap(({ steps }) => steps.map(({ sort }) => sort)))]
  return { paths, edges: graph.edges.length, sorts }
}

/** What became of one sort of step. */
export interface SortResult {
  readonly sort: string
  readonly verdict: 'survives' | 'fails' | 'cannot be asked'
  readonly reason?: string
  /** The steps that led there, where it fails. */
  readonly steps?: string
}

/** Where paths have come to that begin alike. */
interface Stop {
  asked: boolean
  readonly next: Map<string, Stop>
}

const newStop = (): Stop => ({ asked: false, next: new Map() })

/** The stops of a path, one after each step. */
function stopsAlong(start: Stop, steps: readonly ToldStep[]): Stop[] {
  let here = start
  return steps.map((step) => {
    const key = JSON.stringify(step)
    const there = here.next.get(key) ?? newStop()
    here.next.set(key, there)
    here = there
    return there
  })
}

/** What was noted where a path ended. */
type Note = Required<Pick<SortResult, 'reason' | 'steps'>>

/** Takes a breaker along every path, up to where it goes another way. */
export async function walkEdges(adapter: BreakerAdapter, { paths, sorts }: EdgePaths): Promise<SortResult[]> {
  const start = newStop()
  const held = new Set<string>()
  const notes = { broken: new Map<string, Note>(), declined: new Map<string, Note>() }
  const unmade = { broken: new Map<string, Note>(), declined: new Map<string, Note>() }
  for (const path of paths) {
    const stops = stopsAlong(start, path.steps)
    const divergence = await comeAlong(adapter, path, (step) => stops[step]?.asked === true)
    const isUnmade = divergence?.step === BEFORE
    const upTo = isUnmade ? 0 : (divergence?.step ?? path.steps.length)
    for (const stop of stops.slice(0, upTo)) stop.asked = true
    for (const { sort } of path.steps.slice(0, upTo)) held.add(sort)
    if (divergence === undefined) continue
    const { what: reason, isDeclined } = divergence
    const note = { reason, steps: toldSteps(isUnmade ? [] : path.steps.slice(0, upTo + 1)) }
    // without a breaker nothing on the path can be seen
    const sorts = path.steps.slice(upTo, isUnmade ? undefined : upTo + 1).map(({ sort }) => sort)
    const into = (isUnmade ? unmade : notes)[isDeclined ? 'declined' : 'broken']
    for (const sort of sorts) if (!into.has(sort)) into.set(sort, note)
  }
  return sorts.map((sort): SortResult => {
    const fault = notes.broken.get(sort) ?? (held.has(sort) ? undefined : unmade.broken.get(sort))
    if (fault !== undefined) return { sort, verdict: 'fails', ...fault }
    if (held.has(sort)) return { sort, verdict: 'survives' }
    const no = notes.declined.get(sort) ?? unmade.declined.get(sort)
    return { sort, verdict: 'cannot be asked', reason: no?.reason ?? 'lies behind a step that fails' }
  })
}

/** Goes along a path, up to a sort of step that the adapter declines. */
async function comeAlong(
  adapter: BreakerAdapter,
  path: EdgePath,
  skip: (step: number) => boolean,
): Promise<Divergence | undefined> {
  const step = path.steps.findIndex(({ sort }) => adapter.declines?.[sort] !== undefined)
  if (step < 0) return examine(adapter, path, skip)
  const divergence = await examine(adapter, { ...path, steps: path.steps.slice(0, step) }, skip)
  const what = adapter.declines?.[path.steps[step]!.sort] ?? ''
  return divergence ?? { step, what, isDeclined: true }
}
