import { resolveBreaker } from '../../core/breaker-options.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../core/presets.ts'

/** A policy that is compared with others. */
export interface Contender {
  readonly name: string
  readonly rules: ResolvedBreaker
}

/** The policies that come with the library. */
export const presets: readonly Contender[] = [
  { name: 'llmDefaults', rules: resolveBreaker(llmDefaults) },
  { name: 'toolDefaults', rules: resolveBreaker(toolDefaults) },
  { name: 'plain default', rules: resolveBreaker() },
]
