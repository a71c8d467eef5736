import type { Row } from '../row.ts'
import { holds, json, table } from '../row.ts'
import { Course } from './race.ts'
import type { Contender } from './race.ts'
import { rowsOf } from './rows.ts'
import type { Peer } from './rows.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)
const file = (name: string) => new URL(name, import.meta.url)

const BARE = 'a bare proxy'
const OURS = 'switchgear'
const PORTKEY = 'portkey'

const contenders: readonly Contender[] = [
  { name: BARE, file: file('./bare.ts') },
  { name: OURS, file: file('./switchgear.ts') },
  {
    name: PORTKEY,
    file: file('./portkey.ts'),
    headers: (upstream) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    }),
  },
]

/** What is asked for, and beside whom ours must be how many times as good. */
const kinds: readonly { title: string; stream: boolean; peers: readonly Peer[] }[] = [
  {
    title: 'JSON',
    stream: false,
    peers: [
      { name: BARE, bar: 0.75 },
      { name: PORTKEY, bar: 5 },
    ],
  },
  // where every chunk goes through the kernel twice, a bare proxy is hardly five times as good as anything
  { title: '50-chunk SSE', stream: true, peers: [{ name: BARE, bar: 0.75 }, { name: PORTKEY }] },
]

const ROUNDS = 21
const SPELL_MS = 500

async function main(): Promise<void> {
  say(`node ${process.version}`)
  await using course = await Course.open(contenders)
  const rows: Row[] = []
  for (const { title, stream, peers } of kinds) {
    say(title)
    rows.push(...rowsOf(title, await course.race({ stream, rounds: ROUNDS, ms: SPELL_MS }), OURS, peers))
  }
  const output = process.argv.includes('--json') ? json(rows) : table(rows)
  process.stdout.write(`${output}\n`)
  if (!rows.every(holds)) process.exitCode = 1
}

await main()
