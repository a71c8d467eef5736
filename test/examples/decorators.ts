import { withCircuitBreaker, withFallback, withRetry } from 'switchgear'

const anthropic = { name: 'anthropic', complete: async (prompt: string) => `Claude says: ${prompt}` }
const openai = { name: 'openai', complete: async (prompt: string) => `GPT says: ${prompt}` }

const provider = withFallback(
  withCircuitBreaker(withRetry(anthropic), { failureThreshold: 5, cooldownMs: 30_000 }),
  withCircuitBreaker(openai),
)
console.log(await provider.complete('Hello'))
