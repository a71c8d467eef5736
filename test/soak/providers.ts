import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { answerParent } from '../support/child.ts'
import { providerOutages } from './config.ts'
import type { ProviderName } from './config.ts'

// The scripted providers of a soak, in a process of their own.

const providers = new Map<ProviderName, ScriptedProvider>()
for (const [name, outage] of Object.entries(providerOutages)) {
  providers.set(name as ProviderName, await startScriptedProvider({ name, outage, keepAliveMs: 100 }))
}

const answers = {
  urls: () =>
    Object.fromEntries([...providers].map(([name, { baseURL }]) => [name, baseURL])) as Record<
      ProviderName,
      string
    >,
  outage: ({ name, on }: { name: ProviderName; on: boolean }) => providers.get(name)?.setOutage(on),
  /** How many requests have come. */
  received: () =>
    [...providers.values()].flatMap(({ counts }) => [...counts.values()]).reduce((sum, n) => sum + n, 0),
  close: async () => {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  },
}
export type Providers = typeof answers

answerParent(answers)
