import { listCircuits } from './circuits.ts'
import type { ReadableGear } from './circuits.ts'
import { adminTargets } from './gear-options.ts'
import type { HealthResult } from './health-checks.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'

/** A circuit as `GET /status` shows it. */
export interface CircuitLine {
  readonly circuit: string
  /** The targets behind it. */
  readonly targets: readonly string[]
  readonly state: string
  /** It only watches, and refuses nobody whatever its state is; absent where it enforces. */
  readonly observed?: true
  readonly held: boolean
  /** When the state was entered, as an ISO date. */
  readonly since: string
  /** 0 = calls are admitted; null = only an operator knows. */
  readonly retryAfterMs: number | null
  readonly failures: Readonly<Record<string, number>>
  readonly explain: string
}

export interface TargetLine {
  readonly name: string
  /** Left out where the client's goes through. */
  readonly model?: string
  readonly breaker: boolean
  /** The last health check; it decides nothing. */
  readonly healthCheck?: HealthResult
}

export interface StatusReport {
  /** Which replica answers: states differ from one to the other. */
  readonly replica: string
  readonly status: 'ready' | 'draining'
  /** The chain, in order. */
  readonly targets: readonly TargetLine[]
  readonly circuits: readonly CircuitLine[]
}

interface Seen {
  readonly gear: ReadableGear
  readonly config: ResolvedConfig
  readonly replica: string
  readonly draining: boolean
  readonly healthOf: (target: string) => HealthResult | undefined
}

/** Every circuit, and why it is as it is. Reading it changes nothing. */
export function statusReport({ gear, config, replica, draining, healthOf }: Seen): StatusReport {
  const states = gear.getCircuitStates()
  const circuits = listCircuits(gear, adminTargets(config))
  return {
    replica,
    status: draining ? 'draining' : 'ready',
    targets: config.targets.map(({ name, model }, i) => {
      const healthCheck = healthOf(name)
      return {
        name,
        ...(model !== undefined && { model }),
        breaker: states[i]?.state !== undefined,
        ...(healthCheck && { healthCheck }),
      }
    }),
    circuits: circuits.map(({ circuit, targets, told }) => ({
      circuit,
      targets,
      state: told.status.state,
      ...(told.status.observed && { observed: true as const }),
      held: told.status.held,
      since: new Date(told.status.since).toISOString(),
      retryAfterMs: told.status.retryAfterMs,
      failures: told.breakdown,
      explain: told.sentence,
    })),
  }
}
