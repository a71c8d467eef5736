import { PLACE, sealed } from '../sign/seal.ts'
import type { Block, ReportDocument } from './document.ts'

/** A report as Markdown. Pictures are left out: the tables say the same. */
export function toMarkdownReport({ title, lead, blocks, signature, seal }: ReportDocument): string {
  const told = [`# ${title}`, lead, ...blocks.flatMap(render), `<!-- ${signature} -->`, `<!-- ${PLACE} -->`]
  return sealed(`${told.join('\n\n')}\n`, seal)
}

function render(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${block.text}`]
    case 'text':
      return [block.text]
    case 'list':
      return [block.items.map((item) => `- ${item}`).join('\n')]
    case 'table':
      return [table(block.head, block.rows)]
    case 'figures':
      return [block.figures.map(({ value, label }) => `- **${value}** ${label}`).join('\n')]
    case 'answers':
      return [block.answers.map(({ question, answer }) => `**${question}** ${answer}`).join('\n\n')]
    case 'chart':
      return [block.caption]
    case 'story':
      return [[`**${block.title}** ${block.note}`.trimEnd(), ...steps(block)].join('\n')]
    case 'finding':
      return [
        `- **${block.severity}: ${block.title}**: ${block.text} *${block.reason}*${block.remedy === '' ? '' : ` ${block.remedy}`}`,
      ]
    case 'lines':
      return [block.labels.map((label) => `${label}: ______________________________`).join('\n\n')]
  }
}

function steps({ story }: Extract<Block, { kind: 'story' }>): string[] {
  if (story === undefined) return []
  const given = story.given.map((text, i) => `- ${i === 0 ? 'Given' : 'And'} ${lower(text)}`)
  return ['', ...given, `- When ${story.when}`, `- Then ${story.result}`]
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(inCell).join(' | ')} |`).join('\n')
}

const inCell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s*\n/g, ' ')
