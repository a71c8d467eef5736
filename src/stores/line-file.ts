import { appendFileSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/notifier.ts'
import { closedSegments, segmentName } from './outcome-files.ts'

const FLUSH_MS = 1000
const FLUSH_CHARS = 65_536
// a disk that takes nothing any more must not fill the memory
const MOST_CHARS = 8 * 1_048_576
const SEGMENTS = 8
const DAY_MS = 86_400_000

export interface LineFileOptions {
  readonly file: string
  /** Closed files older than that are removed. */
  readonly keepMs: number
  /** All files together. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly logger: Logger
  /** The first line of every file. */
  readonly header: (at: number) => string
}

/**
 * Lines appended to a file, once a second and off the path of whoever writes them. A file that has grown or aged is closed
 * under a name of its own, and the oldest go. What cannot be written is dropped and counted; nothing is ever thrown.
 */
export class LineFile {
  /** Lines that were lost. */
  dropped = 0
  readonly #options: LineFileOptions
  #lines: string[] = []
  #chars = 0
  #size = 0
  #beganAt = 0
  #timer: unknown
  #writing: Promise<void> = Promise.resolve()
  #troubled = false
  #closed = false

  constructor(options: LineFileOptions) {
    this.#options = options
    this.#careful(() => {
      mkdirSync(dirname(options.file), { recursive: true })
      this.#begin()
    })
  }

  add(line: string): void {
    if (this.#closed || this.#chars > MOST_CHARS) {
      this.dropped++
      return
    }
    this.#lines.push(line)
    this.#chars += line.length + 1
    if (this.#chars >= FLUSH_CHARS) void this.flush()
    else this.#timer ??= this.#options.clock.setTimeout(() => void this.flush(), FLUSH_MS)
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const [text, count] = this.#take()
    if (count === 0) return
    try {
      this.#rotate()
      await appendFile(this.#options.file, text, { mode: 0o600 })
      this.#size += Buffer.byteLength(text)
      this.#troubled = false
    } catch (error) {
      this.#lost(count, error)
    }
  }

  #take(): [text: string, count: number] {
    const count = this.#lines.length
    const text = count === 0 ? '' : `${this.#lines.join('\n')}\n`
    this.#lines = []
    this.#chars = 0
    return [text, count]
  }

  #lost(count: number, error: unknown): void {
    this.dropped += count
    if (this.#troubled) return
    this.#troubled = true
    const reason = error instanceof Error ? error.message : String(error)
    const { file, logger } = this.#options
    logger.error({ file, err: { message: reason } }, `outcomes cannot be recorded in ${file}: ${reason}`)
  }

  /** Closes a file that has grown or aged, and begins another. */
  #rotate(): void {
    const { file, keepMs, maxBytes, clock } = this.#options
    const now = clock.wall()
    const old = now - this.#beganAt >= Math.min(DAY_MS, keepMs)
    if (this.#size < maxBytes / SEGMENTS && !old) return
    this.#careful(() => renameSync(file, this.#freeName(now)))
    this.#begin()
    this.#prune(now)
  }

  #freeName(now: number): string {
    const { file } = this.#options
    let at = now
    while (closedSegments(file).includes(segmentName(file, at))) at += 1000
    return segmentName(file, at)
  }

  #begin(): void {
    const { file, clock, header } = this.#options
    const now = clock.wall()
    const found = statSync(file, { throwIfNoEntry: false })
    this.#size = found?.size ?? 0
    this.#beganAt = found === undefined || found.size === 0 ? now : Math.min(now, found.birthtimeMs || now)
    const line = `${header(now)}\n`
    appendFileSync(file, line, { mode: 0o600 })
    this.#size += line.length
  }

  #prune(now: number): void {
    const { file, keepMs, maxBytes } = this.#options
    let kept = this.#size
    for (const name of closedSegments(file).toReversed()) {
      const { size, mtimeMs } = statSync(name)
      kept += size
      if (kept > maxBytes || now - mtimeMs > keepMs) this.#careful(() => rmSync(name, { force: true }))
    }
  }

  #careful(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#lost(0, error)
    }
  }

  /** Writes what waits, and takes nothing any more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }
}
