import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { seededRandom } from '../../src/testing/seeded-random.ts'
import { Child } from '../support/child.ts'
import { providerOutages, targetNames } from './config.ts'
import type { ProviderName } from './config.ts'
import { Crowd } from './crowd.ts'
import type { GatewayUnderSoak } from './gateway.ts'
import { promisesOf } from './promises.ts'
import type { Providers } from './providers.ts'
import { slope } from './slope.ts'
import type { Sample } from './slope.ts'

const CLIENTS = 500
const TICK_MS = 1000
/** How often everybody rests, so that the heap can be weighed. */
const RESTS = 12
const SHORTEST_SPELL_SECONDS = 5
/** In a shorter soak the heap has not found its size. */
const SLOPE_SECONDS = 120
const REST_MS = 20_000

const say = (text: string) => process.stderr.write(`${text}\n`)
const file = (name: string) => new URL(name, import.meta.url)

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})

/** Waits until it holds; false = it did not within the time. */
async function until(holds: () => Promise<boolean>, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await delay(100)) {
    if (await holds()) return true
  }
  return false
}

/** Outages come and go, an operator lays a hand on circuits. */
async function stir(
  { providers, gateway }: { providers: Child<Providers>; gateway: Child<GatewayUnderSoak> },
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const names = Object.keys(providerOutages) as ProviderName[]
  while (!signal.aborted) {
    const name = one(names)
    await providers.ask('outage', { name, on: true })
    await delay(500 + random() * 1500, undefined, { signal }).catch(() => {})
    await providers.ask('outage', { name, on: false })
    await gateway.ask('operate', { name: one(targetNames), open: random() < 0.5 })
    await delay(random() * 3000, undefined, { signal }).catch(() => {})
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
    await until(async () => (await gateway.ask('running')) === 0, REST_MS)
    const bytes = await gateway.ask('heldBytes')
    samples.push({ at: performance.now() - start, bytes })
    say(`at rest: heap ${(bytes / 1e6).toFixed(1)} MB`)
  }
  return samples
}

async function main(): Promise<void> {
  const seconds = Number(values.seconds)
  const seed = Number(values.seed)
  if (!(seconds > 0) || !Number.isInteger(seed))
    throw new RangeError('--seconds must be > 0, --seed an integer.')
  const random = seededRandom(seed)
  await using providers = await Child.start<Providers>(file('./providers.ts'))
  await using gateway = await Child.start<GatewayUnderSoak>(file('./gateway.ts'), {
    execArgv: ['--expose-gc'],
  })

  const before = await gateway.ask('inventory')
  const { url } = await gateway.ask('start', await providers.ask('urls'))
  const over = new AbortController()
  const stirring = stir({ providers, gateway }, random, over.signal)
  const crowd = new Crowd(CLIENTS, url, random)
  const samples = await soak(crowd, gateway, seconds)
  over.abort()
  await stirring
  await crowd.close()
  const received = await providers.ask('received')
  await providers.ask('close')
  await until(async () => (await gateway.ask('inventory')).objects['sockets'] === 0, REST_MS)

  const quiet = await gateway.ask('inventory')
  const counters = await gateway.ask('counters')
  await gateway.ask('close')
  const after = await gateway.ask('inventory')
  const complaints = await gateway.ask('complaints')
  const { tally } = crowd
  const growth = seconds >= SLOPE_SECONDS ? slope(samples) : undefined
  const promises = promisesOf({ tally, counters, received, before, quiet, after, complaints, slope: growth })

  if (values.json)
    process.stdout.write(`${JSON.stringify({ seconds, seed, tally, counters, slope: growth, promises })}\n`)
  else
    for (const { promise, holds, seen } of promises)
      process.stdout.write(`${holds ? 'kept  ' : 'BROKEN'}  ${promise}\n    ${seen}\n`)
  if (process.env['SOAK_DEBUG']) say(JSON.stringify({ before, quiet, after, slope: slope(samples) }, null, 1))
  if (!promises.every(({ holds }) => holds)) process.exitCode = 1
}

await main()
