import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { seededRandom } from '../../src/testing/seeded-random.ts'
import { Child } from '../support/child.ts'
import { Crowd } from './crowd.ts'
import type { GatewayUnderSoak } from './gateway.ts'
import type { Inventory } from './inventory.ts'
import { Onlooker } from './onlooker.ts'
import { promisesOf } from './promises.ts'
import type { Seen } from './promises.ts'
import type { Providers } from './providers.ts'
import { slope } from './slope.ts'
import type { Sample } from './slope.ts'
import { stir } from './stir.ts'

const CLIENTS = 500
const TICK_MS = 1000
/** How often everybody rests, so that the heap can be weighed. */
const RESTS = 12
const SHORTEST_SPELL_SECONDS = 5
/** In a shorter soak the heap has not found its size. */
const SLOPE_SECONDS = 120
/** For what comes to its end by itself. */
const PATIENCE_MS = 20_000

const say = (text: string) => process.stderr.write(`${text}\n`)
const file = (name: string) => new URL(name, import.meta.url)

/** Waits until it holds, for as long as there is patience. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(100)) {
    if (await holds()) return
  }
}

/** Tells how it goes, for a while. */
async function watch(crowd: Crowd, gateway: Child<GatewayUnderSoak>, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    await delay(Math.min(TICK_MS, end - performance.now()))
    const { sent, complete, error, left, broken } = crowd.tally
    const errors = error.called + error.uncalled
    const running = await gateway.ask('running')
    say(
      `${sent} requests  ${complete.called} complete  ${errors} errors  ${left} left  ${broken} broken  ${running} running`,
    )
  }
}

/** Load and rest in turns; weighs the heap whenever everybody rests. */
async function soak(crowd: Crowd, gateway: Child<GatewayUnderSoak>, seconds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const start = performance.now()
  const left = () => seconds * 1000 - (performance.now() - start)
  const spell = Math.max(SHORTEST_SPELL_SECONDS, seconds / RESTS) * 1000
  while (left() > 0) {
    crowd.ask()
    await watch(crowd, gateway, Math.min(spell, left()))
    await crowd.rest()
    await until(async () => (await gateway.ask('running')) === 0)
    const bytes = await gateway.ask('heldBytes')
    samples.push({ at: performance.now() - start, bytes })
    say(`at rest: ${(bytes / 1e6).toFixed(1)} MB of heap and buffers`)
  }
  return samples
}

const connected = ({ handles }: Inventory) => handles.includes('TCPSocketWrap')

async function play(seconds: number, seed: number): Promise<Seen> {
  const random = seededRandom(seed)
  await using providers = await Child.start<Providers>(file('./providers.ts'))
  await using gateway = await Child.start<GatewayUnderSoak>(file('./gateway.ts'), {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  })

  const before = await gateway.ask('inventory')
  const { url, adminUrl, token } = await gateway.ask('start', await providers.ask('urls'))
  const onlooker = new Onlooker(adminUrl, token)
  const over = new AbortController()
  const stirring = stir(providers, gateway, random, over.signal)
  const crowd = new Crowd(CLIENTS, url, random)
  const samples = await soak(crowd, gateway, seconds)
  over.abort()
  await stirring
  await crowd.close()
  const metered = await onlooker.total('switchgear_requests_total')
  await onlooker.leave()
  const received = await providers.ask('received')
  await providers.ask('close')
  await until(async () => !connected(await gateway.ask('inventory')))

  const quiet = await gateway.ask('inventory')
  const counters = await gateway.ask('counters')
  await gateway.ask('close')
  const after = await gateway.ask('inventory')
  return {
    tally: crowd.tally,
    counters,
    received,
    metered,
    events: onlooker.events,
    before,
    quiet,
    after,
    complaints: await gateway.ask('complaints'),
    slope: seconds >= SLOPE_SECONDS ? slope(samples) : undefined,
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  })
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
  if (!(seconds > 0 && seconds < Infinity))
    throw new RangeError(`--seconds is ${values.seconds}: it must be above 0`)
  if (!Number.isInteger(seed)) throw new RangeError(`--seed is ${values.seed}: it must be a whole number`)
  const seen = await play(seconds, seed)
  const promises = promisesOf(seen)
  if (values.json) process.stdout.write(`${JSON.stringify({ seconds, seed, promises, ...seen })}\n`)
  else {
    for (const { promise, holds, told } of promises) {
      process.stdout.write(
        `${holds ? 'kept  ' : 'BROKEN'}  ${promise}\n${told.map((line) => `        ${line}\n`).join('')}`,
      )
    }
  }
  if (!promises.every(({ holds }) => holds)) process.exitCode = 1
}

await main()
