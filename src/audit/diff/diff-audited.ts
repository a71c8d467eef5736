import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import type { Audited, AuditedGroup } from '../audited.ts'
import { asFact, differences, factsOf } from '../sign/facts.ts'
import { listed } from '../words.ts'
import { chainOptions } from './call-plays.ts'
import { diffBreakers } from './diff-breakers.ts'
import type { BreakerComparison } from './diff-breakers.ts'
import { diffChains } from './diff-chains.ts'
import { firstAsked, limitsChanged } from './first-asked.ts'
import { forUsers } from './for-users.ts'
import { tellBreakers } from './tell-breakers.ts'
import type { Telling } from './telling.ts'
import { whatChanges } from './what-changes.ts'

/** One pair of rules, for every target that changes from the one to the other. */
export interface ComparedCircuits extends BreakerComparison {
  readonly targets: readonly string[]
  /** What B does instead, in general, and what that means for those who call; empty where no difference was found. */
  readonly changes: readonly string[]
  readonly users: readonly string[]
  readonly tellings: readonly Telling[]
}

export interface ComparedCalls {
  /** `every call`, `calls for gpt-5`. */
  readonly who: string
  readonly plays: number
  /** What is different in whom calls ask first, in sentences. */
  readonly first: readonly string[]
  /** How often a target is tried, and how long it may take, where that differs. */
  readonly limits: readonly string[]
  readonly tellings: readonly Telling[]
}

/** What two configurations do differently. */
export interface Difference {
  /** What is written differently, once defaults are filled in. */
  readonly written: readonly string[]
  /** What cannot be put into a scenario: targets and groups that come and go. */
  readonly structure: readonly string[]
  readonly circuits: readonly ComparedCircuits[]
  readonly calls: readonly ComparedCalls[]
  readonly verdict: 'same' | 'different' | 'undecided'
}

export interface DiffOptions {
  /** Places of a walk after which it gives up. */
  readonly mostPlaces?: number
  /** Told before the circuits of these targets are walked: which of how many pairs it is. */
  readonly onWalk?: (targets: readonly string[], nth: number, of: number) => void
}

/** Compares what two configurations do: circuits by walking them side by side, calls by the same failures. */
export async function diffAudited(a: Audited, b: Audited, options: DiffOptions = {}): Promise<Difference> {
  const circuits = await compareCircuits(a, b, options)
  const calls = await compareCalls(a, b)
  const structure = [...comings(a, b), ...surroundings(a, b)]
  const isDifferent =
    structure.length > 0 ||
    calls.some(({ first }) => first.length > 0) ||
    [...circuits, ...calls].some(({ tellings }) => tellings.length > 0)
  const isOpen = circuits.some(({ complete }) => !complete)
  return {
    written: differences(factsOf(a), factsOf(b)),
    structure,
    circuits,
    calls,
    verdict: isDifferent ? 'different' : isOpen ? 'undecided' : 'same',
  }
}

async function compareCircuits(
  a: Audited,
  b: Audited,
  { mostPlaces, onWalk }: DiffOptions,
): Promise<ComparedCircuits[]> {
  const pairs: { a: ResolvedBreaker; b: ResolvedBreaker; targets: string[] }[] = []
  for (const { name, rules } of a.targets) {
    const other = b.targets.find((target) => target.name === name)?.rules
    if (rules === undefined || other === undefined) continue
    const known = pairs.find(
      (pair) =>
        diffBreakers(pair.a, rules, 0).how === 'equal' && diffBreakers(pair.b, other, 0).how === 'equal',
    )
    if (known === undefined) pairs.push({ a: rules, b: other, targets: [name] })
    else known.targets.push(name)
  }
  const compared: ComparedCircuits[] = []
  for (const [i, { a, b, targets }] of pairs.entries()) {
    onWalk?.(targets, i + 1, pairs.length)
    const comparison = diffBreakers(a, b, mostPlaces)
    const tellings: Telling[] = []
    for (const difference of comparison.differences) {
      const telling = await tellBreakers(difference, listed(targets), a, b)
      // of two ways to the same two waits the shorter one says it all
      const isKnown = tellings.some(
        (other) => other.underA === telling.underA && other.underB === telling.underB,
      )
      if (difference.by !== 'retryAfterMs' || !isKnown) tellings.push(telling)
    }
    const differ = tellings.length > 0
    compared.push({
      ...comparison,
      targets,
      tellings: tellings.toSorted((one, other) => Number(isOfAKind(one)) - Number(isOfAKind(other))),
      changes: differ ? whatChanges(a, b) : [],
      users: differ ? forUsers(a, b) : [],
    })
  }
  return compared
}

/** What happens to any failure is plainer than what happens to one kind. */
const isOfAKind = ({ given, when }: Telling) => [...given, when].some((text) => /fails? \(/.test(text))

const groupKey = ({ name }: AuditedGroup) =>
  name === null ? 'every call' : name === '*' ? 'calls for any other model' : `calls for ${name}`
const chainOf = ({ targets, fallbacks }: AuditedGroup) => [...targets, ...fallbacks]

async function compareCalls(a: Audited, b: Audited): Promise<ComparedCalls[]> {
  const compared: ComparedCalls[] = []
  for (const group of a.groups) {
    const other = b.groups.find(({ name }) => name === group.name)
    if (other === undefined) continue
    const who = groupKey(group)
    const [one, two] = [
      withoutBreakers(chainOptions(a, chainOf(group))),
      withoutBreakers(chainOptions(b, chainOf(other))),
    ]
    compared.push({
      who,
      first: firstAsked(group, other),
      limits: limitsChanged(a, b, chainOf(group)),
      ...(await diffChains(who, one, two)),
    })
  }
  return compared
}

/** Circuits are compared by themselves: in a chain each stands for any, unless one has none. */
const withoutBreakers = ({
  targets,
  ...rest
}: ReturnType<typeof chainOptions>): ReturnType<typeof chainOptions> => ({
  ...rest,
  targets: targets.map(({ circuitBreaker, bucket: _shared, ...target }) => ({
    ...target,
    ...(circuitBreaker !== undefined && { circuitBreaker: true }),
  })),
})

/** Names that are only on one side. */
function missing(what: string, a: readonly string[], b: readonly string[]): string[] {
  return [
    ...a.filter((name) => !b.includes(name)).map((name) => `${what} ${name} is gone`),
    ...b.filter((name) => !a.includes(name)).map((name) => `${what} ${name} is new`),
  ]
}

function comings(a: Audited, b: Audited): string[] {
  const targets = ({ targets }: Audited) => targets.map(({ name }) => name)
  const guarded = ({ targets }: Audited) =>
    targets.filter(({ rules }) => rules !== undefined).map(({ name }) => name)
  const both = targets(a).filter((name) => targets(b).includes(name))
  const of = (names: readonly string[]) => names.filter((name) => both.includes(name))
  const groups = ({ groups }: Audited) => groups.map(groupKey)
  return [
    ...missing('target', targets(a), targets(b)),
    ...missing('the circuit breaker of', of(guarded(a)), of(guarded(b))),
    ...missing('the group of', groups(a), groups(b)),
  ]
}

/** What a scenario cannot show. */
function surroundings(a: Audited, b: Audited): string[] {
  const shown = ({ targets, alerts, journal }: Audited) => ({
    alerts,
    journal,
    circuits: Object.fromEntries(
      targets.map(({ name, bucket, host, rules }) => [
        name,
        { bucket, host, isolateByModel: rules?.isolateByModel ?? false },
      ]),
    ),
  })
  const [was, is] = [shown(a), shown(b)]
  const common = (record: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(record).filter(([key]) => Object.hasOwn(other, key)))
  const only = (one: typeof was, other: typeof was) => ({
    ...one,
    circuits: common(one.circuits, other.circuits),
  })
  return differences(asFact(only(was, is)), asFact(only(is, was)))
}
