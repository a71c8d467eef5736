import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import type { OutageKind } from '../../src/testing/faults.ts'

/** The scripted providers, and what an outage of each looks like. */
export const providerOutages = {
  north: '503',
  south: 'hang',
  east: 'refuse',
  west: '503',
} as const satisfies Record<string, OutageKind>
export type ProviderName = keyof typeof providerOutages

/** Every model that is a group of the gateway's. */
export const groupModels = ['turns', 'shares', 'idlest', 'unreachable'] as const
/** Groups with nobody behind them: their circuits open, and the gateway refuses. */
export const aloneModels = ['failing', 'silent'] as const

type Target = GatewayConfig['targets'][number]

const target = (name: string, provider: string, more: Partial<Target> = {}): Target => ({
  name,
  provider,
  ...more,
})

const rolling = {
  tripping: { kind: 'rolling', windowMs: 5000, minCalls: 20, failureRatio: 0.6 },
  cooldownMs: 700,
} as const

const targets: GatewayConfig['targets'] = [
  // the model that a client names selects the fault
  target('first', 'north'),
  target('second', 'south', { circuitBreaker: rolling }),
  target('third', 'east', { model: 'flaky-20', circuitBreaker: { degradation: {}, threshold: 8 } }),
  target('last', 'west', { model: 'drip-90' }),
  target('turn-1', 'north', { model: 'drip-150' }),
  target('turn-2', 'south', { model: 'cut', weight: 0.2 }),
  target('turn-3', 'east', { model: 'flaky-50', circuitBreaker: { isolateByModel: true } }),
  target('dead', 'nobody'),
  target('failing', 'west', { model: '503' }),
  target('silent', 'west', { model: 'hang', circuitBreaker: { threshold: 20 } }),
  target('claude-1', 'claude'),
  target('claude-2', 'claude', { model: 'drip-70' }),
]
export const targetNames: readonly string[] = targets.map(({ name }) => name ?? '')

const turns = ['turn-1', 'turn-2', 'turn-3'] as const
const fallbacks = ['third', 'last', 'claude-1', 'claude-2']

/** Everything goes at a pace that a run of seconds sees the end of; `idleTimeoutMs` is what a reload changes. */
export function soakConfig(
  urls: Readonly<Record<ProviderName, string>>,
  idleTimeoutMs = 1200,
): GatewayConfig {
  return {
    server: { port: 0, keepAliveMs: 400, drainMs: 5000 },
    providers: {
      ...Object.fromEntries(Object.entries(urls).map(([name, baseUrl]) => [name, { baseUrl }])),
      // the discard port: nobody listens
      nobody: { baseUrl: 'http://127.0.0.1:9/v1' },
      claude: { baseUrl: urls.west, api: 'anthropic' },
    },
    defaults: {
      maxRetries: 1,
      retry: { baseMs: 50, maxMs: 300 },
      timeoutMs: 1500,
      firstContentTimeoutMs: 1500,
      idleTimeoutMs,
      circuitBreaker: {
        threshold: 5,
        cooldownMs: 1000,
        cooldownBackoff: { multiplier: 2, maxMs: 3000 },
        halfOpenProbes: 2,
        halfOpenSuccessRatio: 0.5,
      },
    },
    targets,
    models: {
      '*': { targets: ['first', 'second'], strategy: 'round-robin', fallbacks },
      turns: { targets: turns, strategy: 'round-robin', fallbacks },
      shares: { targets: turns, strategy: 'weighted', fallbacks },
      idlest: { targets: turns, strategy: 'least-busy', fallbacks },
      unreachable: { targets: ['dead'], fallbacks },
      failing: ['failing'],
      silent: ['silent'],
    },
    deadlineMs: 8000,
    // nobody takes them: they are tried again, and dropped
    alerts: [{ url: 'http://127.0.0.1:9/alerts' }],
  }
}
