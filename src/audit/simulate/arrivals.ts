import type { TrafficModel } from './load.ts'

const DAY_MS = 86_400_000

/** One call: when it comes, and what it asks for. */
export interface Arrival {
  readonly at: number
  readonly input: number
  readonly output: number
}

/** The calls of a traffic in order, from 0 to before `durationMs`. */
export function* arrivals(
  traffic: TrafficModel,
  durationMs: number,
  random: () => number,
): Generator<Arrival, void> {
  if (traffic.trace !== undefined) return yield* traced(traffic.trace, durationMs)
  const { input, output } = traffic.tokens
  const most = Math.max(traffic.rate, ...traffic.bursts.map(({ rate }) => rate))
  if (most === 0) return
  let [at, owed] = [0, 0]
  // of candidates at the highest rate as many are left out as the rate of the moment is lower
  while (at < durationMs) {
    const share = rateAt(traffic, at) / most
    if (traffic.arrivals === 'even') owed += share
    if (traffic.arrivals === 'even' ? owed >= 1 - 1e-9 : random() < share) {
      owed -= 1
      yield { at: Math.floor(at), input, output }
    }
    at += traffic.arrivals === 'even' ? 1000 / most : (-Math.log1p(-random()) * 1000) / most
  }
}

function* traced(
  { calls, periodMs }: NonNullable<TrafficModel['trace']>,
  durationMs: number,
): Generator<Arrival, void> {
  for (let from = 0; from < durationMs; from += periodMs) {
    for (const { atMs, inputTokens: input, outputTokens: output } of calls) {
      if (from + atMs >= durationMs) return
      yield { at: from + atMs, input, output }
    }
  }
}

/** Calls a second at a moment: a burst's, or the usual rate in the shape of the day. */
export function rateAt({ rate, daily, bursts }: TrafficModel, at: number): number {
  const burst = bursts.find(({ fromAt, toAt }) => fromAt <= at && at < toAt)
  if (burst !== undefined) return burst.rate
  if (daily === undefined) return rate
  const height = (1 + Math.cos((2 * Math.PI * (at - daily.peakAt)) / DAY_MS)) / 2
  return rate * (daily.low + (1 - daily.low) * height)
}
