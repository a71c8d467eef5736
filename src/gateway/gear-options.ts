import type { SwitchgearOptions } from '../core/switchgear-options.ts'
import type { TargetOptions } from '../core/target-options.ts'
import type { Answer, ChatRequest } from './chat-request.ts'
import type { GatewayConfig, GatewayTarget } from './config-schema.ts'
import type { SsePart } from './sse-source.ts'

export type GatewaySwitchgearOptions = SwitchgearOptions<ChatRequest, Answer, SsePart>
type Sender = Required<Pick<TargetOptions<ChatRequest, Answer, SsePart>, 'invoke' | 'stream'>>

/** The options of the core for a configuration; `sender` sends the requests of one target. */
export function toSwitchgearOptions(
  config: GatewayConfig,
  sender: (target: GatewayTarget, name: string) => Sender,
): GatewaySwitchgearOptions {
  const { server: _server, targets, ...rules } = config
  return {
    ...rules,
    targets: targets.map((target, i) => {
      const { baseUrl: _baseUrl, apiKey: _apiKey, ...options } = target
      return {
        circuitBreaker: true,
        ...options,
        ...sender(target, nameOf(target, i)),
        classifyPart: (part) => part.kind,
        isEmpty: (answer) => answer.empty,
      }
    }),
  }
}

/** The name the core gives to a target. */
export const nameOf = ({ name }: GatewayTarget, index: number): string =>
  name ?? (index === 0 ? 'primary' : `fallback[${index - 1}]`)
