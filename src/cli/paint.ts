import { styleText } from 'node:util'

type Style = 'red' | 'yellow' | 'green' | 'magenta' | 'bold' | 'dim'

/** Puts a text into colour, or leaves it. */
export type Paint = (style: Style | readonly Style[], text: string) => string

export const plain: Paint = (_style, text) => text
export const coloured: Paint = (style, text) =>
  styleText(typeof style === 'string' ? style : [...style], text, { validateStream: false })

/** Colours are for people at a terminal who did not say no to them. */
export function paintFor(
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const unwanted = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return isTTY === true && !unwanted ? coloured : plain
}
