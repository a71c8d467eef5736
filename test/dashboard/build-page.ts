import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { build } from 'vite'

import { systemClock } from '../../src/core/clock.ts'

const ROOT = resolve(import.meta.dirname, '../../visualizations/dashboard')
const BUILT = resolve(ROOT, 'dist/index.html')
const LOCK = resolve(ROOT, 'dist.lock')
// a build takes a second or two; a lock as old as this was left behind
const LEFT_BEHIND_MS = 60_000

/** Builds the page where it is missing or older than its sources; of several processes, one does it. */
export async function buildPage(): Promise<void> {
  while (isStale()) {
    if (!takeLock()) {
      await delay(50)
      continue
    }
    try {
      if (isStale())
        await build({ root: ROOT, configFile: resolve(ROOT, 'vite.config.ts'), logLevel: 'warn' })
    } finally {
      rmSync(LOCK, { recursive: true })
    }
  }
  // another process may have written the page, and not yet the rest
  while (lockedSince() !== undefined) await delay(50)
}

function isStale(): boolean {
  const built = changedAt(BUILT)
  const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('dist'),
  )
  return built === undefined || sources.some((name) => (changedAt(resolve(ROOT, name)) ?? 0) > built)
}

function takeLock(): boolean {
  if (systemClock.wall() - (lockedSince() ?? Infinity) > LEFT_BEHIND_MS)
    rmSync(LOCK, { recursive: true, force: true })
  try {
    mkdirSync(LOCK)
    return true
  } catch {
    return false
  }
}

const lockedSince = () => changedAt(LOCK)

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}
