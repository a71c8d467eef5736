/** A source of parts that a test feeds by hand. */
export class PartSource<Part = string> implements AsyncIterableIterator<Part, undefined> {
  /** How often somebody asked for a part. */
  reads = 0
  returned = 0
  readonly #ready: Promise<IteratorResult<Part, undefined>>[] = []
  readonly #waiting: ((result: Promise<IteratorResult<Part, undefined>>) => void)[] = []

  constructor(...parts: Part[]) {
    for (const part of parts) this.push(part)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Part, undefined>> {
    this.reads++
    const ready = this.#ready.shift()
    return ready ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  return(): Promise<IteratorResult<Part, undefined>> {
    this.returned++
    return Promise.resolve({ done: true, value: undefined })
  }

  push(part: Part): void {
    this.#give(Promise.resolve({ done: false, value: part }))
  }

  end(): void {
    this.#give(Promise.resolve({ done: true, value: undefined }))
  }

  fail(error: unknown): void {
    const failed = Promise.reject<IteratorResult<Part, undefined>>(error)
    failed.catch(() => {})
    this.#give(failed)
  }

  #give(result: Promise<IteratorResult<Part, undefined>>): void {
    const reader = this.#waiting.shift()
    if (reader === undefined) this.#ready.push(result)
    else reader(result)
  }
}
