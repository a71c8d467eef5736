/**
 * Puts another model into the text of a JSON object and leaves every other character as it is: writing the parsed
 * object anew would change numbers such as a 64-bit seed. `text` must be valid JSON.
 */
export function setModel(text: string, model: string): string {
  const value = JSON.stringify(model)
  let result = ''
  let kept = 0
  for (const [start, end] of modelSpans(text)) {
    result += text.slice(kept, start) + value
    kept = end
  }
  if (kept > 0) return result + text.slice(kept)
  const inside = text.indexOf('{') + 1
  const comma = /^\s*\}/.test(text.slice(inside)) ? '' : ','
  return `${text.slice(0, inside)}"model":${value}${comma}${text.slice(inside)}`
}

/** Where the values of the outermost `model` stand. A key may be there twice; the last one counts for most readers. */
function* modelSpans(text: string): Generator<[number, number]> {
  let depth = 0
  let key: string | undefined
  let start = -1
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '"') {
      const end = endOfString(text, i)
      if (depth === 1 && start < 0) key = text.slice(i, end)
      i = end - 1
    } else if (char === '{' || char === '[') {
      depth++
    } else if (depth === 1 && char === ':') {
      start = i + 1
    } else if (depth === 1 && (char === ',' || char === '}')) {
      if (start >= 0 && isModel(key)) yield trimmed(text, start, i)
      start = -1
      if (char === '}') return
    } else if (char === '}' || char === ']') {
      depth--
    }
  }
}

const isModel = (key: string | undefined) =>
  key === '"model"' || (key?.includes('\\') === true && JSON.parse(key) === 'model')

function trimmed(text: string, start: number, end: number): [number, number] {
  const value = text.slice(start, end)
  return [start + (value.length - value.trimStart().length), end - (value.length - value.trimEnd().length)]
}

/** The place after the closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}
