import { escapeHtml } from './escape.ts'

/** Widths in em of DejaVu Sans, the widest of the fonts that a system may bring along. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[ijlI.,:;'|! ]/, 0.34],
  [/[frt()[\]/\\-]/, 0.42],
  [/[mwMW%@…→]/, 1],
  [/[A-Z]/, 0.73],
  [/[\u1100-\uffff]/, 1.05],
]

/** How wide a text may be at most, in units of the picture. */
export const widthOf = (text: string, size: number): number =>
  size * [...text].reduce((sum, sign) => sum + (WIDTHS.find(([signs]) => signs.test(sign))?.[1] ?? 0.65), 0)

/** A text, or as much of its beginning as has room. */
export function fitting(text: string, size: number, room: number): string {
  if (widthOf(text, size) <= room) return text
  const signs = [...text]
  while (signs.length > 0 && widthOf(`${signs.join('')}…`, size) > room) signs.pop()
  return `${signs.join('').trimEnd()}…`
}

/** The same as it may stand in SVG: what had no room is told to whoever points at it. */
export function inRoom(text: string, size: number, room: number): string {
  const shown = fitting(text, size, room)
  return shown === text ? escapeHtml(text) : `<title>${escapeHtml(text)}</title>${escapeHtml(shown)}`
}
