import { setImmediate as turn } from 'node:timers/promises'

export type Fate<T> = { readonly value: T } | { readonly error: unknown } | 'pending'

/** Lets everything run that waits for no clock. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 6; i++) await turn()
}

/** What a promise has come to once everything that can run has run; never waits for a clock. */
export async function fate<T>(promise: PromiseLike<T>): Promise<Fate<T>> {
  let found: Fate<T> = 'pending'
  promise.then(
    (value) => (found = { value }),
    (error: unknown) => (found = { error }),
  )
  await settle()
  return found
}

/** The error a promise has ended with. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const found = await fate(promise)
  if (found === 'pending') throw new Error('still pending')
  if ('value' in found) throw new Error(`answered: ${String(found.value)}`)
  return found.error
}

/** Collects unhandled rejections while `run` runs, in place of the test runner's own watch. */
export async function unhandledIn(run: () => Promise<unknown>): Promise<unknown[]> {
  const watchers = process.listeners('unhandledRejection')
  const seen: unknown[] = []
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => seen.push(error))
  try {
    await run()
    await settle()
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const watcher of watchers) process.on('unhandledRejection', watcher)
  }
  return seen
}
