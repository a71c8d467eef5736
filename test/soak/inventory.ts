import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'

/** What a process holds that somebody must have let go of by the end. */
export interface Inventory {
  /** Kinds of handles that keep the process alive, sorted. */
  readonly handles: readonly string[]
  /** Objects that are still reached, by class. */
  readonly objects: Readonly<Record<string, number>>
  /** Listeners of the process itself. */
  readonly listeners: number
}

const timer = setTimeout(() => {}, 0)
clearTimeout(timer)

const CLASSES = {
  sockets: Socket,
  requests: IncomingMessage,
  responses: ServerResponse,
  signals: AbortSignal,
  timers: timer.constructor,
  emitters: EventEmitter,
}

/** Collects what nobody reaches any more; finalizers get their turns in between. */
async function collect(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.')
  for (let i = 0; i < 3; i++) {
    await turn()
    globalThis.gc({ type: 'major', execution: 'sync' })
  }
}

export async function inventory(): Promise<Inventory> {
  await collect()
  const objects = Object.entries(CLASSES).map(([name, one]) => [
    name,
    queryObjects(one as new () => object, { format: 'count' }),
  ])
  return {
    handles: process.getActiveResourcesInfo().sort(),
    objects: Object.fromEntries(objects),
    listeners: process.eventNames().reduce((n, name) => n + process.listenerCount(name), 0),
  }
}

/** Memory of JavaScript values and of buffers that cannot be given back, in bytes. */
export async function heldBytes(): Promise<number> {
  await collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
