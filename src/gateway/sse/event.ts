/** Name and data of an event; no data = a comment, or nothing at all. */
export interface SseEvent {
  readonly name: string | undefined
  readonly data: string | undefined
}

// the first event may begin with the mark of UTF-8, which in Latin-1 is three letters
const MARK = /^(?:\u{feff}|\u{ef}\u{bb}\u{bf})/u

/** Reads one event, with the blank line that ends it or without. */
export function dataOf(event: string): SseEvent {
  if (event.startsWith('data: {') && event.indexOf('\n') === event.length - 2) {
    return { name: undefined, data: event.slice(6, -2) }
  }
  let name: string | undefined
  let data: string | undefined
  for (const line of event.replace(MARK, '').split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('event:')) {
      name = line.slice(6).trim()
    }
  }
  return { name, data: data?.trim() === '' ? undefined : data?.trim() }
}
