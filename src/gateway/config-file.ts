import { LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml'
import type { Document, Node } from 'yaml'

export type Path = readonly (string | number)[]

/** A parsed file that still knows its lines. */
export interface ConfigFile {
  readonly document: Document
  /** The line of the deepest part of a path that stands in the file. */
  lineOf(path: Path): number
  lineOfNode(node: Node): number
  /** Faults of the syntax. */
  readonly faults: readonly { readonly line: number; readonly message: string }[]
}

/** Reads YAML, of which JSON is a part. */
export function parseFile(text: string): ConfigFile {
  const lines = new LineCounter()
  // a pretty error would show the line, and with it perhaps a key
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  const lineOfNode = (node: Node) => lineAt(node.range?.[0])
  return {
    document,
    lineOfNode,
    lineOf(path) {
      for (let depth = path.length; depth > 0; depth--) {
        const node = nodeAt(document, path.slice(0, depth))
        if (node !== undefined) return lineOfNode(node)
      }
      return document.contents === null ? 1 : lineOfNode(document.contents as Node)
    },
    faults: document.errors.map(({ message, pos }) => ({ line: lineAt(pos[0]), message })),
  }
}

/** The key of a mapping's entry, or the entry of a list. */
function nodeAt(document: Document, path: Path): Node | undefined {
  const last = path.at(-1)
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(last))
    return isNode(pair?.key) ? pair.key : undefined
  }
  const node = document.getIn(path, true)
  return isNode(node) ? node : undefined
}
