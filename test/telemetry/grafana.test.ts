import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { loadCommand } from '../../src/cli/commands.ts'
import { ALERT_REASONS, toEvent } from '../../src/telemetry/alert-event.ts'
import { grafanaFiles } from '../../visualizations/grafana/grafana-files.ts'
import { metric } from '../../visualizations/grafana/queries.ts'
import { faultsIn, unknownLabels } from './promql.ts'
import { hasPromtool, promtool, withPromtool } from './support.ts'

const folder = resolve(import.meta.dirname, '../../visualizations/grafana')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

interface Target {
  readonly expr: string
  readonly legendFormat: string
  readonly datasource: { readonly uid: string }
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly Target[]
}
interface Dashboard {
  readonly id: null
  readonly uid: string
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly {
      name: string
      type: string
      multi: boolean
      query: unknown
      definition: string
    }[]
  }
  readonly annotations: {
    readonly list: readonly {
      name: string
      expr: string
      titleFormat: string
      textFormat: string
      useValueForTime: boolean
      datasource: { uid: string }
    }[]
  }
}
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: {
    readonly summary: string
    readonly description: string
    readonly runbook_url: string
  }
}
interface Tests {
  readonly tests: readonly {
    readonly name: string
    readonly input_series: readonly { readonly series: string }[]
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts: readonly unknown[]
    }[]
  }[]
}

const dashboard = JSON.parse(read('dashboard.json')) as Dashboard
const rules = (parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const tests = (parse(read('alerts.test.yaml')) as Tests).tests
const targets = dashboard.panels.flatMap((panel) =>
  (panel.targets ?? []).map((target) => ({ ...target, panel: panel.title })),
)
const annotations = dashboard.annotations.list
const variables = dashboard.templating.list

describe('the dashboard', () => {
  it.each([...grafanaFiles()])('%s is what the code makes', (name, text) => {
    expect(readFileSync(resolve(folder, '..', name), 'utf8'), 'npm run charts').toBe(text)
  })

  it('can be imported anywhere: its own uid, no id, no data source but the variable', () => {
    expect(dashboard).toMatchObject({ id: null, uid: 'switchgear' })
    const sources = [
      ...targets.map(({ datasource }) => datasource.uid),
      ...annotations.map(({ datasource }) => datasource.uid),
      ...dashboard.panels.flatMap(({ datasource }) => datasource?.uid ?? []),
    ]
    expect(new Set(sources)).toEqual(new Set(['${datasource}']))
    expect(variables.map(({ name, type, multi }) => [name, type, multi])).toEqual([
      ['datasource', 'datasource', false],
      ['instance', 'query', true],
      ['target', 'query', true],
    ])
  })

  it('asks only for metrics, labels and words that exist', () => {
    const asked = [
      ...targets.map(({ panel, expr }) => [panel, expr] as const),
      ...annotations.map(({ name, expr }) => [name, expr] as const),
      ...variables.flatMap(({ name, definition }) =>
        definition === undefined ? [] : [[name, definition] as const],
      ),
    ]
    expect(asked.length).toBeGreaterThan(25)
    expect(asked.flatMap(([where, expr]) => faultsIn(expr).map((fault) => `${where}: ${fault}`))).toEqual([])
  })

  it('names series by labels that they have', () => {
    const wrong = [
      ...targets.flatMap(({ panel, legendFormat, expr }) =>
        unknownLabels(legendFormat, expr).map((label) => `${panel}: ${label}`),
      ),
      ...annotations.flatMap(({ name, titleFormat, textFormat, expr }) =>
        unknownLabels(`${titleFormat} ${textFormat}`, expr).map((label) => `${name}: ${label}`),
      ),
    ]
    expect(wrong).toEqual([])
  })

  it('shows what it promises', () => {
    const shown = new Set(dashboard.panels.map(({ title }) => title))
    for (const title of [
      'State of the circuits',
      'Refused: calls saved',
      'Fallback traffic',
      'Failure ratio',
      'Duration of requests',
    ])
      expect(shown).toContain(title)
    expect(dashboard.panels.some(({ type }) => type === 'state-timeline')).toBe(true)
    expect(annotations.map(({ useValueForTime }) => useValueForTime)).toEqual([true, true])
  })

  it('has no two panels in one place, or with one id', () => {
    const panels = dashboard.panels
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const meet = ({ gridPos: a }: Panel, { gridPos: b }: Panel) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
    const pairs = panels.flatMap((a, i) =>
      panels
        .slice(i + 1)
        .filter((b) => meet(a, b))
        .map((b) => [a.title, b.title]),
    )
    expect(pairs).toEqual([])
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })

  it('cannot be written with a label that a metric does not have', () => {
    expect(() => metric('late', { reason: 'open' })).toThrow(
      'switchgear_late_outcomes_total has no label reason.',
    )
  })

  it.skipIf(!hasPromtool)(`holds only queries that Prometheus can read${withPromtool}`, () => {
    const filled = [...targets, ...annotations].map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h').replaceAll(/\$\w+/g, '.*'),
    )
    const recorded = filled.map((expr, i) => ({ record: `query_${i}`, expr }))
    const dir = mkdtempSync(join(tmpdir(), 'switchgear-'))
    try {
      const file = join(dir, 'queries.yaml')
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
      expect(promtool(['check', 'rules', file])).toMatchObject({ ok: true })
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})

describe('the alert rules', () => {
  it.skipIf(!hasPromtool)(`pass promtool${withPromtool}`, () => {
    expect(promtool(['check', 'rules', join(folder, 'alerts.yaml')])).toMatchObject({ ok: true })
  })

  it.skipIf(!hasPromtool)(`fire when they should, and not when they should not${withPromtool}`, () => {
    const { ok, said } = promtool(['test', 'rules', join(folder, 'alerts.test.yaml')])
    expect(said).toContain('SUCCESS')
    expect(ok).toBe(true)
  })

  it('ask only for metrics, labels and words that exist', () => {
    expect(rules.flatMap(({ alert, expr }) => faultsIn(expr).map((fault) => `${alert}: ${fault}`))).toEqual(
      [],
    )
    const series = tests.flatMap(({ input_series }) => input_series.map((input) => input.series))
    expect(series.flatMap(faultsIn)).toEqual([])
  })

  it('fill in labels that they have', () => {
    const wrong = rules.flatMap(({ alert, expr, annotations }) =>
      unknownLabels(`${annotations.summary} ${annotations.description}`, expr).map(
        (label) => `${alert}: ${label}`,
      ),
    )
    expect(wrong).toEqual([])
  })

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s says how bad, what, and where to read on',
    (_, rule) => {
      expect(['critical', 'warning']).toContain(rule.labels.severity)
      expect(rule.annotations.summary).toMatch(/\S.*\.$/)
      expect(rule.annotations.description.length).toBeGreaterThan(60)
      expect(anchors).toContain(rule.annotations.runbook_url.replace(/^runbook\.md#/, ''))
    },
  )

  it.each(rules.map(({ alert }) => alert))('%s is seen firing, and seen silent', (alert) => {
    const seen = tests.flatMap((test) => test.alert_rule_test.filter(({ alertname }) => alertname === alert))
    expect(seen.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true)
  })
})

const runbook = read('runbook.md')
/** As Git hosts make them. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [anchorOf(section.split('\n', 1)[0] ?? ''), section]),
)
const anchors = [...sections.keys()]
const commands = [...runbook.matchAll(/^switchgear (.+)$/gm)].map(([line]) => line.replace(/\s+#.*$/, ''))

describe('the runbook', () => {
  it('has a paragraph for each alert that says what it means, who answers, what to look at, what to do by hand', () => {
    const wanted = rules.map(({ annotations }) => annotations.runbook_url.replace(/^runbook\.md#/, ''))
    for (const anchor of wanted) {
      const section = sections.get(anchor) ?? ''
      for (const part of ['**Means:**', '**Fallback:**', '**Look at:**', '**By hand:**'])
        expect(section, anchor).toContain(part)
    }
    const others = anchors.filter((anchor) => !wanted.includes(anchor))
    expect(others).toEqual(['the-first-three-looks', 'alerts-by-webhook'])
  })

  it('leads to paragraphs and panels that exist', () => {
    const links = [...runbook.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor = '']) => anchor)
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([])
    const panels = dashboard.panels.map(({ title }) => title)
    const named = [...runbook.matchAll(/(?<!\*)\*([A-Z][^*]+)\*(?!\*)/g)].map(([, title = '']) => title)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((title) => !panels.includes(title))).toEqual([])
  })

  it('lists every alert by webhook', () => {
    for (const about of ALERT_REASONS) {
      const { type } = toEvent({ about, subject: 'a', at: 0, summary: '', facts: {} }, '/x')
      expect(sections.get('alerts-by-webhook')).toContain(`\`${type}\``)
    }
  })

  it('gives commands that exist, with options that they have', async () => {
    expect(commands.length).toBeGreaterThan(15)
    for (const line of commands) {
      const [, name = '', ...words] = line.split(' ')
      const command = await loadCommand(name)
      const known = [command, ...command.commands].flatMap(({ options }) => options.map(({ long }) => long))
      const used = words.filter((word) => word.startsWith('--'))
      expect(
        used.filter((option) => !known.includes(option)),
        line,
      ).toEqual([])
    }
  })
})
