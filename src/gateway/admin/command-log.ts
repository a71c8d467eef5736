import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/notifier.ts'
import { Allowance } from './allowance.ts'
import { cleanWords } from './words.ts'

/** A command, carried out or refused. */
export interface CommandNote {
  /** Whose token it was; undefined = nobody's. */
  readonly by: string | undefined
  readonly address: string
  /** Such as `POST /admin/circuits/openai/open`; the path as it came. */
  readonly action: string
  readonly circuit?: string | undefined
  readonly reason?: string | undefined
  readonly hold?: boolean | undefined
  readonly ttlMs?: number | undefined
  readonly status: number
  /** Why it was refused. */
  readonly refusal?: string | undefined
}

const STRANGERS = 30
const MINUTE_MS = 60_000

/** Tells the log of every command, who gave it and why. Strangers cannot flood it: thirty lines a minute are theirs. */
export class CommandLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #strangers: Allowance
  #untold = 0

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
    this.#strangers = new Allowance(STRANGERS, MINUTE_MS / STRANGERS, clock.now())
  }

  tell(note: CommandNote): void {
    if (note.by === undefined && !this.#strangers.take(this.#clock.now())) return void this.#untold++
    const { action, refusal } = note
    const what = cleanWords(action, 300)
    const who = note.by ?? `nobody known, from ${note.address}`
    const why = note.reason ? `: "${note.reason}"` : ''
    const untold = this.#untold === 0 ? {} : { untold: this.#untold }
    this.#untold = 0
    const fields = { ...note, action: what, ...untold }
    if (refusal === undefined) this.#logger.info(fields, `admin: ${who}: ${what}${why}`)
    else this.#logger.warn(fields, `admin: refused to ${who}: ${what}${why} (${note.status}: ${refusal})`)
  }
}
