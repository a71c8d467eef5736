/** What one read of a body gives. */
export type ReadResult = { readonly done: boolean; readonly value?: Uint8Array | undefined }

/** The body of a response, read once, with what was looked at before its turn. Locked at the first read. */
export class Source {
  // undici cancels the body of a response that was collected, so the response has to stay
  readonly #response: Response
  #reader: { read(): Promise<ReadResult>; cancel(reason?: unknown): Promise<void> } | undefined
  readonly #seen: Promise<ReadResult>[] = []

  constructor(response: Response) {
    this.#response = response
  }

  #read(): Promise<ReadResult> {
    this.#reader ??= (this.#response.body as ReadableStream<Uint8Array>).getReader()
    return this.#reader.read()
  }

  next(): Promise<ReadResult> {
    return this.#seen.shift() ?? this.#read()
  }

  /** Reads ahead without taking: the next chunk that `next` has not given yet and `peek` has not shown. */
  peek(): Promise<ReadResult> {
    const read = this.#read()
    // whoever takes it hears of it; nobody may ever take it
    read.catch(() => {})
    this.#seen.push(read)
    return read
  }

  /** Tells the sender that nothing more is wanted. Never rejects. */
  async cancel(reason?: unknown): Promise<void> {
    try {
      await (this.#reader ?? this.#response.body)?.cancel(reason)
    } catch {
      // it is over either way
    }
  }
}
