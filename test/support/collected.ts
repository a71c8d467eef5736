import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { settle } from './fate.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** For each of the objects that `make` lets go of: is it still held by somebody? */
export async function collected<T extends Record<string, object>>(
  make: () => T,
): Promise<Record<keyof T, boolean>> {
  const refs = Object.entries(make()).map(([name, made]) => [name, new WeakRef(made)] as const)
  for (let i = 0; i < 5; i++) {
    await settle()
    collect()
  }
  return Object.fromEntries(refs.map(([name, ref]) => [name, ref.deref() !== undefined])) as Record<
    keyof T,
    boolean
  >
}

/** The heap in use after everything that can go has gone, in bytes. */
export async function heapUsed(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await settle()
    collect()
  }
  return process.memoryUsage().heapUsed
}
