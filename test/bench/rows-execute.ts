import { createBreaker } from '../../src/core/create-breaker.ts'
import type { BreakerOptions } from '../../src/core/create-breaker.ts'
import type { Subject } from './measure.ts'
import { cockatiel, cockatielSampling, effect, mollitia, opossum, work } from './peers.ts'
import type { Group } from './row.ts'
import { versus } from './row.ts'

/** The tripping rule of the rolling rows. */
export const ROLLING = { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } as const

function ours(options: BreakerOptions): Subject & { readonly close: () => void } {
  const breaker = createBreaker(options)
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await breaker.execute(work)
  }
  return { name: 'switchgear', batch, close: () => breaker.dispose() }
}

/** `execute` of a closed breaker that counts failures in a row. */
export async function executeConsecutive(): Promise<Group> {
  const own = ours({})
  const peers = [cockatiel(), opossum(), mollitia(), await effect()]
  return {
    title: 'execute closed, consecutive',
    subjects: [own, ...peers],
    rows: (times) =>
      peers.map(({ name }) =>
        versus(
          `execute closed, consecutive, vs ${name}`,
          times,
          own.name,
          name,
          name === 'cockatiel' ? 0.7 : undefined,
        ),
      ),
    close: () => Promise.all([own, ...peers].map((subject) => subject.close())),
  }
}

/** `execute` of a closed breaker with a rolling window. */
export function executeRolling(): Group {
  const own = ours({ tripping: ROLLING })
  const peer = cockatielSampling()
  const row = 'execute closed, rolling, vs cockatiel sampling'
  return {
    title: 'execute closed, rolling',
    subjects: [own, peer],
    rows: (times) => [versus(row, times, own.name, peer.name, 0.8)],
    close: own.close,
  }
}
