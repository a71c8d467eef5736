import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { frontSvg } from '../../src/audit/replay/front-svg.ts'
import type { Spread } from '../../src/audit/replay/numbers.ts'
import { page } from '../../src/audit/timeline/page.ts'
import { COLUMNS, timelineSvg } from '../../src/audit/timeline/timeline-svg.ts'
import type { Mark, Timeline } from '../../src/audit/timeline/timeline-svg.ts'
import { replayCommand } from '../../src/cli/replay.ts'
import { simulateCommand } from '../../src/cli/simulate.ts'
import { hasBrowser } from '../dashboard/browser.ts'
import { timeFaultsOf } from './drawing-faults.ts'
import { picturesOn, useEyes } from './measured.ts'
import { asText, recordedRows } from './recorded.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const HOUR = 3_600_000
const long = (name: string) => `${name}-with-a-name-of-its-own-that-goes-on-and-on`

const timeline = (marks: readonly Mark[]): Timeline => ({
  title: 'A day',
  description: 'Nothing to see.',
  fromAt: 0,
  toAt: 10 * HOUR,
  marks,
  bands: ['primary', long('wide')].map((name) => ({
    name,
    spans: [{ state: 'open', fromAt: 0, toAt: HOUR }],
  })),
  graphs: ['calls', long('WWW')].map((name) => ({
    name,
    top: '1 234 567',
    lines: [
      { name: 'refused', tone: 'accent', shares: Array<number>(COLUMNS).fill(0.5) },
      { name: long('failed'), tone: 'bad', shares: Array<number>(COLUMNS).fill(0.2) },
    ],
  })),
  timeInWords: (at) => `12-${10 + Math.floor(at / HOUR)} 23:59`,
})
const mark = (name: string, from: number, to: number): Mark => ({
  name,
  fromAt: from * HOUR,
  toAt: to * HOUR,
})

const judged = (name: string, detectMs: number, needless: number) => {
  const spread = (mean: number): Spread => ({ mean, low: mean, high: mean })
  return { name, numbers: { detectMs: spread(detectMs), needless: spread(needless) } }
}

describe.skipIf(!hasBrowser)('a picture of a stretch of time', () => {
  const see = useEyes()
  const faultsIn = async (html: string, count: number) => {
    const pictures = await see(html, async (shown) => {
      await shown.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
      return picturesOn(shown)
    })
    expect(pictures).toHaveLength(count)
    return pictures.flatMap(timeFaultsOf)
  }

  it.each([
    ['none', []],
    ['apart', [mark('primary', 1, 2), mark('backup', 6, 7)]],
    [
      'at the same time',
      [mark('primary', 3, 5), mark('backup', 3, 5), mark('third', 3.1, 4), mark('fourth', 3.2, 4)],
    ],
    ['one after the other', [mark('primary', 3, 3.1), mark('backup', 3.2, 3.3), mark('third', 3.4, 3.5)]],
    ['at the ends', [mark(long('first'), -1, 0.1), mark(long('last'), 9.9, 12)]],
  ])('keeps its words apart, with long names, where the marks are %s', async (_, marks) => {
    expect(await faultsIn(page('A day', [timelineSvg(timeline(marks))]), 1)).toEqual([])
  })

  it.each([
    ['two that are the same', [judged('one', 1000, 5), judged('two', 1000, 5)]],
    [
      'many that are alike',
      Array.from({ length: 8 }, (_, i) => judged(`policy-${i}.yaml`, 60_000 + i, 1e5 + i)),
    ],
    ['one alone', [judged(long('alone'), 1000, 5)]],
    [
      'some at the corners',
      [judged(long('a'), 1, 1), judged(long('b'), 1e6, 1e6), judged(long('c'), 1, 1e6), judged('d', 1e6, 1)],
    ],
  ])('keeps the names of policies apart: %s', async (_, policies) => {
    expect(await faultsIn(page('The front', [frontSvg(policies, [policies[0]!.name])]), 1)).toEqual([])
  })

  it('with words that overlap, or that leave it, is found out', async () => {
    const svg = timelineSvg(timeline([mark('primary', 3, 5)]))
    const broken = svg
      .replace(/(<text x=")[\d.]+("[^>]*>12-11 )/, '$1190$2')
      .replace(/(<text x=")[\d.]+("[^>]*>12-20 )/, '$1990$2')
      .replace('>calls<', `>${'calls '.repeat(12)}<`)
    expect(
      (await faultsIn(page('A day', [broken]), 1)).map((fault) => fault.replaceAll(/'[^']*'/g, '…')),
    ).toEqual(
      expect.arrayContaining(['a text leaves the picture', '… and … overlap', '… runs into what is drawn']),
    )
  })

  describe('of the commands', () => {
    let dir: string
    beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'pictures-'))))
    afterEach(() => rmSync(dir, { recursive: true }))

    async function htmlOf(command: typeof simulateCommand, args: readonly string[]): Promise<string> {
      const file = join(dir, 'report.html')
      const quiet = command().configureOutput({ writeOut: () => {}, writeErr: () => {} })
      await quiet.parseAsync([...args, '--html', file], { from: 'user' })
      return readFileSync(file, 'utf8')
    }

    it('simulate keeps its words apart', async () => {
      const file = join(dir, 'load.yaml')
      writeFileSync(
        file,
        `kind: load
name: An hour
duration: 1h
traffic: { rate: 2 }
switchgear: { targets: [{ name: ${long('primary')}, circuitBreaker: true }, { name: backup, circuitBreaker: true }] }
providers:
  ${long('primary')}: { latency: 400, faults: [{ at: 10m, for: 5m }, { at: 16m, for: 30m, slow: 5 }] }
  backup: { latency: 900, faults: [{ at: 10m, for: 5m, ratio: 0.2 }] }
`,
      )
      expect(await faultsIn(await htmlOf(simulateCommand, [file]), 1)).toEqual([])
    })

    it('replay of incidents keeps its words apart', async () => {
      const given = [
        '--incidents',
        join(FIXTURES, 'incidents.csv'),
        '--traffic',
        join(FIXTURES, 'traffic.csv'),
      ]
      const html = await htmlOf(replayCommand, [
        ...given,
        '--seeds',
        '1',
        '--policy',
        'default',
        '--policy',
        join(FIXTURES, 'rolling.yaml'),
      ])
      expect(await faultsIn(html, 5)).toEqual([])
    })

    it('replay of outcomes keeps its words apart', async () => {
      const file = join(dir, 'outcomes.jsonl')
      const ratio = (call: number) => (call >= 200 && call < 260 ? 1 : 0)
      writeFileSync(file, asText(recordedRows({ threshold: 3 }, { circuit: long('openai'), ratio })))
      const html = await htmlOf(replayCommand, [
        '--outcomes',
        file,
        '--seeds',
        '1',
        '--policy',
        'llmDefaults',
      ])
      expect(await faultsIn(html, 1)).toEqual([])
    })
  })
})
