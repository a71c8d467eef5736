import { Fates } from '../../src/audit/replay/fates.ts'
import { incidentModel, phasesOf } from '../../src/audit/replay/incident-model.ts'
import { play } from '../../src/audit/replay/play.ts'
import { Traffic } from '../../src/audit/replay/traffic.ts'
import { total } from '../../src/audit/simulate/observed.ts'
import { readLoad } from '../../src/audit/simulate/read-load.ts'
import { Simulation } from '../../src/audit/simulate/simulation.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { median } from './measure.ts'
import { atLeast } from './row.ts'
import type { Row } from './row.ts'
import { ROLLING } from './rows-execute.ts'

/** Virtual calls a second. */
const BAR = 300_000
const RUNS = 7
const HOUR = 3_600_000

/**
 * How many calls a second it plays: the median of some runs, after one to warm up. Nothing in virtual time ever waits, so
 * the time is the processor's: what else the machine does is not counted.
 */
async function rateOf(run: () => number | Promise<number>): Promise<number> {
  await run()
  const rates: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const before = process.threadCpuUsage()
    const calls = await run()
    const { user, system } = process.threadCpuUsage(before)
    rates.push((calls * 1e6) / (user + system))
  }
  return median(rates)
}

/** Ten days of a call every 2.4 s with two incidents, against a breaker that is stepped through every one. */
function replay(): number {
  const random = seededRandom(1)
  const calls = Array.from({ length: 1500 }, (_, i) => ({
    atMs: i * 2400 + Math.floor(random() * 2000),
    latencyMs: 200 + Math.floor(random() * 3000),
    inputTokens: 1,
    outputTokens: 1,
  }))
  const incidents = [
    { name: 'all', startAt: 50 * HOUR, endAt: 51 * HOUR, impact: 3 },
    { name: 'some', startAt: 150 * HOUR, endAt: 153 * HOUR, impact: 1 },
  ]
  const phases = phasesOf(incidents, incidentModel, 0, 240 * HOUR)
  const fates = new Fates(new Traffic(calls, HOUR, 0), phases, 1, incidentModel)
  const { transitions } = play(fates, resolveBreaker({ tripping: ROLLING }), { cross: false })
  if (transitions.length === 0) throw new Error('the circuit of the replay never opened')
  return fates.end
}

const LATENCY = '{ median: 800, p95: 3000 }'
const PRIMARY = '{ name: primary, circuitBreaker: { threshold: 5 }, timeoutMs: 20000 }'
const BACKUP = '{ name: backup, circuitBreaker: true }'

interface Setting {
  readonly duration: string
  readonly targets: readonly string[]
  readonly primary?: string
  readonly stream?: true
}

async function simulate({ duration, targets, primary = '', stream }: Setting): Promise<number> {
  const load = readLoad(
    `duration: ${duration}
traffic: { rate: 5, stream: ${stream === true} }
switchgear: { targets: [${targets.join(', ')}] }
providers: { primary: { latency: ${LATENCY} ${primary} } }`,
    'load.yaml',
    { trace: () => ({ calls: [], periodMs: 1 }) },
  )
  const simulation = new Simulation(load)
  while (await simulation.step());
  return total(simulation.observed.calls)
}

/** What is played in virtual time: one breaker as in a replay, and a whole switchgear as in a simulation. */
export async function virtualRows(): Promise<Row[]> {
  const both = [PRIMARY, BACKUP]
  const outage = ', faults: [{ at: 3h, for: 20m }]'
  const rate = (setting: Setting) => rateOf(() => simulate(setting))
  return [
    atLeast('replay, stepped through every call', '/s', await rateOf(replay), BAR),
    atLeast('simulate, one target', '/s', await rate({ duration: '12h', targets: [PRIMARY] }), BAR),
    atLeast(
      'simulate, two targets, the first down for 20 min of 12 h',
      '/s',
      await rate({ duration: '12h', targets: both, primary: outage }),
      BAR,
    ),
    atLeast(
      'simulate, every third request fails',
      '/s',
      await rate({ duration: '1h', targets: both, primary: ', failures: 0.33' }),
    ),
    atLeast(
      'simulate, streams of ten parts',
      '/s',
      await rate({ duration: '1h', targets: [PRIMARY], stream: true }),
    ),
  ]
}
