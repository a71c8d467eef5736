import Opossum from 'opossum'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { createBreakerRegistry } from '../../src/core/registry.ts'
import { median } from './measure.ts'
import { work } from './peers.ts'
import type { Row } from './row.ts'
import { absolute } from './row.ts'
import { ROLLING } from './rows-execute.ts'

const BUCKETS = 500
const PASSES = 5

/** How buckets of one kind are made, used once, and let go of. */
interface Kind<Bucket> {
  readonly make: (i: number) => Bucket
  readonly use: (bucket: Bucket) => Promise<unknown>
  readonly close: (bucket: Bucket) => void
}

async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    globalThis.gc?.({ type: 'major', execution: 'sync' })
  }
  return process.memoryUsage().heapUsed
}

/** KB that one bucket keeps after a call: a median of passes, as the first pays for code and shapes as well. */
async function kilobytes<Bucket>({ make, use, close }: Kind<Bucket>): Promise<number> {
  const passes: number[] = []
  for (let pass = 0; pass < PASSES; pass++) {
    const kept: Bucket[] = Array(BUCKETS)
    const before = await heap()
    for (let i = 0; i < BUCKETS; i++) {
      const bucket = make(i)
      await use(bucket)
      kept[i] = bucket
    }
    passes.push(((await heap()) - before) / BUCKETS / 1024)
    for (const bucket of kept) close(bucket)
  }
  return median(passes)
}

const alone = (options: Parameters<typeof createBreaker>[0]) =>
  kilobytes({
    make: () => createBreaker(options),
    use: (breaker) => breaker.execute(work),
    close: (breaker) => breaker.dispose(),
  })

function registered(options: Parameters<typeof createBreakerRegistry>[0]): Promise<number> {
  let registry = createBreakerRegistry({ ...options, maxBuckets: BUCKETS })
  return kilobytes({
    make: (i) => {
      if (i === 0) registry = createBreakerRegistry({ ...options, maxBuckets: BUCKETS })
      return registry.get(`bucket-${i}`)
    },
    use: (breaker) => breaker.execute(work),
    close: () => registry.close(),
  })
}

const peer = () =>
  kilobytes({
    make: () => new Opossum(work),
    use: (breaker) => breaker.fire(),
    close: (breaker) => breaker.shutdown(),
  })

/** What an idle bucket costs, made in a registry and alone. */
export async function memoryRows(): Promise<Row[]> {
  const row = 'memory per idle bucket'
  return [
    absolute(`${row}, consecutive, registry`, 'KB', await registered({}), 5),
    absolute(`${row}, consecutive, createBreaker`, 'KB', await alone({})),
    absolute(`${row}, rolling, registry`, 'KB', await registered({ tripping: ROLLING }), 6.5),
    absolute(`${row}, rolling, createBreaker`, 'KB', await alone({ tripping: ROLLING })),
    absolute(`${row}, opossum, for comparison`, 'KB', await peer()),
  ]
}
