import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSwitchgear } from 'switchgear'
import { outcomeRecorder, sqliteJournal } from 'switchgear/journal'

const folder = mkdtempSync(join(tmpdir(), 'switchgear-'))
const journal = sqliteJournal({ file: join(folder, 'switchgear.db') })
const recorder = outcomeRecorder({ file: join(folder, 'outcomes.jsonl') })
const gear = createSwitchgear({
  targets: [{ name: 'openai', invoke: async (prompt: string) => `You said ${prompt}`, circuitBreaker: true }],
  journal,
  // circuits go on where the journal left them
  snapshots: journal.latest(),
})
recorder.attach(gear)
console.log(await gear.call('hello'))

// at the end
await gear.close()
await recorder.close()
journal.close()
