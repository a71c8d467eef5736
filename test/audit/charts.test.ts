import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { forPeople } from '../../src/audit/chart-model.ts'
import { charts, modelOf } from '../../src/audit/charts.ts'
import { toDot } from '../../src/audit/dot.ts'
import { wrap } from '../../src/audit/dot-labels.ts'
import { toMermaid } from '../../src/audit/mermaid.ts'
import { toCsv, toMarkdown } from '../../src/audit/transition-table.ts'
import { stateNodes, writtenTransitions } from '../../src/testing/graph-seam.ts'
import { chartFiles } from '../../visualizations/chart-files.ts'

const folder = join(import.meta.dirname, '../../visualizations/charts')

let files: ReadonlyMap<string, string>
beforeAll(async () => {
  files = await chartFiles()
})

/** RFC 4180, read back by the book. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

const idsIn = (svg: string) => [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!)

describe('the generated charts', () => {
  it('are those in the repository', () => {
    expect(readdirSync(folder).sort()).toEqual([...files.keys()].sort())
    for (const [name, text] of files) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text)
  })

  it('come out the same a second time', async () => {
    expect(await chartFiles()).toEqual(files)
  })
})

describe.each(charts.map((chart) => [chart.machine.id, chart] as const))(
  'the chart of the %s',
  (id, chart) => {
    const model = modelOf(chart)
    const drawn = forPeople(model)
    const svg = () => files.get(`${id}.svg`)!

    it('knows every state and every written transition, once', () => {
      expect(model.states.map((state) => state.id).sort()).toEqual(
        stateNodes(chart.machine)
          .map((node) => node.id)
          .sort(),
      )
      const written = writtenTransitions(chart.machine).map(
        ({ source, event, index }) => `${source}/${event}/${index}`,
      )
      expect(model.transitions.map((each) => each.id).sort()).toEqual(written.sort())
    })

    it('leaves nothing without a sentence', () => {
      for (const state of model.states) expect(state.description, state.id).not.toBe('')
      for (const { id, description, guard, sentence } of model.transitions) {
        expect(description, id).not.toBe('')
        expect(sentence, id).not.toBe(guard)
      }
    })

    it('has every written transition once in its tables', () => {
      const [head, ...rows] = readCsv(toCsv(model))
      expect(head).toEqual([
        'id',
        'source',
        'event',
        'guard',
        'sentence',
        'target',
        'actions',
        'description',
        'plumbing',
      ])
      expect(rows).toEqual(
        model.transitions.map(
          ({ id, source, event, guard, sentence, target, actions, description, plumbing }) => [
            id,
            source,
            event,
            guard ?? '',
            sentence,
            target ?? '',
            actions.join(', '),
            description,
            plumbing ? 'yes' : 'no',
          ],
        ),
      )
      const lines = toMarkdown(model).split('\n')
      for (const { description } of model.transitions) {
        const same = model.transitions.filter((other) => other.description === description).length
        expect(
          lines.filter((line) => line.endsWith(`| ${description} |`)),
          description,
        ).toHaveLength(same)
      }
    })

    it('draws every state and every transition that is not plumbing, once', () => {
      const ids = idsIn(svg())
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids.filter((each) => each.startsWith('state:')).sort()).toEqual(
        model.states.map((state) => `state:${state.id}`).sort(),
      )
      expect(ids.filter((each) => each.startsWith('edge:')).sort()).toEqual(
        model.transitions
          .filter(({ plumbing }) => !plumbing)
          .map((each) => `edge:${each.id}`)
          .sort(),
      )
    })

    it('has an SVG that stands by itself', () => {
      expect(svg()).toContain(`role="img" aria-labelledby="title:${id} description:${id}"`)
      expect(svg()).toContain(`<title id="title:${id}">Statechart of the ${id}</title>`)
      expect(svg()).not.toMatch(/<a[ >]|xlink|<script|<!--|href/)
      expect(svg().match(/<g[ >]/g)).toHaveLength(svg().match(/<\/g>/g)!.length)
    })

    it('tells people nothing of plumbing', () => {
      for (const text of [svg(), toMermaid(drawn)]) {
        expect(text).not.toMatch(/resumed|cooldown\.elapsed|reading\.aged|generation/)
      }
    })

    it('has Mermaid text with every state and every transition', () => {
      const text = toMermaid(drawn)
      for (const state of model.states.slice(1)) {
        expect(text).toContain(`state "${state.name}" as ${state.id.replaceAll('.', '_')}`)
      }
      const ways = text.split('\n').filter((line) => / --> \w+ : [^:]+$/.test(line))
      for (const { source, target, event, sentence } of drawn.transitions) {
        const [from, to] = [source, target ?? source].map((id) => id.replaceAll('.', '_'))
        const found = ways.filter((line) => source === id || line.startsWith(`  ${from} --> ${to} : `))
        const told = found.filter(
          (line) => line.includes(event) && line.replaceAll('#58;', ':').includes(sentence),
        )
        expect(told.length, `${source} ${event}`).toBeGreaterThan(0)
      }
      // parallel ways share a label
      const ends = ways.map((line) => line.split(' : ')[0])
      expect(new Set(ends).size).toBe(ends.length)
    })

    it('has a configuration that names guards, actions and delays', () => {
      const config = files.get(`${id}.json`)!
      expect(JSON.parse(config)).toMatchObject({ id, initial: chart.machine.config.initial })
      for (const { guard, actions } of model.transitions) {
        for (const name of [guard ?? [], actions].flat()) expect(config).toContain(`"${name}"`)
      }
    })
  },
)

describe('the words of a chart', () => {
  it('carry the numbers of the policy', () => {
    expect(files.get('breaker.csv')).toContain('5 failures in a row')
    expect(files.get('breaker.csv')).toContain('after cooldown (30 s)')
  })

  it('break between words only', () => {
    expect(wrap('as soon as that is certain', 10)).toEqual(['as soon as', 'that is', 'certain'])
    expect(wrap('no timer and no success ends it.', 28)).toEqual(['no timer and no', 'success ends it.'])
    expect(wrap('unbreakable', 4)).toEqual(['unbreakable'])
    expect(wrap('two unbreakables', 4)).toEqual(['two', 'unbreakables'])
  })

  it('survive quotes, commas, lines and tags', () => {
    const [chart] = charts
    const model = modelOf(chart!)
    const nasty = 'a "b", <c> & d | e\r\nf'
    const [first] = model.transitions
    const changed = { ...model, transitions: [{ ...first!, description: nasty, sentence: nasty }] }
    expect(readCsv(toCsv(changed))[1]![7]).toBe(nasty)
    expect(toMarkdown(changed)).toContain(' | a "b", <c> & d \\| e f |')
    expect(toDot(changed)).toContain('&lt;c&gt; &amp; d')
  })
})
