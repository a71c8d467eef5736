import { writeSync } from 'node:fs'
import { setImmediate as breath } from 'node:timers/promises'
import { createSwitchgear } from '../../src/index.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'

// a storm of transitions, until somebody kills it: what is committed is said after the append has returned
const file = process.argv[2] ?? ''
const journal = sqliteJournal({ file, maxMegabytes: 1 })
const begun = journal.latest()
const names = ['a', 'b', 'c', 'd']
const gear = createSwitchgear<string, string>({
  journal,
  snapshots: begun,
  targets: names.map((name) => ({
    name,
    invoke: () => Promise.reject(Object.assign(new Error('down'), { status: 503 })),
    circuitBreaker: { threshold: 1, cooldownMs: 0 },
    maxRetries: 0,
  })),
})
journal.onRow(({ seq, circuit, saved, hash }) => {
  const { state, generation } = saved ?? {}
  writeSync(1, `${JSON.stringify({ seq, circuit, state, generation, hash })}\n`)
})
writeSync(1, `${JSON.stringify({ begun, health: journal.health })}\n`)
for (let i = 0; ; i++) {
  await gear.call('x').catch(() => {})
  if (i % 10 === 0) await breath()
  if (i % 200 === 0 && journal.rows({ circuit: null, type: 'journal.pruned', limit: 1 }).length > 0)
    writeSync(1, '{"pruned":true}\n')
  const name = names[i % names.length]!
  if (i % 3 === 0) gear.openCircuit({ name }, { hold: true, by: 'kim', reason: `${i}` })
  if (i % 5 === 0) gear.closeCircuit({ name })
}
