import type { FastifyInstance } from 'fastify'

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/notifier.ts'
import type { JournalStore } from '../stores/journal-store.ts'
import { prometheusMetrics } from '../telemetry/prometheus.ts'
import type { OpenTelemetry } from '../telemetry/opentelemetry.ts'
import { webhookAlerts } from '../telemetry/webhook-alerts.ts'
import type { WebhookAlerts } from '../telemetry/webhook-alerts.ts'
import { CircuitCharts } from './admin/circuit-charts.ts'
import type { Reloaded } from './admin/context.ts'
import { registerAdmin } from './admin/register-admin.ts'
import { adminTokens } from './admin/tokens.ts'
import type { AdminTokens } from './admin/tokens.ts'
import { registerDashboard } from './dashboard-files.ts'
import type { GatewayGear } from './desk.ts'
import { adminTargets } from './gear-options.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import type { StatusReport } from './status.ts'
import { traceGateway } from './tracing.ts'

export interface OperationsContext {
  readonly gear: GatewayGear
  /** What is in force; a reload puts another one in its place. */
  readonly config: () => ResolvedConfig
  readonly status: () => StatusReport
  readonly journal: JournalStore
  /** Where a made token is kept; undefined = it ends with the process. */
  readonly tokenFile: string | undefined
  /** Reads the configuration anew; undefined = it came from nowhere that could be read again. */
  readonly reload: (() => Promise<Reloaded>) | undefined
  readonly replica: string
  readonly clock: Clock
  readonly logger: Logger
}

/** What operators see and act upon around one gateway: status, metrics, admin API, dashboard, alerts. */
export class Operations {
  readonly #context: OperationsContext
  #tokens: AdminTokens | undefined
  #alerts: WebhookAlerts | undefined
  #receivers = ''
  #tracing: OpenTelemetry | undefined

  /** @throws ConfigError for tokens or a token file that cannot be trusted */
  constructor(context: OperationsContext) {
    this.#context = context
    this.#tokens = this.tokensFor(context.config())
    this.#watch()
  }

  get tokens(): AdminTokens {
    return (this.#tokens ??= this.tokensFor(this.#context.config()))
  }

  /**
   * The tokens of a configuration.
   *
   * @throws ConfigError for tokens or a token file that cannot be trusted
   */
  tokensFor({ adminTokens: configured }: ResolvedConfig): AdminTokens {
    return adminTokens({ configured, file: this.#context.tokenFile, before: this.#tokens })
  }

  /** Adds what is asked for over HTTP. */
  register(server: FastifyInstance): void {
    const { gear, config, status, journal, reload, replica, clock, logger } = this.#context
    server.get('/status', (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(`${JSON.stringify(status(), null, 2)}\n`),
    )
    const metrics = prometheusMetrics(gear, {
      process: true,
      groups: () => groupsOf(config()),
      journal: () => journal.health,
      alerts: () => this.#alerts?.counts ?? { delivered: 0, dropped: 0, waiting: 0 },
    })
    server.get('/metrics', async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.text()),
    )
    const drawn = new CircuitCharts()
    registerAdmin(server, {
      present: () => ({
        gear,
        targets: adminTargets(config()),
        groups: [...(config().groups?.values() ?? [])],
        tokens: this.tokens,
      }),
      journal,
      reload,
      replica,
      clock,
      logger,
      chart: (policy) => drawn.of(policy),
    })
    registerDashboard(server)
  }

  /** Another configuration is in force, with these tokens. */
  reloaded(tokens: AdminTokens): void {
    this.#tokens = tokens
    this.#watch()
  }

  /** Begins to trace, where the configuration says so. @throws ConfigError when `@opentelemetry/api` is not installed */
  async trace(): Promise<void> {
    const { gear, config, clock } = this.#context
    if (config().openTelemetry) this.#tracing = await traceGateway(gear, config, clock)
  }

  async close(): Promise<void> {
    this.#tracing?.stop()
    await this.#alerts?.close()
  }

  /** What the old receivers have not had yet still goes to them. */
  #watch(): void {
    const { gear, config, replica, clock, logger } = this.#context
    const source = `/switchgear/${replica}`
    const receivers = config().alerts
    const key = JSON.stringify(receivers)
    if (key === this.#receivers) return
    this.#receivers = key
    void this.#alerts?.close()
    this.#alerts =
      receivers.length === 0 ? undefined : webhookAlerts(gear, { receivers, source, clock, logger })
  }
}

function groupsOf({ groups, targets }: ResolvedConfig): ReadonlyMap<string, readonly string[]> {
  if (groups === undefined) return new Map([['*', targets.map(({ name }) => name)]])
  return new Map(
    [...groups].map(([name, group]) => [name, [...new Set([...group.targets, ...group.fallbacks])]]),
  )
}
