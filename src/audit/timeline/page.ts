import { escapeHtml as text } from './escape.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1f2328, #e6e8e4); --faint: light-dark(#57606a, #a5aca8);
  --paper: light-dark(#fff, #15181a); --rim: light-dark(#d0d7de, #33383b); --room: light-dark(#f6f8fa, #1d2124);
  --good: light-dark(#2da44e, #3d9a5f); --good-soft: light-dark(#d7f5dd, #1b3325);
  --watch: light-dark(#bf8700, #b98a2c); --bad: light-dark(#cf222e, #d0605a); --accent: light-dark(#174ea6, #9cc0ff);
  --mark: light-dark(#ffdedb, #40201f); }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p, li { max-width: 46rem; } .faint, td small, th small { color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--rim); text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } td small, th small { display: block; font-weight: normal; }
td small { white-space: nowrap; } td.best { font-weight: 650; } .scroll { overflow-x: auto; }
section, details { overflow-x: auto; }
svg { width: 100%; min-width: 44rem; height: auto; display: block; margin: .5rem 0; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .tick, svg .mark-name { fill: var(--faint); font-size: 10px; }
svg .closed { fill: var(--good-soft); } svg .degraded { fill: var(--watch); opacity: .35; }
svg .half-open { fill: var(--watch); } svg .open { fill: var(--bad); }
svg .mark { fill: var(--mark); opacity: .55; } svg .axis { fill: none; stroke: var(--rim); }
svg path.line { fill-opacity: .25; stroke-width: 1; } svg tspan { font-size: 10px; }
svg path.bad { fill: var(--bad); stroke: var(--bad); } svg path.accent { fill: var(--accent); stroke: var(--accent); }
svg path.watch { fill: var(--watch); stroke: var(--watch); } svg tspan.watch { fill: var(--watch); }
svg path.good { fill: var(--good); stroke: var(--good); } svg path.faint { fill: var(--faint); stroke: var(--faint); }
svg tspan.bad { fill: var(--bad); } svg tspan.accent { fill: var(--accent); } svg tspan.good { fill: var(--good); }
svg tspan.faint { fill: var(--faint); } svg .dot { fill: var(--faint); } svg .dot.front { fill: var(--good); }
svg .impact-0, svg .impact-4 { fill: var(--faint); } svg .impact-1 { fill: var(--watch); }
svg .impact-2, svg .impact-3 { fill: var(--bad); } svg .refused { fill: var(--accent); }
details { border: 1px solid var(--rim); border-radius: 6px; padding: .3rem .8rem; margin: .4rem 0; background: var(--room); }
pre { white-space: pre-wrap; } summary { cursor: pointer; } .key { print-color-adjust: exact; display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.key.closed { background: var(--good-soft); } .key.degraded { background: color-mix(in srgb, var(--watch) 35%, var(--good-soft)); } .key.half-open { background: var(--watch); } .key.open { background: var(--bad); }
.key.mark { background: var(--mark); }
@media print { :root { color-scheme: light; } @page { margin: 14mm; } body { margin: 0; padding: 0; font-size: 10pt; } section, details { overflow: visible; } svg { min-width: 0; } details, svg, tr, pre { break-inside: avoid; } h2, h2 + p, p:has(+ svg), p:has(+ .scroll) { break-after: avoid; } details::details-content { content-visibility: visible; } .on-screen { display: none; } p { break-inside: avoid; orphans: 3; } .scroll { overflow: visible; } table { font-size: 8pt; } th:first-child { min-width: 9rem; } th, td { padding: .2rem .35rem; } td small { font-size: 6.5pt; } }`

/** What stands at the foot of every printed page. */
const footOf = (words: string) =>
  words === ''
    ? ''
    : `\n@page { @bottom-left { content: '${words.replaceAll(/[^\p{L}\p{N} .,:·–-]/gu, ' ')}'; font: 8pt system-ui, sans-serif; } @bottom-right { content: counter(page) ' / ' counter(pages); font: 8pt system-ui, sans-serif; } }`

/**
 * A page of its own: no script, nothing from elsewhere.
 *
 * @param foot what stands at the foot of every printed page. Default: the title.
 */
export function page(title: string, sections: readonly string[], foot = title): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)}</title>
<style>${STYLE}${footOf(foot)}
</style>
</head>
<body>
<h1>${text(title)}</h1>
${sections.join('\n')}
</body>
</html>
`
}

export const paragraph = (words: string): string => `<p>${text(words)}</p>`

export const list = (items: readonly string[]): string =>
  `<ul>${items.map((item) => `<li>${text(item)}</li>`).join('')}</ul>`

export const section = (title: string, ...parts: readonly string[]): string =>
  `<section><h2>${text(title)}</h2>${parts.join('\n')}</section>`

/** What the colours of the bands mean, and what is pointed out behind them. */
export function stateKey(mark?: string): string {
  const colours: readonly (readonly [string, string])[] = [
    ['closed', 'closed, calls flow'],
    ['degraded', 'degraded, calls flow'],
    ['half-open', 'half-open, probes only'],
    ['open', 'open, calls refused'],
    ...(mark === undefined ? [] : [['mark', mark] as const]),
  ]
  const keys = colours.map(([style, words]) => `<span class="key ${style}"></span> ${text(words)}`)
  return `<p class="faint">${keys.join(' · ')}</p>`
}

/** A cell: what it says, what stands small below it, and whether it is the best of its row. */
export interface Cell {
  readonly words: string
  readonly small?: string
  readonly best?: boolean
}

/** A table whose first column names the rows. */
export function htmlTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cell = ({ words, small = '', best = false }: Cell, i: number) => {
    const inside = `${text(words)}${small === '' ? '' : `<small>${text(small)}</small>`}`
    return i === 0 ? `<th scope="row">${inside}</th>` : `<td${best ? ' class="best"' : ''}>${inside}</td>`
  }
  const heads = head.map((words) => `<th scope="col">${text(words)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')
  return `<div class="scroll"><table><thead><tr>${heads}</tr></thead><tbody>\n${body}\n</tbody></table></div>`
}
