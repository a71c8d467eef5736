import type { Clock } from '../core/clock.ts'
import type { LimitQueue } from '../core/limits.ts'
import type { Logger } from '../core/notifier.ts'
import type { Switchgear } from '../core/switchgear.ts'
import type { Answer, CallRequest } from './call-request.ts'
import type { ClientKeys } from './client-keys.ts'
import type { OngoingCalls } from './ongoing-calls.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import type { Router } from './router.ts'
import type { SsePart } from './sse/parts.ts'
import type { Upstream } from './upstream.ts'

export type GatewayGear = Switchgear<CallRequest, Answer, SsePart>

/** What follows from a configuration. A reload puts another one in its place. */
export interface Rules {
  readonly config: ResolvedConfig
  readonly router: Router
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly keys: ClientKeys
  /** When a waiting streaming client gets its next comment. */
  readonly keepAlive: LimitQueue
}

/** What everything that serves a request shares. */
export interface Desk {
  readonly gear: GatewayGear
  readonly clock: Clock
  readonly logger: Logger
  readonly calls: OngoingCalls
  readonly rules: Rules
}
