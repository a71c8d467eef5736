import type { Tally } from './tally.ts'

/** What tokens cost, in any currency for a million of them. */
export interface Price {
  readonly input: number
  readonly output: number
}

/** What a number is computed with, beside the tally. */
export interface NumbersContext {
  /** Share of the calls that a backup answers. */
  readonly backupAvailability: number
  /** How long each outage took, in ms, by its name. */
  readonly lastedMs: ReadonlyMap<string, number>
  readonly price?: Price | undefined
  /** Default: the same as the target's. */
  readonly backupPrice?: Price | undefined
}

export type NumberUnit = 'share' | 'ms' | 'calls' | 'times' | 'money'

/** A number as a table shows it. */
export interface ShownNumber<Key extends string> {
  readonly key: Key
  readonly label: string
  readonly unit: NumberUnit
  /** What it counts, for whoever does not know. */
  readonly means: string
}

/** A number that a policy is judged by. */
export interface NumberOfPolicy extends ShownNumber<string> {
  /** undefined = neither is better in itself. */
  readonly better?: 'more' | 'less'
  /** undefined = it cannot be told here. */
  readonly of: (tally: Tally, context: NumbersContext) => number | undefined
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((all, value) => all + value, 0) / values.length

const others = ({ calls, answered }: Tally) => calls - answered

const cost = ({ input, output }: { input: number; output: number }, price: Price) =>
  (input * price.input + output * price.output) / 1e6

/** Calls that went the wrong way: to a target that was down, or not to one that would have answered. */
export const misled = ({ failed, refusedInVain }: Tally): number =>
  failed.down + refusedInVain.healthy + refusedInVain.impaired

/** The numbers, in the order in which they are shown. */
export const numbersOfPolicy: readonly NumberOfPolicy[] = [
  {
    key: 'misled',
    label: 'calls that went wrong',
    unit: 'calls',
    better: 'less',
    means: 'the sum of the next two rows: what the policies are ranked by',
    of: misled,
  },
  {
    key: 'wasted',
    label: '  … sent in an outage, and failed',
    unit: 'calls',
    better: 'less',
    means: 'before the circuit opened, as probes, and where it had closed too soon',
    of: ({ failed }) => failed.down,
  },
  {
    key: 'inVain',
    label: '  … refused, though the target would have answered',
    unit: 'calls',
    better: 'less',
    means: 'while there was no outage',
    of: ({ refusedInVain }) => refusedInVain.healthy + refusedInVain.impaired,
  },
  {
    key: 'detectMs',
    label: 'time to detect an outage',
    unit: 'ms',
    better: 'less',
    means:
      'from the start of an outage to the open circuit; an outage never noticed counts with all of its length',
    of: ({ outages }, { lastedMs }) =>
      mean(outages.map(({ incident, detectMs }) => detectMs ?? lastedMs.get(incident)!)),
  },
  {
    key: 'undetected',
    label: 'outages never noticed',
    unit: 'times',
    better: 'less',
    means: 'the circuit was not open at any time of the outage',
    of: ({ outages }) => outages.filter(({ detectMs }) => detectMs === null).length,
  },
  {
    key: 'recoverMs',
    label: 'time to recover',
    unit: 'ms',
    better: 'less',
    means: 'from the end of an outage to the closed circuit; left out where the next incident came first',
    of: ({ outages }) => mean(outages.flatMap(({ recoverMs }) => (recoverMs === null ? [] : [recoverMs]))),
  },
  {
    key: 'needless',
    label: 'needless refusals',
    unit: 'calls',
    better: 'less',
    means:
      'all that was refused while there was no outage: most would have been answered (the row above that says so), the others would have failed all the same',
    of: ({ refused }) => refused.healthy + refused.impaired,
  },
  {
    key: 'refusedHealthy',
    label: '  … while it was healthy',
    unit: 'calls',
    better: 'less',
    means: 'refused outside of all incidents, most of them after an outage that was over',
    of: ({ refused }) => refused.healthy,
  },
  {
    key: 'spared',
    label: 'calls refused in an outage',
    unit: 'calls',
    better: 'more',
    means: 'what the breaker is for: most of them would have failed',
    of: ({ refused }) => refused.down,
  },
  {
    key: 'probes',
    label: 'probes sent',
    unit: 'calls',
    means: 'calls admitted to find out whether the target is back',
    of: ({ probes }) => probes,
  },
  {
    key: 'openings',
    label: 'times opened',
    unit: 'times',
    means: 'from closed to open; a failed trial does not count again',
    of: ({ openings }) => openings,
  },
  {
    key: 'falseAlarms',
    label: '  … without an outage',
    unit: 'times',
    better: 'less',
    means: 'opened although fewer calls failed than in an outage',
    of: ({ falseAlarms }) => falseAlarms,
  },
  {
    key: 'openingsPerOutage',
    label: '  … in each outage',
    unit: 'times',
    better: 'less',
    means:
      'more than 1 is flapping: trials met calls that are answered even in an outage, it closed, and had to open again',
    of: ({ openings, falseAlarms, outages }) =>
      outages.length === 0 ? undefined : (openings - falseAlarms) / outages.length,
  },
  {
    key: 'availability',
    label: 'availability seen by users',
    unit: 'share',
    better: 'more',
    means: 'calls answered in the end, where a backup is asked whenever the target fails or is refused',
    of: (tally, { backupAvailability }) =>
      (tally.answered + others(tally) * backupAvailability) / tally.calls,
  },
  {
    key: 'alone',
    label: '  … without a backup',
    unit: 'share',
    better: 'more',
    means: 'calls that the target itself answered: a breaker without a fallback can only lose some',
    of: ({ answered, calls }) => answered / calls,
  },
  {
    key: 'cost',
    label: 'cost of all answers',
    unit: 'money',
    better: 'less',
    means:
      'tokens of target and backup over the whole time, in the currency of the prices given; a failed call costs nothing',
    of: ({ tokens }, { price, backupPrice = price, backupAvailability }) =>
      price === undefined
        ? undefined
        : cost(tokens.answered, price) + cost(tokens.others, backupPrice!) * backupAvailability,
  },
]

/** A number over several runs. */
export interface Spread {
  readonly mean: number
  readonly low: number
  readonly high: number
}

export function spreadOf(values: readonly number[]): Spread {
  return { mean: mean(values) ?? 0, low: Math.min(...values), high: Math.max(...values) }
}

/** Numbers that mean nothing where there is no circuit to open and close. */
const OF_A_CIRCUIT = [
  'detectMs',
  'undetected',
  'recoverMs',
  'probes',
  'openings',
  'falseAlarms',
  'openingsPerOutage',
]

/** The numbers of calls that no breaker stands before. */
export function spreadsWithout(tallies: readonly Tally[], context: NumbersContext): Record<string, Spread> {
  const all = Object.entries(spreads(tallies, context))
  return Object.fromEntries(all.filter(([key]) => !OF_A_CIRCUIT.includes(key)))
}

/** Every number over the tallies of several seeds; what cannot be told is left out. */
export function spreads(tallies: readonly Tally[], context: NumbersContext): Record<string, Spread> {
  const entries = numbersOfPolicy.flatMap(({ key, of }): [string, Spread][] => {
    const values = tallies.flatMap((tally) => of(tally, context) ?? [])
    return values.length === 0 ? [] : [[key, spreadOf(values)]]
  })
  return Object.fromEntries(entries)
}
