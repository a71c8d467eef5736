import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { build } from 'vite'

import { systemClock } from '../../src/core/clock.ts'

const PAGES = resolve(import.meta.dirname, '../../visualizations')
// a build takes a second or two; a lock as old as this was left behind
const LEFT_BEHIND_MS = 60_000

/** Builds a page where it is missing or older than its sources; of several processes, one does it. */
export async function buildPage(name: 'dashboard' | 'inspector' = 'dashboard'): Promise<void> {
  const root = resolve(PAGES, name)
  const lock = resolve(root, 'dist.lock')
  while (isStale(root)) {
    if (!takeLock(lock)) {
      await delay(50)
      continue
    }
    try {
      if (isStale(root)) await build({ root, configFile: resolve(root, 'vite.config.ts'), logLevel: 'warn' })
    } finally {
      rmSync(lock, { recursive: true })
    }
  }
  // another process may have written the page, and not yet the rest
  while (changedAt(lock) !== undefined) await delay(50)
}

/** Pages share what they are made of. */
function isStale(root: string): boolean {
  const built = changedAt(resolve(root, 'dist/index.html'))
  const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/[/\\]dist(?:\.lock)?(?:[/\\]|$)/.test(name) && /\.(?:tsx?|css|html|svg)$/.test(name),
  )
  return built === undefined || sources.some((name) => (changedAt(resolve(PAGES, name)) ?? 0) > built)
}

function takeLock(lock: string): boolean {
  if (systemClock.wall() - (changedAt(lock) ?? Infinity) > LEFT_BEHIND_MS)
    rmSync(lock, { recursive: true, force: true })
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}
