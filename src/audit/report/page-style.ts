/** How a report looks: light and dark, on a screen and on paper. */
export const css = `
:root { color-scheme: light dark;
  --ink: light-dark(#1f2328, #e6edf3); --faint: light-dark(#59636e, #9aa4af); --paper: light-dark(#ffffff, #0f1419);
  --panel: light-dark(#f6f8fa, #171d24); --line: light-dark(#d1d9e0, #333c46); --accent: light-dark(#0b57d0, #8ab4f8);
  --good: light-dark(#1a7f37, #56d364); --watch: light-dark(#8a5a00, #e3b341); --bad: light-dark(#b42318, #ff8e86); }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .8rem; padding-top: 2.2rem; }
h3 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
h4 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: 0 0 .8rem; max-width: 46rem; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; color: var(--faint); }
a { color: var(--accent); }
code { font: .9em ui-monospace, 'DejaVu Sans Mono', monospace; background: var(--panel); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
nav ol { display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; padding-left: 0; list-style-position: inside; margin: 1.2rem 0 0; } nav li { margin: 0; }
section { border-top: 1px solid var(--line); margin-top: 2.2rem; }
ul { padding-left: 1.2rem; margin: 0 0 1rem; } li { margin: .15rem 0; }
.figures { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; }
.figures li { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem; margin: 0; }
.figures b { display: block; font-size: 1.7rem; line-height: 1.15; } .figures span { color: var(--faint); font-size: .9rem; }
.figures .good b { color: var(--good); } .figures .watch b { color: var(--watch); } .figures .bad b { color: var(--bad); }
dl { margin: 0 0 1rem; } dl div { padding: .7rem 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 15rem 1fr; gap: 1.25rem; }
dl div:last-child { border-bottom: 0; } dt { font-weight: 600; } dd { margin: 0; }
.scroll { overflow-x: auto; margin: 0 0 1.2rem; border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; } thead th { background: var(--panel); white-space: nowrap; } tbody th { font-weight: 600; min-width: 7rem; } th code, td > code:only-child { white-space: nowrap; } td:not(:last-child) { min-width: 5.5rem; }
figure { margin: 0 0 1.2rem; } .paper { background: light-dark(#fff, #15181a); border: 1px solid var(--line); border-radius: 10px; padding: .5rem; overflow-x: auto; }
.paper svg { display: block; margin: 0 auto; max-width: 100%; height: auto; min-width: 44rem; } figcaption { color: var(--faint); font-size: .9rem; margin-top: .4rem; }
.finding { border: 1px solid var(--line); border-left: 5px solid var(--faint); border-radius: 8px; padding: .75rem 1rem; margin: 0 0 .7rem; }
.finding h3 { font-size: 1rem; margin: 0 0 .25rem; } .finding p { margin: 0 0 .3rem; } .finding .why { color: var(--faint); font-size: .93rem; margin: 0; } .finding .remedy { margin: .3rem 0 0; }
.problem { border-left-color: var(--bad); } .warning { border-left-color: var(--watch); } .question { border-left-color: var(--accent); }
.tag { font-size: .75rem; text-transform: uppercase; letter-spacing: .05em; border: 1px solid currentColor; border-radius: 99px; padding: .05rem .5rem; margin-right: .35rem; }
.problem .tag { color: var(--bad); } .warning .tag { color: var(--watch); } .question .tag { color: var(--accent); }
.story { padding: .8rem 0; border-bottom: 1px solid var(--line); } .story p { color: var(--faint); margin: 0 0 .35rem; }
.steps { list-style: none; padding: 0 0 0 .9rem; margin: 0; border-left: 3px solid var(--line); } .steps b { display: inline-block; min-width: 3.4rem; color: var(--accent); }
.lines p { display: flex; gap: 1rem; align-items: end; margin: 1.6rem 0 0; } .lines i { flex: 1; border-bottom: 1px solid var(--ink); } .lines span { min-width: 8rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) { dl div { grid-template-columns: 1fr; gap: .2rem; } h1 { font-size: 1.6rem; } }
@media print {
  :root { color-scheme: light; font-size: 9pt; } body { max-width: none; padding: 0; font-size: 1rem; line-height: 1.4; } p { max-width: none; }
  @page { margin: 16mm 16mm 18mm; } @page wide { size: landscape; } .wide, section:has(> .wide) > h2, p:has(+ .wide) { page: wide; } section:has(> .wide) { border: 0; margin: 0; } section:has(> .wide) > h2 { padding: 0; }
  a { color: inherit; text-decoration: none; } .scroll, .paper { overflow: visible; border: 0; padding: 0; border-radius: 0; }
  .paper svg { min-width: 0; max-height: 200mm; } .wide svg { max-height: 138mm; } .figures { grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); }
  thead { display: table-header-group; } thead th { white-space: normal; vertical-align: bottom; } th, td { padding: .25rem .45rem; } th:first-child { padding-left: 0; } table td:not(:last-child), tbody th { min-width: 0; } table code { background: none; padding: 0; }
  section { margin-top: 1rem; } h2 { padding-top: .9rem; margin-bottom: .5rem; font-size: 1.35rem; } h3 { margin: 1.1rem 0 .4rem; } dl div { padding: .4rem 0; gap: 1rem; grid-template-columns: 12rem 1fr; } .figures li { padding: .4rem .7rem; } .figures b { font-size: 1.3rem; } .finding { padding: .5rem .8rem; } .lines p { margin-top: 1.2rem; }
  .annex { break-before: page; } .annex, .annex ~ section { font-size: .92rem; } .annex ~ section { break-before: page; }
  .annex:not(:has(> .wide)), .annex ~ section:not(:has(> .wide)) { columns: 2; column-gap: 9mm; } .annex > :not(.story), .annex ~ section > :not(.story) { column-span: all; } .story { padding: .45rem 0; }
  h2, h3, h4, p:has(+ .scroll) { break-after: avoid; } p { break-inside: avoid; } tr:nth-child(-n + 3) { break-after: avoid; } tr:nth-last-child(-n + 2) { break-before: avoid; } tr, .finding, .story, figure, dl div, .figures li, section[aria-labelledby="sign-off"] { break-inside: avoid; }
}
`

/** What stands at the foot of every printed page, beside its number. */
export const footCss = (foot: string): string =>
  `@page { @bottom-left { content: "${inCss(foot)}"; ${SMALL} } @bottom-right { content: counter(page) " / " counter(pages); ${SMALL} } }\n`

const SMALL = "font: 8pt system-ui, 'DejaVu Sans', Arial, sans-serif; color: #59636e;"

const inCss = (text: string) =>
  text.replaceAll(/[^\p{L}\p{N} .,:·-]/gu, (sign) => `\\${sign.codePointAt(0)!.toString(16)} `)
