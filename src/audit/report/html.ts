import type { Block, ReportDocument } from './document.ts'
import { PLACE, sealed } from '../sign/seal.ts'
import { css, footCss } from './page-style.ts'

/** A report as one HTML file that asks the network for nothing. */
export function toHtmlReport({ title, lead, blocks, foot, signature, seal }: ReportDocument): string {
  const contents = blocks.flatMap((block) =>
    block.kind === 'heading' && block.level === 2
      ? [`<li><a href="#${block.id}">${inline(block.text)}</a></li>`]
      : [],
  )
  return sealed(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<style>${css}${footCss(foot)}</style>
</head>
<body>
<header>
<h1>${escape(title)}</h1>
<p class="lead">${inline(lead)}</p>
<nav aria-label="Contents"><ol>${contents.join('')}</ol></nav>
</header>
<main>
${sections(blocks)}
</main>
<!-- ${signature} -->
<!-- ${PLACE} -->
</body>
</html>
`,
    seal,
  )
}

/** Everything under a heading of the second level is one section. */
function sections(blocks: readonly Block[]): string {
  const out: string[] = []
  let open = false
  let under = ''
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level === 2) {
      if (open) out.push('</section>')
      out.push(`<section${block.beginsAnnex === true ? ' class="annex"' : ''} aria-labelledby="${block.id}">`)
      open = true
    }
    if (block.kind === 'heading')
      under = block.level === 2 ? block.text : `${under.split(': ')[0]}: ${block.text}`
    out.push(render(block, under))
  }
  return [...out, ...(open ? ['</section>'] : [])].join('\n')
}

/** `under` is what stands above it. */
function render(block: Block, under: string): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level} id="${block.id}">${inline(block.text)}</h${block.level}>`
    case 'text':
      return `<p>${inline(block.text)}</p>`
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`
    case 'table':
      return table(block.head, block.rows, under)
    case 'figures':
      return `<ul class="figures">${block.figures
        .map(
          ({ value, label, tone = 'plain' }) =>
            `<li class="${tone}"><b>${inline(value)}</b> <span>${inline(label)}</span></li>`,
        )
        .join('')}</ul>`
    case 'answers':
      return `<dl>${block.answers
        .map(({ question, answer }) => `<div><dt>${inline(question)}</dt><dd>${inline(answer)}</dd></div>`)
        .join('')}</dl>`
    case 'chart':
      return `<figure${block.isWide === true ? ' class="wide"' : ''} tabindex="0" aria-label="${escape(block.caption)}"><div class="paper">${block.svg}</div><figcaption>${inline(block.caption)}</figcaption></figure>`
    case 'story':
      return story(block)
    case 'finding':
      return `<article class="finding ${block.severity}"><h3><span class="tag">${block.severity}</span> ${inline(block.title)}</h3><p>${inline(block.text)}</p><p class="why">${inline(block.reason)}</p>${block.remedy === '' ? '' : `<p class="remedy">${inline(block.remedy)}</p>`}</article>`
    case 'lines':
      return `<div class="lines">${block.labels.map((label) => `<p><span>${escape(label)}</span><i></i></p>`).join('')}</div>`
  }
}

function story({ title, note, story: told }: Extract<Block, { kind: 'story' }>): string {
  const steps =
    told === undefined
      ? ''
      : `<ol class="steps">${[
          ...told.given.map((text, i) => [i === 0 ? 'Given' : 'And', lower(text)]),
          ['When', told.when],
          ['Then', told.result],
        ]
          .map(([word, text]) => `<li><b>${word}</b> ${inline(text ?? '')}</li>`)
          .join('')}</ol>`
  return `<article class="story"><h4>${inline(title)}</h4>${note === '' ? '' : `<p>${inline(note)}</p>`}${steps}</article>`
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function table(head: readonly string[], rows: readonly (readonly string[])[], label: string): string {
  const top = head.map((text) => `<th scope="col">${inline(text)}</th>`).join('')
  const body = rows
    .map(
      ([first = '', ...rest]) =>
        `<tr><th scope="row">${inline(first)}</th>${rest.map((text) => `<td>${inline(text)}</td>`).join('')}</tr>`,
    )
    .join('\n')
  return `<div class="scroll" tabindex="0" role="region" aria-label="Table: ${escape([label, ...head.slice(0, 2)].join(', '))}"><table><thead><tr>${top}</tr></thead><tbody>\n${body}\n</tbody></table></div>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

const inline = (text: string) =>
  escape(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
