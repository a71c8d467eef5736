/** The part of a pino logger that we use. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} }

/**
 * Runs listeners after the commit: in order, one at a time, isolated from the call and from each other.
 * A listener may call back into the system; what that causes is told afterwards.
 */
export class Notifier {
  readonly logger: Logger
  #waiting: (() => void)[] = []
  #running = false

  constructor(logger: Logger) {
    this.logger = logger
  }

  /** Puts a notice behind the others. */
  add(notice: () => void): void {
    this.#waiting.push(notice)
  }

  /** Runs what is waiting. Never throws. */
  flush(): void {
    if (this.#running || this.#waiting.length === 0) return
    this.#running = true
    for (let notice = this.#waiting.shift(); notice !== undefined; notice = this.#waiting.shift()) {
      this.guard('a listener', notice)
    }
    this.#running = false
  }

  /** Makes a change as a whole: what it causes is told when it is complete. */
  commit<T>(change: () => T): T {
    if (this.#running) return change()
    this.#running = true
    try {
      return change()
    } finally {
      this.#running = false
      this.flush()
    }
  }

  /** Runs somebody else's code; what it throws is logged and goes no further. */
  guard(what: string, run: () => unknown): void {
    this.tell(what, run, undefined)
  }

  /** The same with something to tell, and without a closure for it. */
  tell<T>(what: string, run: (told: T) => unknown, told: T): void {
    try {
      const result = run(told)
      if (result instanceof Promise) result.catch((error: unknown) => this.report(what, error))
    } catch (error) {
      this.report(what, error)
    }
  }

  /**
   * Asks somebody else's code about an answer or an error. What it throws is logged without its text, which may be that
   * of the answer; a promise is no answer. undefined = it has not said anything.
   */
  ask<T>(what: string, question: () => T): T | undefined {
    try {
      const answer = question()
      if (!(answer instanceof Promise)) return answer
      answer.catch((error: unknown) => this.#log(what, kindOf(error)))
      return undefined
    } catch (error) {
      this.#log(what, kindOf(error))
      return undefined
    }
  }

  /** Logs an error that must not reach a call. */
  report(what: string, error: unknown): void {
    this.#log(what, textOf(error))
  }

  #log(what: string, message: string): void {
    try {
      const told: unknown = this.logger.error({ err: { message } }, `${what} threw: ${message}`)
      // a logger that throws has nobody to tell
      if (told instanceof Promise) told.catch(() => {})
    } catch {
      // neither has one that throws at once
    }
  }
}

/** What kind of thing was thrown, without its text; a name may be one, too. */
function kindOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error
    return /^[A-Z][A-Za-z]{1,40}$/.test(error.name) ? error.name : 'Error'
  } catch {
    return 'something'
  }
}

/** What was thrown, in words; whatever it is. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'something without a text'
  }
}
