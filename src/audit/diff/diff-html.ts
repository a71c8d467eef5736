import { escapeHtml } from '../timeline/escape.ts'
import { list, page, paragraph, section } from '../timeline/page.ts'
import { storyLines } from './tell-difference.ts'
import type { ToldDifference } from './tell-difference.ts'

/** A difference as one HTML file. */
export function diffHtml({ outcome, sections }: ToldDifference): string {
  return page('What changes from A to B', [
    paragraph(outcome),
    ...sections.map(({ title, lines, stories }) =>
      section(
        title,
        ...(lines.length === 0 ? [] : [list(lines)]),
        ...(stories.length === 0 ? [] : [paragraph('The shortest ways to see it:')]),
        ...stories.map((story) => `<pre>${escapeHtml(storyLines(story).join('\n'))}</pre>`),
      ),
    ),
  ])
}
