import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

import type { Gateway } from '../../src/gateway/server.ts'
import { answerParent } from '../support/child.ts'
import { startFullGateway, temporaryDirectory } from '../support/full-gateway.ts'
import { soakConfig } from './config.ts'
import type { ProviderName } from './config.ts'
import { heldBytes, inventory } from './inventory.ts'

// The gateway under soak, alone in its process: heap and handles are its own.

const directory = temporaryDirectory()
let gateway: Gateway | undefined
const running = () => {
  if (gateway === undefined) throw new Error('The gateway has not been started.')
  return gateway
}

// counted by Node itself, and not by what is under test
const requests = { whole: 0, cutShort: 0 }
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url?.startsWith('/v1/') !== true) return
  request.once('close', () => {
    if (request.readableEnded) requests.whole++
    // the client left before all of its request was read
    else requests.cutShort++
  })
})
const warnings: string[] = []
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') warnings.push(String(warning))
})
const faults: string[] = []
process.on('unhandledRejection', (error) => faults.push(String(error)))

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0)

const answers = {
  inventory,
  heldBytes,
  start: async (urls: Record<ProviderName, string>) => {
    gateway = await startFullGateway(soakConfig(urls), directory)
    return { url: gateway.url, adminUrl: gateway.adminUrl, token: gateway.token.made ?? '' }
  },
  running: () => running().gear.stats().running,
  counters: () => {
    const { calls, breakers, targets } = running().gear.stats()
    return {
      requests: { ...requests },
      calls: { ...calls },
      // nobody listens there
      attempts: sum(
        targets
          .filter(({ name }) => name !== 'dead')
          .flatMap(({ stats }) => Object.values<number>({ ...stats.attempts })),
      ),
      probesInFlight: sum(breakers.map(({ status }) => status.probes.inFlight)),
      refused: sum(breakers.flatMap(({ stats }) => Object.values<number>({ ...stats.refused }))),
      opened: sum(
        breakers.flatMap(({ stats }) =>
          (stats.transitions ?? []).filter(({ to }) => to === 'open').map(({ n }) => n),
        ),
      ),
      recovered: sum(
        breakers.flatMap(({ stats }) =>
          (stats.transitions ?? [])
            .filter(({ from, to }) => from === 'half-open' && to === 'closed')
            .map(({ n }) => n),
        ),
      ),
    }
  },
  /** What Node complained of. */
  complaints: () => [...warnings, ...faults],
  /** An operator's hand on a circuit. */
  operate: ({ name, open }: { name: string; open: boolean }) => {
    const order = { by: 'soak', reason: 'to see what happens' }
    if (open) running().gear.openCircuit({ name }, order)
    else running().gear.closeCircuit({ name }, order)
  },
  /** Other limits for every target, while calls are under way. */
  reload: ({ urls, idleTimeoutMs }: { urls: Record<ProviderName, string>; idleTimeoutMs: number }) => {
    running().reload(soakConfig(urls, idleTimeoutMs))
  },
  close: async () => {
    await running().close()
    gateway = undefined
  },
}
export type GatewayUnderSoak = typeof answers

answerParent(answers)
