import { LineCounter, isAlias, isMap, isNode, isScalar, parseDocument, visit } from 'yaml'
import type { Document, Node } from 'yaml'

import type { Path } from './config-path.ts'

/** A parsed file that still knows its lines. */
export interface ConfigFile {
  readonly document: Document
  /** The line of the deepest part of a path that stands in the file. */
  lineOf(path: Path): number
  /** Faults of the syntax. */
  readonly faults: readonly { readonly line: number; readonly text: string }[]
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
    lineOf(path) {
      for (let depth = path.length; depth > 0; depth--) {
        const node = nodeAt(document, path.slice(0, depth))
        if (node !== undefined) return lineOfNode(node)
      }
      return document.contents === null ? 1 : lineOfNode(document.contents as Node)
    },
    faults: [
      ...withoutFollowers(document.errors).map(({ message, pos }) => ({
        line: lineAt(pos[0]),
        text: inWords(message, text.slice(pos[0] - 1, pos[0] + 1)),
      })),
      ...lostAliases(document).map((node) => ({
        line: lineOfNode(node),
        text: 'a value that starts with * stands for another one that there is not, put quotes around it',
      })),
    ],
  }
}

/** Once the document is broken, everything after it is in the wrong place. */
const withoutFollowers = <T extends { readonly message: string }>(errors: readonly T[]): readonly T[] => {
  const own = errors.filter(({ message }) => !/ in YAML stream/.test(message))
  return own.length === 0 ? errors : own.filter((error, i) => i === 0 || !AT_NODE_END.test(error.message))
}

const AT_NODE_END = /^Unexpected [\w-]+ at node end/

/** Some messages quote the file after a colon: a key that lacks its quotation marks would be shown. */
function inWords(message: string, found: string): string {
  if (found === '${') return 'put quotes around ${NAME} where it stands within { } or [ ]'
  if (message.startsWith('Source contains multiple documents'))
    return 'a second document begins here, put everything into one'
  return message.replace(/(?<=\S):\s[\s\S]*$/, '')
}

function lostAliases(document: Document): Node[] {
  const lost: Node[] = []
  if (document.errors.length > 0) return lost
  visit(document, (_, node) => {
    if (isAlias(node) && node.resolve(document) === undefined) lost.push(node)
  })
  return lost
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
