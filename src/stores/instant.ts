const DATE_AND_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * A date, or a date and time, as ISO 8601 writes them, in ms since 1970. Without a zone it is UTC, as everything that is
 * printed here; digits beyond the milliseconds are cut off. NaN = it is none: JavaScript's own reader takes much else, and
 * a day that there is not for another one.
 */
export function parseInstant(text: string): number {
  const [, date, time = '00:00', fraction = '', zone = 'Z'] = DATE_AND_TIME.exec(text.trim()) ?? []
  if (date === undefined) return Number.NaN
  const day = Date.parse(`${date}T00:00Z`)
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) return Number.NaN
  const withSeconds = time.length === 5 ? `${time}:00` : time
  return Date.parse(`${date}T${withSeconds}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
}
