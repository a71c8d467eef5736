import { hostname } from 'node:os'

import { systemClock, systemRandom } from '../core/clock.ts'
import type { RuntimeOptions } from '../core/create-breaker.ts'
import { silentLogger } from '../core/notifier.ts'
import { createSwitchgear } from '../core/switchgear.ts'
import type { JournalStore } from '../stores/journal-store.ts'
import { memoryJournal } from '../stores/memory-journal.ts'
import type { SwitchgearOptions } from '../core/switchgear-options.ts'
import type { Reloaded } from './admin/context.ts'
import type { AdminTokens } from './admin/tokens.ts'
import { configChanges, keepBound } from './config/changes.ts'
import type { GatewayConfig } from './config/schema.ts'
import type { GatewayGear, Rules } from './desk.ts'
import { HealthChecks } from './health-checks.ts'
import { createServer, listen } from './http-server.ts'
import { OngoingCalls } from './ongoing-calls.ts'
import { Operations } from './operations.ts'
import { resolveConfig } from './config/resolve-config.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import { addLifeRoutes, addRoutes } from './routes.ts'
import { toRules } from './rules.ts'
import { statusReport } from './status.ts'
import { createAgent } from './upstream.ts'

/** What is around a gateway rather than a rule of it. */
export interface GatewayRuntime
  extends Omit<RuntimeOptions, 'journal'>, Pick<SwitchgearOptions, 'snapshots'> {
  /** Default: one that ends with the process. The gateway does not close it. */
  readonly journal?: JournalStore
  /** Where an admin token is kept that was made because none is configured. Default: it ends with the process. */
  readonly tokenFile?: string
  /** Told after another configuration came into force. */
  readonly onReload?: (config: ResolvedConfig) => void
  /** Reads the configuration anew, for a reload by an operator; throws where it is broken. Default: none to be read. */
  readonly readConfig?: () => GatewayConfig
  /** Where relative files of the configuration are looked for. Default: the working directory. */
  readonly directory?: string
  /** How this replica is called. Default: SWITCHGEAR_REPLICA of the environment, else the name of the host. */
  readonly replica?: string
}

export interface Gateway extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string
  /** Where operators look; the same as `url` unless `server.admin` says otherwise. */
  readonly adminUrl: string
  readonly gear: GatewayGear
  /** The admin token that was made because none is configured, to be shown once; where it is kept; what is odd about it. */
  readonly token: Pick<AdminTokens, 'made' | 'file' | 'warning'>
  /**
   * Puts another configuration in force. Calls under way end at the targets they began with.
   *
   * @throws RangeError, ConfigError for one that is refused; then the old one stays
   */
  reload(config: GatewayConfig): Reloaded
  /**
   * Takes no new calls and lets the running ones end, for `drainMs` at most; what is left is cut off and told so.
   * Default `server.drainMs`.
   */
  close(options?: { drainMs?: number }): Promise<void>
}

/**
 * Starts an OpenAI-compatible server in front of a chain of targets.
 *
 * @throws ListenError when a port cannot be had
 * @throws RangeError, ConfigError for options that the core refuses
 * @example
 * ```ts
 * const gateway = await createGateway({ targets: [{ baseUrl: 'http://127.0.0.1:8080/v1' }] })
 * await fetch(`${gateway.url}/status`)
 * ```
 */
export async function createGateway(config: GatewayConfig, runtime: GatewayRuntime = {}): Promise<Gateway> {
  const { readConfig, directory, replica: named, snapshots, tokenFile, onReload, ...core } = runtime
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = core
  const { journal = memoryJournal({ clock, logger }) } = core
  const replica = named ?? process.env['SWITCHGEAR_REPLICA'] ?? hostname()
  const agent = createAgent()
  const calls = new OngoingCalls(clock)
  const around = { clock, random, agent, gear: () => gear }

  const first = toRules(resolveConfig(config, directory), around)
  let rules: Rules = first.rules
  const gear: GatewayGear = createSwitchgear({
    ...first.options,
    ...core,
    journal,
    ...(snapshots && { snapshots }),
  })
  gear.on('failure', ({ call, target, model, failure }) => {
    calls.get(call)?.request.failed.push({ target, model, failure })
  })
  const checks = new HealthChecks(gear, clock, () => rules)

  const reload = (next: GatewayConfig): Reloaded => {
    const made = toRules(resolveConfig(next, directory), around)
    const tokens = operations.tokensFor(made.rules.config)
    gear.reconfigure(made.options)
    const told = configChanges(rules.config, made.rules.config)
    rules = { ...made.rules, config: keepBound(made.rules.config, rules.config) }
    checks.restart()
    operations.reloaded(tokens)
    onReload?.(rules.config)
    return told
  }

  const { server } = rules.config
  const main = createServer(server)
  const desk = {
    gear,
    clock,
    logger,
    calls,
    get rules() {
      return rules
    },
  }
  addRoutes(main, desk)
  addLifeRoutes(main, () => !calls.areLast)
  const own = server.admin && createServer(server)
  const operations = new Operations({
    gear,
    config: () => rules.config,
    status: () => {
      const healthOf = (target: string) => checks.resultOf(target)
      return statusReport({ gear, config: rules.config, replica, draining: calls.areLast, healthOf })
    },
    journal,
    tokenFile,
    reload: readConfig && (async () => reload(readConfig())),
    replica,
    clock,
    logger,
  })
  operations.register(own ?? main)
  await operations.trace()

  const end = async (drainMs: number) => {
    await calls.drain(drainMs)
    checks.close()
    rules.keepAlive.close()
    await operations.close()
    // whoever is still connected has had its time
    main.server.closeAllConnections()
    await Promise.all([main.close(), own?.close(), gear.close()])
    await agent.destroy()
  }
  let closed: Promise<void> | undefined
  const close: Gateway['close'] = ({ drainMs = rules.config.server.drainMs } = {}) =>
    (closed ??= end(drainMs))
  try {
    const url = await listen(main, server.host, server.port)
    const adminUrl = own && server.admin ? await listen(own, server.admin.host, server.admin.port) : url
    const { made, file, warning } = operations.tokens
    return {
      url,
      adminUrl,
      gear,
      token: { made, file, warning },
      reload,
      close,
      [Symbol.asyncDispose]: () => close(),
    }
  } catch (error) {
    await close({ drainMs: 0 })
    throw error
  }
}
