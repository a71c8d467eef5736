import { setTimeout as delay } from 'node:timers/promises'

import type { Child } from '../support/child.ts'
import { providerOutages, targetNames } from './config.ts'
import type { ProviderName } from './config.ts'
import type { GatewayUnderSoak } from './gateway.ts'
import type { Providers } from './providers.ts'

const providerNames = Object.keys(providerOutages) as ProviderName[]

/** Outages come and go, an operator lays a hand on circuits and changes the configuration, until `signal` says so. */
export async function stir(
  providers: Child<Providers>,
  gateway: Child<GatewayUnderSoak>,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {})
  const urls = await providers.ask('urls')
  while (!signal.aborted) {
    const name = one(providerNames)
    await providers.ask('outage', { name, on: true })
    await pause(500 + random() * 1500)
    await providers.ask('outage', { name, on: false })
    await gateway.ask('operate', { name: one(targetNames), open: random() < 0.5 })
    if (random() < 0.2) {
      await gateway.ask('reload', { urls, idleTimeoutMs: 1000 + 100 * Math.floor(random() * 4) })
    }
    await pause(random() * 3000)
  }
}
