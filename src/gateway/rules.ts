import type { Dispatcher } from 'undici'

import type { Clock, Random } from '../core/clock.ts'
import { LimitQueue } from '../core/limits.ts'
import type { TargetSelector } from '../core/switchgear.ts'
import { ClientKeys } from './client-keys.ts'
import type { GatewayGear, Rules } from './desk.ts'
import { selectorOf, toSwitchgearOptions } from './gear-options.ts'
import type { GatewayRules } from './gear-options.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import { Router } from './router.ts'
import type { Outlook } from './router.ts'
import type { Deployment } from './strategy.ts'
import { Upstream } from './upstream.ts'

interface Around {
  readonly clock: Clock
  readonly random: Random
  readonly agent: Dispatcher
  /** Asked only once calls come in. */
  readonly gear: () => GatewayGear
}

/** All that follows from a configuration; `options` are those of the core. */
export function toRules(config: ResolvedConfig, around: Around): { rules: Rules; options: GatewayRules } {
  const { clock, random, agent, gear } = around
  const refusalIsError = (name: string) => Object.hasOwn(config.contentPolicyFallbacks, name)
  const upstreams = new Map(
    config.targets.map((target) => [target.name, new Upstream(target, agent, refusalIsError(target.name))]),
  )
  const options = toSwitchgearOptions(config, ({ name }) => {
    const upstream = upstreams.get(name)!
    return {
      invoke: (request, context) => upstream.invoke(request, context),
      stream: (request, context) => upstream.stream(request, context),
    }
  })
  const outlook: Outlook = {
    circuitOf: (target, model) => circuitOf(gear(), selectorOf(config, target, model)),
    busy: (name) => upstreams.get(name)?.busy ?? 0,
  }
  const rules = {
    config,
    upstreams,
    router: new Router(config, outlook, random),
    keys: new ClientKeys(config.clientKeys),
    keepAlive: new LimitQueue(config.server.keepAliveMs, clock),
  }
  return { rules, options }
}

function circuitOf(gear: GatewayGear, selector: TargetSelector): Deployment['circuit'] {
  if (!gear.canExecute(selector)) return 'refuses'
  return gear.getCircuitState(selector) === 'degraded' ? 'degraded' : 'healthy'
}
