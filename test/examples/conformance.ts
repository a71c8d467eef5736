import { conformance, VirtualClock } from 'switchgear/testing'

function homemade(threshold: number, cooldownMs: number, now: () => number) {
  let failures = 0
  let openUntil = 0
  return async (work: () => Promise<unknown>) => {
    if (now() < openUntil) throw new Error('open')
    try {
      const answer = await work()
      failures = 0
      openUntil = 0
      return answer
    } catch (error) {
      if (++failures >= threshold) openUntil = now() + cooldownMs
      throw error
    }
  }
}

const results = await conformance({
  name: 'homemade',
  offers: ['threshold', 'cooldownMs'],
  create({ threshold = 5, cooldownMs = 30_000 }) {
    const clock = new VirtualClock()
    const execute = homemade(threshold, cooldownMs, () => clock.now())
    return { execute, advance: (ms) => clock.advance(ms) }
  },
})
for (const { id, verdict, reason } of results) if (verdict === 'fails') console.log(`${id}: ${reason}`)
