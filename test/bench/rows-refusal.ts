import { createBreaker } from '../../src/core/create-breaker.ts'
import { COOLDOWN_MS, cockatielOpen, work } from './peers.ts'
import type { Group } from './row.ts'
import { versus } from './row.ts'

/** Refusals of an open breaker: as a value, and as an error. */
export async function refusal(): Promise<Group> {
  const breaker = createBreaker({ threshold: 1, cooldownMs: COOLDOWN_MS })
  await breaker.execute(() => Promise.reject(new Error('down'))).catch(() => {})
  const expect = (refused: number, calls: number) => {
    if (refused !== calls) throw new Error('the breaker did not refuse')
  }
  const acquire = async (calls: number) => {
    let refused = 0
    for (let i = 0; i < calls; i++) if (!breaker.tryAcquire().admitted) refused++
    expect(refused, calls)
  }
  const execute = async (calls: number) => {
    let refused = 0
    for (let i = 0; i < calls; i++) {
      try {
        await breaker.execute(work)
      } catch {
        refused++
      }
    }
    expect(refused, calls)
  }
  const peer = await cockatielOpen()
  return {
    title: 'refusal',
    subjects: [{ name: 'tryAcquire', batch: acquire }, { name: 'execute', batch: execute }, peer],
    rows: (times) => [
      versus("refusal tryAcquire, vs cockatiel's rejection", times, 'tryAcquire', peer.name, 0.05),
      versus("refusal execute, vs cockatiel's rejection", times, 'execute', peer.name, 0.5),
    ],
    close: () => breaker.dispose(),
  }
}
