import { isAlias, isCollection, isMap, isNode, isScalar, visit } from 'yaml'
import type { Document, LineCounter, Node, Pair, Scalar } from 'yaml'
import { NO_SPACE_AFTER_DASH, noColon, noSpace } from './block-mends.ts'
import { excerpt, nameable } from './excerpt.ts'
import { parseYaml, syntaxFaults } from './syntax-faults.ts'
import type { SyntaxFault } from './syntax-faults.ts'

/** Where something stands in a file: keys and places in lists. */
export type YamlPath = readonly (string | number)[]

/** Something that makes a text no YAML, or another one than was meant, and where to look. Shows no secret. */
export interface YamlFault extends SyntaxFault {
  /** The line, with a mark below the place. */
  readonly excerpt: string
}

const TOO_MUCH = 'stands for too much, use fewer aliases (*name)'

// whoever writes several words means an apostrophe
const HALF_QUOTED = /^[^\s"']+["']$/

/** A YAML text, of which JSON is a part, that still knows its lines. */
export class YamlFile {
  readonly document: Document
  readonly faults: readonly YamlFault[]
  readonly #counter: LineCounter
  readonly #lines: readonly string[]

  constructor(text: string) {
    const { document, counter } = parseYaml(text)
    this.document = document
    this.#counter = counter
    this.#lines = text.split(/\r?\n/)
    const faults = document.errors.length > 0 ? syntaxFaults(text) : this.#notMeant()
    this.faults = faults.map((fault) => this.#shown(fault)).toSorted((a, b) => a.line - b.line)
  }

  /** What it says, or why that cannot be told: aliases of aliases can make a small file fill the memory. */
  read():
    | { readonly value: unknown; readonly fault?: undefined }
    | { readonly value?: undefined; readonly fault: YamlFault } {
    try {
      return { value: this.document.toJS() as unknown }
    } catch {
      return { fault: this.#shown({ line: 1, column: 1, text: TOO_MUCH }) }
    }
  }

  /** The line of the deepest part of a path that stands in the file. */
  lineOf(path: YamlPath): number {
    for (let depth = path.length; depth > 0; depth--) {
      const node = nodeAt(this.document, path.slice(0, depth))
      if (node?.range) return this.#counter.linePos(node.range[0]).line
    }
    const { contents } = this.document
    return isNode(contents) && contents.range ? this.#counter.linePos(contents.range[0]).line : 1
  }

  #shown(fault: SyntaxFault): YamlFault {
    return { ...fault, excerpt: excerpt(this.#lines, fault.line, fault.column) }
  }

  /** What is YAML, and yet cannot be meant. */
  #notMeant(): SyntaxFault[] {
    const faults: SyntaxFault[] = []
    const add = (node: { range?: Node['range'] }, text: string, after = 0) => {
      const { line, col: column } = this.#counter.linePos((node.range?.[0] ?? 0) + after)
      faults.push({ line, column, text })
    }
    visit(this.document, {
      Node: (_, node) => {
        if (isAlias(node) && node.resolve(this.document) === undefined)
          add(
            node,
            'a value that starts with * stands for another one that there is not, put quotes around it',
          )
      },
      Scalar: (_, node) => {
        if (node.type === 'PLAIN' && typeof node.value === 'string' && HALF_QUOTED.test(node.value))
          add(
            node,
            'the value ends with a quote and does not begin with one, put quotes on both sides, or on none',
          )
      },
      Map: (_, map) => {
        for (const pair of map.items) {
          if (isCollection(pair.key))
            add(pair.key, 'a list or a mapping cannot be a key, look for a colon too many')
          this.#gluedKey(pair, map.flow === true, add)
        }
      },
    })
    for (const { pos, code } of this.document.warnings)
      if (code === 'TAG_RESOLVE_FAILED')
        add(
          { range: [pos[0], pos[1], pos[1]] },
          'a value that starts with ! is a tag in YAML, put quotes around it',
        )
    return faults
  }

  /** `{ port:4000 }`, `{ port 4000 }`, `retry { baseMs: 50 }` and `-name: a` are keys that nobody means. */
  #gluedKey(
    { key, value }: Pair,
    flow: boolean,
    add: (node: Scalar, text: string, after?: number) => void,
  ): void {
    if (!isScalar(key) || key.type !== 'PLAIN' || typeof key.value !== 'string') return
    if (/^-[A-Za-z]/.test(key.value)) return add(key, NO_SPACE_AFTER_DASH)
    const [, name = '', colon, bracket] = /^([\w$.-]+)(?:(:)(?!\/\/)| +)(?=([[{])|\S)/.exec(key.value) ?? []
    if (name === '' || (bracket === undefined && (!flow || value !== null))) return
    const { line } = this.#counter.linePos(key.range?.[0] ?? 0)
    const known = nameable(this.#lines, line, name)
    if (colon === undefined) add(key, noColon(known))
    else add(key, noSpace(known), name.length)
  }
}

/** The key of a mapping's entry, or the entry of a list. */
function nodeAt(document: Document, path: YamlPath): Node | undefined {
  const last = path.at(-1)
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(last))
    return isNode(pair?.key) ? pair.key : undefined
  }
  const node = document.getIn(path, true)
  return isNode(node) ? node : undefined
}
