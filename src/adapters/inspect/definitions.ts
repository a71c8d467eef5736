import { breakerMachine, chainMachine, supervisorMachine } from '../../../machines/index.ts'
import type { MachineName } from './wire.ts'

/** The configuration as Stately reads it. Guards, actions and delays are names; functions are no JSON, hence left out. */
const definition = ({ config }: { readonly config: object }): string =>
  JSON.stringify({ ...config, context: undefined })

/** Every machine, by the name under which its actors are shown. */
export const definitions: Readonly<Record<MachineName, string>> = {
  supervisor: definition(supervisorMachine),
  breaker: definition(breakerMachine),
  chain: definition(chainMachine),
}
