import { median } from '../measure.ts'
import type { Row } from '../row.ts'
import type { Race, Sample } from './race.ts'

/** Whom ours is held against, and how many times as good it must be. */
export interface Peer {
  readonly name: string
  /** undefined = a comparison only. */
  readonly bar?: number
}

const FIGURES = [
  { label: 'CPU a request', unit: 'µs', of: ({ cpu }: Sample) => cpu, lessIsBetter: true },
  { label: 'requests a second', unit: '/s', of: ({ rate }: Sample) => rate, lessIsBetter: false },
] as const

/** Ours beside each peer, by CPU a request and by requests a second. */
export function rowsOf(title: string, race: Race, ours: string, peers: readonly Peer[]): Row[] {
  const samples = (name: string) => race.get(name) ?? []
  return FIGURES.flatMap(({ label, unit, of, lessIsBetter }) =>
    peers.map(({ name, bar }): Row => {
      const [own, other] = [samples(ours).map(of), samples(name).map(of)]
      // round by round: what disturbs the machine for a while disturbs both sides of a ratio
      const ratios = own.map((value, round) => value / other[round]!).map((r) => (lessIsBetter ? 1 / r : r))
      return {
        row: `${title}, ${label}, beside ${name}`,
        unit,
        ours: median(own),
        peer: median(other),
        ratio: median(ratios),
        ...(bar !== undefined && { bar, moreIsBetter: true }),
      }
    }),
  )
}
