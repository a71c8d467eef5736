// what a terminal or a browser would obey instead of showing it: control characters, line ends, changes of direction
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu

/** Somebody else's words on one line, at most `most` long, with nothing in them that is obeyed instead of shown. */
export function cleanWords(text: string, most: number): string {
  const clean = text.toWellFormed().replaceAll(OBEYED, ' ').replaceAll(/ {2,}/g, ' ').trim()
  if (clean.length <= most) return clean
  // a character outside of the basic plane is not cut in two
  return `${clean.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
