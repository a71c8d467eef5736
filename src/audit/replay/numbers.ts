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

/** A number that a policy is judged by. */
export interface NumberOfPolicy {
  readonly key: string
  readonly label: string
  readonly unit: NumberUnit
  /** undefined = neither is better in itself. */
  readonly better?: 'more' | 'less'
  readonly means: string
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
    label: 'calls sent the wrong way',
    unit: 'calls',
    better: 'less',
    means: 'wasted on a target that was down, or refused although it would have answered and was not down',
    of: misled,
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
    key: 'wasted',
    label: 'calls wasted on a dead target',
    unit: 'calls',
    better: 'less',
    means: 'sent in an outage, and failed',
    of: ({ failed }) => failed.down,
  },
  {
    key: 'needless',
    label: 'needless refusals',
    unit: 'calls',
    better: 'less',
    means: 'refused while there was no outage: while healthy, or while only some calls failed',
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
    label: 'calls spared a dead target',
    unit: 'calls',
    better: 'more',
    means: 'refused in an outage: what the breaker is for',
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
    label: 'cost',
    unit: 'money',
    better: 'less',
    means: 'of the answers, those of the backup included; a failed call costs nothing',
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

/** Every number over the tallies of several seeds; what cannot be told is left out. */
export function spreads(tallies: readonly Tally[], context: NumbersContext): Record<string, Spread> {
  const entries = numbersOfPolicy.flatMap(({ key, of }): [string, Spread][] => {
    const values = tallies.flatMap((tally) => of(tally, context) ?? [])
    return values.length === 0 ? [] : [[key, spreadOf(values)]]
  })
  return Object.fromEntries(entries)
}
