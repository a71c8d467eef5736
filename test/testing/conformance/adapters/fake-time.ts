import { readFileSync } from 'node:fs'
import { vi } from 'vitest'

const START = Date.UTC(2026, 0, 1)

/** Date and timers of the process, standing still until they are told to move. */
export class FakeTime {
  constructor() {
    vi.useFakeTimers({
      now: START,
      toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    })
  }

  async advance(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms)
  }

  /** Nobody is there for so long: the date moves, and nothing fires. */
  sleep(ms: number): void {
    vi.setSystemTime(Date.now() + ms)
  }

  stop(): void {
    vi.useRealTimers()
  }
}

/** The version that is installed. */
export function versionOf(name: string): string {
  const file = new URL(`../../../../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
