/** What a state means to somebody who looks from afar. */
export type Tone = 'good' | 'watch' | 'bad' | 'plain'

export const INK = '#1f2937'
export const FAINT = '#57606a'
export const GUARD = '#1d4ed8'
export const LINE = '#8c959f'
export const PAPER = '#ffffff'

export const TONES: Readonly<
  Record<Tone, { readonly fill: string; readonly around: string; readonly line: string }>
> = {
  good: { fill: '#d7f5dd', around: '#f1fbf3', line: '#2da44e' },
  watch: { fill: '#fdf0c4', around: '#fffaeb', line: '#bf8700' },
  bad: { fill: '#ffdedb', around: '#fff5f4', line: '#cf222e' },
  plain: { fill: '#eaeef2', around: '#f6f8fa', line: '#6e7781' },
}

/** Each colour of paper, and its counterpart where the page around a chart is dark. */
const DARK: Readonly<Record<string, string>> = {
  [INK]: '#e6e8e4',
  [FAINT]: '#a5aca8',
  [GUARD]: '#9cc0ff',
  [LINE]: '#667069',
  [PAPER]: '#15181a',
  [TONES.good.fill]: '#1b3325',
  [TONES.good.around]: '#161f1a',
  [TONES.good.line]: '#3d9a5f',
  [TONES.watch.fill]: '#3a2f14',
  [TONES.watch.around]: '#211d12',
  [TONES.watch.line]: '#b98a2c',
  [TONES.bad.fill]: '#40201f',
  [TONES.bad.around]: '#221817',
  [TONES.bad.line]: '#d0605a',
  [TONES.plain.fill]: '#2a2f33',
  [TONES.plain.around]: '#1c2023',
  [TONES.plain.line]: '#7d8790',
}

/**
 * Style that follows the page: within HTML its `color-scheme`, as a picture the reader's own. What does not know
 * `light-dark()` keeps the colours of paper.
 */
export function themeOf(svg: string): string {
  const rules = Object.entries(DARK).flatMap(([light, dark]) =>
    (['fill', 'stroke'] as const)
      .filter((trait) => svg.includes(`${trait}="${light}"`))
      .map((trait) => `.statechart [${trait}="${light}"] { ${trait}: light-dark(${light}, ${dark}); }`),
  )
  return ['svg:root { color-scheme: light dark; }', ...rules].join('\n')
}
