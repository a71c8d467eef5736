import type { SwitchgearRules } from '../core/switchgear-options.ts'
import type { TargetSelector } from '../core/switchgear.ts'
import type { TargetOptions } from '../core/target-options.ts'
import type { Answer, CallRequest } from './call-request.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import type { ResolvedTarget } from './config/resolve-target.ts'
import type { SsePart } from './sse/parts.ts'

export type GatewayRules = SwitchgearRules<CallRequest, Answer, SsePart>
type Sender = Required<Pick<TargetOptions<CallRequest, Answer, SsePart>, 'invoke' | 'stream'>>

/** The options of the core for a configuration; `sender` sends the requests of one target. */
export function toSwitchgearOptions(
  config: ResolvedConfig,
  sender: (target: ResolvedTarget) => Sender,
): GatewayRules {
  const { targets, contextWindowFallbacks, contentPolicyFallbacks } = config
  const { deadlineMs, whenAllOpen, retryBudget } = config
  return {
    contextWindowFallbacks,
    contentPolicyFallbacks,
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(whenAllOpen !== undefined && { whenAllOpen }),
    ...(retryBudget !== undefined && { retryBudget }),
    targets: targets.map((target) => ({
      ...coreOf(config, target),
      ...sender(target),
      classifyPart: (part) => part.kind,
      isEmpty: (answer) => answer.empty,
    })),
  }
}

/** The targets as the core knows them, without what sends requests. */
export const adminTargets = (config: ResolvedConfig): ResolvedTarget['core'][] =>
  config.targets.map((target) => coreOf(config, target))

const coreOf = ({ groups }: ResolvedConfig, { core }: ResolvedTarget): ResolvedTarget['core'] =>
  groups === undefined ? core : withOwnModel(core)

/**
 * In a group the client's name stands for the group: a deployment with a model of its own keeps it, also where it has a
 * circuit a model.
 */
function withOwnModel(core: ResolvedTarget['core']): ResolvedTarget['core'] {
  const { model, circuitBreaker, name, bucket = name } = core
  if (model === undefined || typeof circuitBreaker !== 'object' || !wantsIsolation(core)) return core
  const ofOneModel = { ...circuitBreaker, isolateByModel: false }
  return { ...core, bucket: `${bucket}/${model}`, circuitBreaker: ofOneModel }
}

const wantsIsolation = ({ circuitBreaker }: ResolvedTarget['core']) =>
  typeof circuitBreaker === 'object' && circuitBreaker.isolateByModel === true

/** The circuit of a target that a call for `model` would meet. */
export function selectorOf(
  config: ResolvedConfig,
  target: ResolvedTarget,
  model: string | undefined,
): TargetSelector {
  const { name } = target
  return wantsIsolation(coreOf(config, target)) && model !== undefined ? { name, model } : { name }
}
