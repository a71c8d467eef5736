import { LineCounter, isNode, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { ConfigError } from '../../core/errors.ts'

/** Where in a file a value stands: keys and positions from the root. */
export type Path = readonly (string | number)[]

interface Fault {
  readonly path: string
  readonly line: number
  readonly what: string
  readonly right: string | undefined
}

/** `steps[2].expect` */
export const pathText = (path: Path) =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? key : `${text}.${key}`
  }, '')

/** A YAML text that knows its lines, and collects what is wrong with it. */
export class YamlSource {
  readonly value: unknown
  readonly #file: string
  readonly #lines = new LineCounter()
  readonly #document: Document
  readonly #faults: Fault[] = []

  /** @throws ConfigError for what is no YAML */
  constructor(text: string, file = 'scenario') {
    this.#file = file
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    for (const { message, pos } of this.#document.errors) {
      const { line } = this.#lines.linePos(pos[0])
      this.#faults.push({ path: 'yaml', line, what: `${message.replace(/\.$/, '')}.`, right: undefined })
    }
    this.throwFaults()
    this.value = this.#read()
    this.throwFaults()
  }

  /** An alias that leads nowhere, or to too much, is found only now. */
  #read(): unknown {
    try {
      return this.#document.toJS()
    } catch (error) {
      const what = `${(error as Error).message.replace(/\.$/, '')}.`
      this.#faults.push({ path: 'yaml', line: 1, what, right: undefined })
      return undefined
    }
  }

  /** The line of a value; of the nearest thing around it where it is missing. */
  lineOf(path: Path): number {
    for (let length = path.length; length > 0; length--) {
      const node = this.#document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return this.#lines.linePos(node.range[0]).line
    }
    return 1
  }

  /** Notes a fault: what is wrong and what would be right, as sentences. */
  fault(path: Path, what: string, right?: string): void {
    this.#faults.push({ path: pathText(path) || 'scenario', line: this.lineOf(path), what, right })
  }

  /** @throws ConfigError that names every fault, one a line */
  throwFaults(): void {
    const [first, ...others] = this.#faults.toSorted((a, b) => a.line - b.line)
    if (first === undefined) return
    const { path, line, right } = first
    const text = ({ path, line, what }: Fault) => `${this.#file}:${line} ${path}: ${what}`
    const whole = (fault: Fault) =>
      fault.right === undefined ? text(fault) : `${text(fault)} ${fault.right}`
    if (others.length > 0) throw new ConfigError([first, ...others].map(whole).join('\n'), { path, line })
    throw new ConfigError(text(first), { path, line, ...(right !== undefined && { hint: right }) })
  }
}
