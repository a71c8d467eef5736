import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { METRICS } from '../../src/telemetry/names.ts'

const LABELS = new Map(
  Object.values(METRICS).map(({ name, labels }) => [name as string, labels as readonly string[]]),
)

/** Name and labels in the order of the table: in which order they are written means nothing. */
function keyOf(written: string): string {
  const [, name = '', labels] = /^([^{]+)(?:\{(.*)\})?$/.exec(written) ?? []
  const pairs = [...(labels ?? '').matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map(([pair, label = '']) => ({
    pair,
    label,
  }))
  const own = LABELS.get(name) ?? LABELS.get(name.replace(/_(bucket|sum|count)$/, '')) ?? []
  const order = ['app', ...own, 'le']
  const sorted = pairs.toSorted((a, b) => order.indexOf(a.label) - order.indexOf(b.label))
  return sorted.length === 0 ? name : `${name}{${sorted.map(({ pair }) => pair).join(',')}}`
}

/** The samples of a text in Prometheus' format, by name and labels. A series twice is a fault of the text. */
export function samplesIn(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const end = line.lastIndexOf(' ')
    const key = keyOf(line.slice(0, end))
    if (samples.has(key)) throw new Error(`${key} is there twice`)
    samples.set(key, Number(line.slice(end + 1)))
  }
  return samples
}

/** Only those above 0 whose name begins like this. */
export const countedIn = (text: string, name: string) =>
  Object.fromEntries([...samplesIn(text)].filter(([key, n]) => key.startsWith(name) && n > 0))

const PROMTOOL = '/usr/bin/promtool'
export const hasPromtool = existsSync(PROMTOOL)

/** Said of a test that is left out without it. */
export const withPromtool = hasPromtool ? '' : ` (left out: ${PROMTOOL} is not installed)`

/** What promtool says, and whether it is content. */
export function promtool(args: readonly string[], input?: string): { ok: boolean; said: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, {
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  })
  return { ok: status === 0, said: `${stdout}${stderr}` }
}
