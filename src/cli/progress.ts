import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../core/clock.ts'

const WIDTH = 24
const REDRAW_MS = 100

/** How far something has come. */
export interface Progress {
  readonly done: number
  readonly all: number
}

interface Screen {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/**
 * Does one step after another until there is none left or the user presses Ctrl+C, and shows on a terminal how far it is.
 *
 * @param step does a little and says whether something is left
 * @returns false where it was stopped
 */
export async function withProgress(
  step: () => boolean | Promise<boolean>,
  progress: () => Progress,
  screen: Screen = process.stderr,
): Promise<boolean> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop)
  let drawnAt = -Infinity
  try {
    for (let more = true; more && !stopping.signal.aborted;) {
      more = await step()
      const now = systemClock.now()
      if (screen.isTTY === true && now - drawnAt >= REDRAW_MS) {
        drawnAt = now
        screen.write(`\r${bar(progress())}`)
      }
      // a signal is heard only between two turns
      await setImmediate()
    }
  } finally {
    process.off('SIGINT', stop)
    if (drawnAt > -Infinity) screen.write('\r\u001B[K')
  }
  return !stopping.signal.aborted
}

/** Says on a terminal what takes its time now; '' = nothing any more. */
export function showWork(text: string, screen: Screen = process.stderr): void {
  if (screen.isTTY === true) screen.write(`\r\u001B[K${text}`)
}

export function bar({ done, all }: Progress): string {
  const share = all === 0 ? 1 : Math.min(1, done / all)
  const full = Math.round(share * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${String(Math.round(share * 100)).padStart(3)} %  Ctrl+C stops and prints what is there`
}
