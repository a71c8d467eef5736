import { cleanWords } from '../incident/clean-words.ts'
import { PLACE, sealed } from '../sign/seal.ts'
import type { Block, ReportDocument } from './document.ts'

/** A report as Markdown. Pictures are left out: the tables say the same. */
export function toMarkdownReport({ title, lead, blocks, signature, seal }: ReportDocument): string {
  const told = [
    `# ${inline(title)}`,
    inline(lead),
    ...blocks.flatMap(render),
    `<!-- ${signature} -->`,
    `<!-- ${PLACE} -->`,
  ]
  return sealed(`${told.join('\n\n')}\n`, seal)
}

function render(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${inline(block.text)}`]
    case 'text':
      return [inline(block.text)]
    case 'list':
      return [block.items.map((item) => `- ${inline(item)}`).join('\n')]
    case 'table':
      return [table(block.head, block.rows)]
    case 'figures':
      return [block.figures.map(({ value, label }) => `- **${inline(value)}** ${inline(label)}`).join('\n')]
    case 'answers':
      return [
        block.answers.map(({ question, answer }) => `**${inline(question)}** ${inline(answer)}`).join('\n\n'),
      ]
    case 'chart':
      return [inline(block.caption)]
    case 'story':
      return [[`**${inline(block.title)}** ${inline(block.note)}`.trimEnd(), ...steps(block)].join('\n')]
    case 'finding':
      return [
        `- **${block.severity}: ${inline(block.title)}**: ${inline(block.text)} *${inline(block.reason)}*${block.remedy === '' ? '' : ` ${inline(block.remedy)}`}`,
      ]
    case 'lines':
      return [block.labels.map((label) => `${inline(label)}: ______________________________`).join('\n\n')]
  }
}

function steps({ story }: Extract<Block, { kind: 'story' }>): string[] {
  if (story === undefined) return []
  const given = story.given.map((text, i) => `- ${i === 0 ? 'Given' : 'And'} ${inline(lower(text))}`)
  return ['', ...given, `- When ${inline(story.when)}`, `- Then ${inline(story.result)}`]
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(inCell).join(' | ')} |`).join('\n')
}

const inCell = (text: string) => inline(text).replaceAll('|', '\\|')

/** A text on one line: its code and bold are its own, all other signs are shown and mean nothing. */
const inline = (text: string) =>
  cleanWords(text.replaceAll(/\s*[\r\n]+/g, ' '))
    .split(/(?<!`)(`[^`]+`)(?!`)/)
    .map((part, i) => (i % 2 === 1 ? part : escaped(part)))
    .join('')

const escaped = (text: string) =>
  text
    .replaceAll(/[\\`[]/g, '\\$&')
    .replaceAll(/&(?=#?\w+;)/g, '&amp;')
    .replaceAll('<', '&lt;')
