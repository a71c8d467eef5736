import { statSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/notifier.ts'
import type { Verification } from './chain.ts'
import { ownDraft } from './journal-row.ts'
import type { Draft, StoredRow } from './journal-row.ts'
import type { Book, JournalFilter, JournalHealth } from './journal-store.ts'
import { MemoryBook } from './memory-book.ts'
import { latestInFile } from './read-only-file.ts'
import { SqliteFile } from './sqlite-file.ts'
import type { Retention } from './sqlite-file.ts'
import { toUnusable } from './unusable-file.ts'
import type { UnusableFile } from './unusable-file.ts'

/** Rows that memory holds while the file cannot be written; written in one go, a fraction of a second. */
const MOST_WAITING = 5000

const RETRY_MS = 10_000
const LOOK_AFTER_MS = 60_000

/** After so many rows retention looks at once, and goes on after a breath while it finds something. */
const LOOK_AFTER_ROWS = 256
const BREATH_MS = 50

// a full file is made smaller before what waits is written, but not without end
const MOST_STEPS_AT_ONCE = 20

/** The file cannot be written now. */
interface Trouble {
  readonly what: UnusableFile
  /** In ms of the wall clock. */
  readonly since: number
  readonly waiting: MemoryBook
  /** The file as it was refused; undefined = it may be tried again whatever it looks like. */
  readonly refused: string | undefined
}

/** What tells a file from one that was put in its place. */
function looksOf(path: string): string | undefined {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return undefined
  }
}

/** Rows in a file; in memory as long as the file cannot be written. */
export class SqliteBook implements Book {
  readonly #path: string
  readonly #retention: Retention
  readonly #clock: Clock
  readonly #logger: Logger
  /** How every circuit last stood, as far as this process knows. */
  readonly #known = new Map<string, StoredRow>()
  #file: SqliteFile | undefined
  #trouble: Trouble | undefined
  #timer: unknown
  #sinceLook = 0
  #closed = false

  constructor(path: string, retention: Retention, clock: Clock, logger: Logger) {
    this.#path = path
    this.#retention = retention
    this.#clock = clock
    this.#logger = logger
    this.#attach()
    // whoever writes the file now may be on its way out: its circuits are ours to go on with
    if (this.#trouble?.what.forGood === false)
      for (const row of latestInFile(path)) if (row.circuit !== null) this.#known.set(row.circuit, row)
  }

  append(draft: Draft): StoredRow {
    const row = this.#write(draft)
    this.#know(row)
    return row
  }

  #write(draft: Draft): StoredRow {
    if (this.#file !== undefined) {
      try {
        const row = this.#file.append(draft)
        if (++this.#sinceLook === LOOK_AFTER_ROWS) this.#arm(0)
        return row
      } catch (error) {
        this.#degrade(error)
      }
    }
    return this.#memory.append(draft)
  }

  #know(row: StoredRow): void {
    if (row.circuit === null) return
    if (row.type === 'breaker.evicted') this.#known.delete(row.circuit)
    else this.#known.set(row.circuit, row)
  }

  get #memory(): MemoryBook {
    return this.#trouble?.waiting ?? new MemoryBook(MOST_WAITING)
  }

  /** Reads the file; one that cannot be read is left alone from then on. */
  #read<T>(from: (file: SqliteFile) => T, otherwise: () => T): T {
    if (this.#file !== undefined) {
      try {
        return from(this.#file)
      } catch (error) {
        this.#degrade(error)
      }
    }
    return otherwise()
  }

  rows(filter: JournalFilter): StoredRow[] {
    return this.#read(
      (file) => file.rows.rows(filter),
      () => this.#memory.rows(filter),
    )
  }

  latest(): StoredRow[] {
    return this.#read(
      (file) => file.rows.latest(),
      () => [...this.#known.values()],
    )
  }

  verify(): Verification {
    return this.#read(
      (file) => file.rows.verify(),
      () => {
        const { what } = this.#trouble ?? {}
        const fault = { seq: 0, what: `and those after it cannot be followed: ${what?.message ?? 'closed'}` }
        return { ...this.#memory.verify(), ok: false, faults: [fault] }
      },
    )
  }

  get health(): JournalHealth {
    if (this.#trouble === undefined) return { state: 'ok' }
    const { what, since, waiting } = this.#trouble
    const { length } = waiting.kept
    return { state: 'degraded', reason: what.message, since, waiting: length, lost: waiting.lost }
  }

  #degrade(error: unknown): void {
    const head = this.#file?.head
    this.#letGo()
    const what = toUnusable(error)
    const refused = what.forGood ? looksOf(this.#path) : undefined
    const waiting = this.#trouble?.waiting ?? new MemoryBook(MOST_WAITING, head)
    const since = this.#trouble?.since ?? this.#clock.wall()
    const isNew = this.#trouble === undefined
    this.#trouble = { what, since, waiting, refused }
    this.#arm(RETRY_MS)
    if (!isNew) return
    const text = `the journal ${this.#path} cannot be used: ${what.message}. Circuits go on working; their transitions are kept in memory only (the newest ${MOST_WAITING}) and are written once the file can be used. A restart before that forgets them.`
    this.#log('error', { file: this.#path, reason: what.message }, text)
  }

  #letGo(): void {
    const file = this.#file
    this.#file = undefined
    try {
      file?.close()
    } catch {
      // what is wrong with it was told already
    }
  }

  #attach(): void {
    const refused = this.#trouble?.refused
    if (refused !== undefined && refused === looksOf(this.#path)) return this.#arm(RETRY_MS)
    let file: SqliteFile | undefined
    try {
      file = new SqliteFile(this.#path, this.#retention)
      this.#catchUp(file)
      for (const row of file.rows.latest()) this.#know(row)
    } catch (error) {
      this.#file = file
      return this.#degrade(error)
    }
    this.#file = file
    this.#trouble = undefined
    this.#sinceLook = 0
    this.#arm(LOOK_AFTER_MS)
  }

  /** Writes what waits for the file, and what a new file does not know. */
  #catchUp(file: SqliteFile): void {
    if (this.#trouble === undefined) return
    const now = this.#clock.wall()
    for (let i = 0; i < MOST_STEPS_AT_ONCE && file.prune(now); i++);
    const { what, since, waiting } = this.#trouble
    const { kept, lost } = waiting
    const inFile = new Set(file.rows.latest().map(({ circuit }) => circuit))
    const changed = new Map(waiting.latest().map(({ circuit, seq }) => [circuit, seq]))
    const first = kept[0]?.seq ?? 0
    // what changed meanwhile is told by the rows that follow, if memory could hold them
    const isUntold = ({ circuit }: StoredRow) => {
      const seq = changed.get(circuit)
      return seq === undefined ? !inFile.has(circuit) : seq < first
    }
    const carried = [...this.#known.values()].filter(isUntold)
    const story = { type: 'journal.interrupted', at: now, since, reason: what.message, lost } as const
    file.appendAll([ownDraft(story), ...carried.map((row) => carriedOver(row, now)), ...kept])
    const words = `the journal ${this.#path} is in use again: ${kept.length} rows written, ${lost} lost`
    this.#log('warn', { file: this.#path, written: kept.length, lost }, words)
  }

  #arm(ms: number): void {
    if (this.#closed) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(() => this.#lookAfter(), ms)
  }

  #lookAfter(): void {
    if (this.#trouble !== undefined) return this.#attach()
    this.#sinceLook = 0
    const more = this.#read(
      (file) => {
        file.checkPlace()
        return file.prune(this.#clock.wall())
      },
      () => undefined,
    )
    if (more !== undefined) this.#arm(more ? BREATH_MS : LOOK_AFTER_MS)
  }

  #log(level: 'warn' | 'error', fields: object, text: string): void {
    try {
      this.#logger[level](fields, text)
    } catch {
      // a logger that throws has nobody to tell
    }
  }

  close(): void {
    this.#closed = true
    this.#clock.clearTimeout(this.#timer)
    if (this.#trouble !== undefined && this.#trouble.waiting.kept.length > 0) this.#attach()
    const left = this.#trouble?.waiting.kept.length ?? 0
    if (left > 0) {
      const text = `the journal ${this.#path} could not be written to the end: ${left} rows are lost`
      this.#log('error', { file: this.#path, lost: left }, text)
    }
    this.#letGo()
  }
}

/** A circuit written down in a file that has not seen it, on the clocks of the row that it comes from. */
function carriedOver({ circuit, at, to, event, saved }: StoredRow, now: number): Draft {
  const { at: own } = JSON.parse(event) as { at: number }
  const text = JSON.stringify({ type: 'circuit.saved', at: now - (at - own) })
  return { at: now, circuit, type: 'circuit.saved', from: to, to, event: text, saved, call: null }
}
