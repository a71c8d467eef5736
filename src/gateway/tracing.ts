import type { Clock } from '../core/clock.ts'
import { openTelemetry } from '../telemetry/opentelemetry.ts'
import type { GenAiTarget } from '../telemetry/gen-ai.ts'
import type { OpenTelemetry } from '../telemetry/opentelemetry.ts'
import type { Answer, CallRequest } from './call-request.ts'
import type { GatewayGear } from './desk.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import { jsonOrText } from './upstream-error.ts'

/** Providers by the end of their host, in the words of the GenAI conventions. */
const PROVIDERS: readonly (readonly [string, string])[] = [
  ['openai.azure.com', 'azure.ai.openai'],
  ['openai.com', 'openai'],
  ['anthropic.com', 'anthropic'],
  ['amazonaws.com', 'aws.bedrock'],
  ['googleapis.com', 'gcp.gemini'],
  ['mistral.ai', 'mistral_ai'],
  ['groq.com', 'groq'],
  ['x.ai', 'x_ai'],
  ['deepseek.com', 'deepseek'],
]

/** Spans and metrics of a gateway. @throws ConfigError when `@opentelemetry/api` is not installed */
export function traceGateway(
  gear: GatewayGear,
  config: () => ResolvedConfig,
  clock: Clock,
): Promise<OpenTelemetry> {
  return openTelemetry(gear, {
    clock,
    targets: (name) => genAiTarget(config(), name),
    operationOf: (request) =>
      (request as CallRequest).endpoint.name === 'embeddings' ? 'embeddings' : 'chat',
    answerOf: (answer) => jsonOrText((answer as Answer).body),
  })
}

function genAiTarget({ targets }: ResolvedConfig, name: string): GenAiTarget | undefined {
  const target = targets.find((one) => one.name === name)
  if (target === undefined) return undefined
  const { hostname, port, protocol } = new URL(target.baseUrl)
  const known = PROVIDERS.find(([end]) => hostname === end || hostname.endsWith(`.${end}`))
  const serverPort = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  return { ...(known && { provider: known[1] }), serverAddress: hostname, serverPort }
}
