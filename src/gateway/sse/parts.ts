import type { PartKind } from '../../core/target-options.ts'

/** Some events of a stream as they came, and what they are together. */
export class SsePart {
  readonly bytes: Buffer
  readonly kind: PartKind

  constructor(bytes: Buffer, kind: PartKind) {
    this.bytes = bytes
    this.kind = kind
  }

  /** For whoever measures how much is held back. */
  get byteLength(): number {
    return this.bytes.length
  }
}

/** What a joined part is: the weightiest of its events. */
const WEIGHT: Readonly<Record<PartKind, number>> = {
  keepalive: 0,
  preamble: 1,
  content: 2,
  terminal: 3,
  error: 4,
}

/** Events of one block, joined where their reader sees no difference: each part costs a turn through the core. */
export class JoinedParts {
  readonly #bytes: Buffer
  readonly #parts: SsePart[]
  /** The reader has seen content before this block. */
  readonly #committed: boolean
  #start = 0
  #end = 0
  #kind: PartKind | undefined

  constructor(bytes: Buffer, committed: boolean, parts: SsePart[]) {
    this.#bytes = bytes
    this.#committed = committed
    this.#parts = parts
  }

  /** The next event, which ends at `end`. */
  add(kind: PartKind, end: number): void {
    const open = this.#kind
    const joins = open === undefined || this.#joins(open, kind)
    if (!joins) this.close()
    this.#kind = open !== undefined && joins && WEIGHT[open] > WEIGHT[kind] ? open : kind
    this.#end = end
  }

  #joins(open: PartKind, kind: PartKind): boolean {
    if (this.#committed || open === kind) return true
    return open === 'content' ? kind !== 'terminal' : open === 'preamble' && kind === 'content'
  }

  /** What is joined so far is a part. */
  close(): void {
    if (this.#kind !== undefined) {
      this.#parts.push(new SsePart(this.#bytes.subarray(this.#start, this.#end), this.#kind))
    }
    this.#start = this.#end
    this.#kind = undefined
  }
}
