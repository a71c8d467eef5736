import { createSwitchgear } from 'switchgear'

const invoke = async (prompt: string) => `You said ${prompt}`
const rules = (cooldownMs: number) => ({
  targets: [{ name: 'openai', invoke, circuitBreaker: { cooldownMs } }],
})

const gear = createSwitchgear(rules(30_000))
gear.openCircuit({ name: 'openai' }, { by: 'ada', reason: 'migration' })
gear.reconfigure(rules(60_000))
console.log(gear.getCircuitState({ name: 'openai' })) // still open

const saved = JSON.stringify(gear.snapshots())
await gear.close()

// in the next process
const next = createSwitchgear({ ...rules(60_000), snapshots: JSON.parse(saved) })
console.log(next.explain({ name: 'openai' })?.sentence)
await next.close()
