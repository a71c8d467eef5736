/** Something that is measured: `batch` makes that many calls, one after the other. */
export interface Subject {
  readonly name: string
  readonly batch: (calls: number) => Promise<unknown>
}

/** What one call of each subject takes, in ns, by its name. */
export type Times = ReadonlyMap<string, number>

export const ROUNDS = 121
// a subject may still be optimised anew when it first takes turns with the others
const SETTLING_ROUNDS = 15
const WARM_UP_MS = 500
const BATCH_MS = 6

/** The middle of some numbers; the mean of the middle two where their count is even. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

async function timed(subject: Subject, calls: number): Promise<number> {
  const before = performance.now()
  await subject.batch(calls)
  return performance.now() - before
}

/** Lets timers and everything else that waits for the event loop have their turn, and clears young garbage away. */
async function breathe(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
  globalThis.gc?.({ type: 'minor', execution: 'sync' })
}

/** Runs a subject until its code has been optimised. */
export async function warmUp(subject: Subject): Promise<void> {
  const end = performance.now() + WARM_UP_MS
  while (performance.now() < end) {
    await subject.batch(500)
    await breathe()
  }
}

/** How many calls make a batch long enough for the clock. */
async function calibrate(subject: Subject): Promise<number> {
  let calls = 64
  let ms = await timed(subject, calls)
  while (ms < BATCH_MS / 4) ms = await timed(subject, (calls *= 2))
  return Math.max(64, Math.ceil((calls * BATCH_MS) / ms))
}

/** Samples of each subject; every round begins with another one, so that none always follows the same one. */
async function takeTurns(subjects: readonly Subject[], rounds: number): Promise<number[][]> {
  const sizes: number[] = []
  for (const subject of subjects) sizes.push(await calibrate(subject))
  const samples = subjects.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const i = (round + turn) % subjects.length
      await breathe()
      samples[i]!.push(((await timed(subjects[i]!, sizes[i]!)) * 1e6) / sizes[i]!)
    }
  }
  return samples
}

/** Medians over interleaved rounds, once the subjects have settled beside each other. */
export async function race(subjects: readonly Subject[], rounds = ROUNDS): Promise<Times> {
  await takeTurns(subjects, SETTLING_ROUNDS)
  const samples = await takeTurns(subjects, rounds)
  return new Map(subjects.map(({ name }, i) => [name, median(samples[i]!)]))
}
