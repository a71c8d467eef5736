import { themeOf } from './chart-colours.ts'
import { FONT } from './dot-labels.ts'

// Verdana is as wide; Arial and what a system has of its own are narrower
const FONTS = `${FONT}, Verdana, Geneva, Arial, sans-serif`

export interface SvgWords {
  /** Keeps the ids of two pictures on one page apart. */
  readonly id: string
  readonly title: string
  readonly description: string
}

/**
 * Draws DOT as an SVG that stands by itself: title and description for screen readers, no links, and nothing that
 * changes from run to run.
 */
export async function toSvg(dot: string, { id, title, description }: SvgWords): Promise<string> {
  const { instance } = await import('@viz-js/viz')
  const drawn = (await instance()).renderString(dot, { format: 'svg' })
  const head = [
    `<title id="title:${id}">${escape(title)}</title>`,
    `<desc id="description:${id}">${escape(description)}</desc>`,
    `<style>\n${themeOf(drawn)}\n</style>`,
  ].join('\n')
  return (
    drawn
      .slice(drawn.indexOf('<svg'))
      .replace(
        /^<svg width="([\d.]+)pt" height="([\d.]+)pt"\s+viewBox="([^"]+)"[^>]*>/,
        (_all, width, height, box) =>
          `<svg xmlns="http://www.w3.org/2000/svg" class="statechart" role="img" aria-labelledby="title:${id} description:${id}" width="${width}" height="${height}" viewBox="${box}">\n${head}`,
      )
      .replaceAll(/^<!--.*-->\n/gm, '')
      .replaceAll(/<title>[^<]*<\/title>\n/g, '')
      // Graphviz tells a tooltip through a link; a title does it without one
      .replaceAll(
        /<g id="a_(edge:[^"]*)"><a [^>]*?xlink:title="([^"]*)">/g,
        '<g id="$1" class="transition"><title>$2</title>',
      )
      .replaceAll(/<g id="a_[^"]*"><a [^>]*?xlink:title="([^"]*)">/g, '<g><title>$1</title>')
      .replaceAll(/<\/a>\n<\/g>/g, '</g>')
      .replaceAll(`font-family="${FONT}"`, `font-family="${FONTS}"`)
      .replaceAll(' xml:space="preserve"', '')
  )
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
