import type { Trace } from '../../src/audit/replay/read-trace.ts'
import type { TracedCall } from '../../src/audit/replay/traffic.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

/** The calls of a trace at another rate: some of them, or several traces at a time, each begun elsewhere. */
export function trafficAt(perSecond: number, { calls, periodMs }: Trace): Trace {
  const factor = (perSecond * periodMs) / 1000 / calls.length
  const random = seededRandom(1)
  const all: TracedCall[] = []
  if (factor > 1) {
    const copies = Math.round(factor)
    for (let copy = 0; copy < copies; copy++) {
      const beginsMs = (copy * periodMs) / copies
      for (const call of calls)
        all.push({ ...call, atMs: Math.round((call.atMs + beginsMs) % periodMs) % periodMs })
    }
    return { calls: all.sort((a, b) => a.atMs - b.atMs), periodMs }
  }
  const rounds = Math.ceil(4 / factor)
  for (let round = 0; round < rounds; round++)
    for (const call of calls) if (random() < factor) all.push({ ...call, atMs: call.atMs + round * periodMs })
  return { calls: all, periodMs: periodMs * rounds }
}
