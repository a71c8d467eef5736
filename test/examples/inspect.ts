import { createSwitchgear } from 'switchgear'
import { inspect } from 'switchgear/inspect'

const gear = createSwitchgear({
  targets: [{ name: 'openai', invoke: async (prompt: string) => `You said ${prompt}`, circuitBreaker: true }],
})
const inspection = await inspect(gear)
console.log(`open ${inspection.url} in a browser on this machine`)

// at the end
await inspection.close()
await gear.close()
