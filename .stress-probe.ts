import { setTimeout as delay } from 'node:timers/promises'
import { startScriptedProvider } from './src/testing/scripted-provider.ts'
import { DemoClient } from './src/gateway/demo-client.ts'
import { createGateway } from './src/gateway/server.ts'
const end = Date.now() + 40000
let n = 0
while (Date.now() < end) {
  const p = await startScriptedProvider({ name: 'primary' })
  const b = await startScriptedProvider({ name: 'backup' })
  const rules = { circuitBreaker: { threshold: 5, cooldownMs: 60 }, maxRetries: 0 }
  const gw = await createGateway({ server: { port: 0 }, targets: [{ name: 'primary', baseUrl: p.baseURL, ...rules }, { name: 'backup', baseUrl: b.baseURL, ...rules }] })
  const c = new DemoClient()
  let stop = false, calls = 0, bad = 0
  const loops = Array.from({ length: 20 }, async () => { while (!stop) { const r = await c.ask(gw.url, calls++ % 4 === 3); if (!r.answered) bad++; await delay(5) } })
  await delay(100); await c.switchOutage(p.url, true); await delay(50); await c.switchOutage(p.url, false); await delay(150)
  stop = true; await Promise.all(loops); await c.close()
  let stage = 'gateway'
  const t = setTimeout(() => { console.log('HANG at', stage, 'round', n); process.exit(1) }, 14000)
  const origGear = gw.gear.close.bind(gw.gear)
  gw.gear.close = async () => { stage = 'gear'; await origGear(); stage = 'agent' }
  await gw.close(); stage = 'primary'; await p.close(); stage = 'backup'; await b.close()
  clearTimeout(t); n++
  if (bad) console.log('bad', bad)
}
console.log('rounds', n)
process.exit(0)
