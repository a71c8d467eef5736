import { isBag, isFilled, items, keys, read } from './safe-read.ts'
import { identifiersIn, isCode, isHtml, jsonIn, normalise, toToken } from './text.ts'

/** All an error says about itself, gathered from its causes, bodies and details; outermost first. */
export interface Evidence {
  /** The objects met on the way. */
  readonly nodes: readonly unknown[]
  /** Status numbers of any kind, 100 to 599. */
  readonly statuses: readonly number[]
  /** Codes, types and reasons as tokens. */
  readonly codes: readonly string[]
  /** JSON-RPC codes: −32768 to −32000. */
  readonly rpcCodes: readonly number[]
  /** Class names and error names as tokens. */
  readonly names: readonly string[]
  /** Human texts as written, and normalised. */
  readonly texts: readonly string[]
  readonly words: readonly string[]
}

const MAX_DEPTH = 10
const MAX_NODES = 80

const statusKeys = [
  'status',
  'statusCode',
  'status_code',
  'httpStatusCode',
  'http_status',
  'originalStatusCode',
]
const codeKeys = [
  'code',
  'type',
  'status',
  'error',
  'reason',
  'error_type',
  'error_code',
  'errorCode',
  'lc_error_code',
  '__type',
  'quotaId',
  'blockReason',
]
const textKeys = [
  'message',
  'msg',
  'error',
  'status',
  'detail',
  'error_description',
  'error_message',
  'title',
  'raw',
]
const childKeys = [
  'cause',
  'lastError',
  'error',
  'errors',
  'body',
  'responseBody',
  'response',
  'data',
  'detail',
  'details',
  'innererror',
  'metadata',
  '$metadata',
  '$response',
  'violations',
  'promptFeedback',
  'incomplete_details',
  'provider_specific_fields',
  'result',
]
/** Fields whose mere presence is a code. */
const markerKeys = ['flagged_input']
const plainNames = new Set(['', 'Object', 'Error', 'Array'])

class Gatherer implements Evidence {
  readonly nodes: unknown[] = []
  readonly statuses: number[] = []
  readonly codes: string[] = []
  readonly rpcCodes: number[] = []
  readonly names: string[] = []
  readonly texts: string[] = []
  readonly words: string[] = []
  readonly #seen = new Set<unknown>()
  #queue: { readonly value: unknown; readonly depth: number }[] = []

  gather(root: unknown): this {
    this.#enqueue(root, 0)
    // Breadth first: what stands nearer to the surface was said last, by someone who knew more.
    for (let next = this.#queue.shift(); next && this.nodes.length < MAX_NODES; next = this.#queue.shift()) {
      this.#visit(next.value, next.depth)
    }
    return this
  }

  #enqueue(value: unknown, depth: number): void {
    if (typeof value === 'string') return this.#say(value, depth)
    if (!isBag(value) || depth > MAX_DEPTH || this.#seen.has(value)) return
    this.#seen.add(value)
    this.#queue.push({ value, depth })
  }

  #visit(node: unknown, depth: number): void {
    this.nodes.push(node)
    this.#name(read(node, 'name'))
    this.#name(read(read(node, 'constructor'), 'name'))
    for (const key of statusKeys) this.#number(read(node, key))
    for (const key of codeKeys) this.#code(read(node, key))
    for (const key of markerKeys) if (read(node, key) !== undefined) this.codes.push(toToken(key))
    for (const key of textKeys) {
      const text = read(node, key)
      if (isFilled(text) && (key === 'message' || !isCode(text))) this.#say(text, depth)
    }
    for (const item of items(node)) this.#enqueue(item, depth + 1)
    // The cause of an open circuit is the error that tripped it, perhaps long ago: not this call's.
    if (this.codes.includes('errcircuitopen')) return
    const retried = read(node, 'lastError') !== undefined
    for (const key of childKeys) {
      if (key === 'errors' && retried) continue
      const child = read(node, key)
      if (isBag(child) || ((key === 'body' || key === 'responseBody') && isFilled(child))) {
        this.#enqueue(child, depth + 1)
      }
    }
    // AWS event streams key an exception by its name.
    for (const key of keys(node)) {
      if (!key.endsWith('Exception')) continue
      this.codes.push(toToken(key))
      this.#enqueue(read(node, key), depth + 1)
    }
  }

  #name(value: unknown): void {
    if (isFilled(value) && value.length <= 100 && !plainNames.has(value)) this.names.push(toToken(value))
  }

  #number(value: unknown): void {
    const number = typeof value === 'string' && /^-?\d{3,5}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number') return
    if (number >= 100 && number <= 599) this.statuses.push(number)
    if (number >= -32_768 && number <= -32_000) this.rpcCodes.push(number)
  }

  #code(value: unknown): void {
    this.#number(value)
    if (isFilled(value) && isCode(value)) this.codes.push(toToken(value))
  }

  #say(text: string, depth: number): void {
    if (this.texts.length >= MAX_NODES || isHtml(text)) return
    const json = jsonIn(text)
    const human = json ? json.prefix : text
    if (json) this.#enqueue(json.value, depth + 1)
    if (human.trim() === '') return
    this.texts.push(human.slice(0, 4096))
    this.words.push(normalise(human))
    for (const identifier of identifiersIn(human)) this.codes.push(toToken(identifier))
  }
}

/** Gathers the evidence of an error. Bounded in depth and breadth; never throws on hostile objects. */
export const gatherEvidence = (error: unknown): Evidence => new Gatherer().gather(error)
