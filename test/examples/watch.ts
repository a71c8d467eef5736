import { createSwitchgear } from 'switchgear'

const gear = createSwitchgear({
  targets: [{ name: 'openai', invoke: async (prompt: string) => `You said ${prompt}`, circuitBreaker: true }],
  onEvent: (event) => console.log(event.type),
})
const stop = gear.on('transition', ({ bucket, from, to, cause }) =>
  console.log(bucket, from, '→', to, cause.why),
)

gear.openCircuit({ name: 'openai' }, { hold: true, ttlMs: 3_600_000, by: 'ada', reason: 'migration' })
console.log(gear.explain({ name: 'openai' })?.sentence)
gear.closeCircuit({ name: 'openai' }, { by: 'ada', reason: 'migration done' })
console.log(gear.getCircuitStates())

stop()
await gear.close()
