export interface SseEvent {
  readonly event: string
  readonly data: string
}

/** Server-sent events out of text that arrives in pieces. Comments are read over. */
export class SseReader {
  #rest = ''

  push(text: string): SseEvent[] {
    // a piece may end between the two characters of a line end
    const all = (this.#rest + text).replaceAll('\r\n', '\n')
    const end = all.lastIndexOf('\n\n')
    if (end < 0) {
      this.#rest = all
      return []
    }
    this.#rest = all.slice(end + 2)
    return all
      .slice(0, end)
      .split(/\n{2,}/)
      .flatMap(eventOf)
  }
}

function eventOf(block: string): SseEvent[] {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ event, data: data.join('\n') }]
}
