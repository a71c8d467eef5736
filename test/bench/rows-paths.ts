import { exploreBreaker, exploreChain, replayAll } from '../../src/testing/paths/cover-machines.ts'
import { absolute } from './row.ts'
import type { Row } from './row.ts'

function seconds<T>(work: () => T): [T, number] {
  const before = performance.now()
  const result = work()
  return [result, (performance.now() - before) / 1000]
}

/** Everything the breaker and the chain can do over their families: explored, then taken on real actors. */
export function pathRows(): Row[] {
  const [[breaker, chain], explored] = seconds(() => [exploreBreaker(), exploreChain()] as const)
  const [, replayed] = seconds(() => [replayAll(breaker), replayAll(chain)])
  return [
    absolute('paths explored', 's', explored, 3),
    absolute('paths replayed on real actors', 's', replayed, 15),
  ]
}
