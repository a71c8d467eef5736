import { DATASOURCE, toPanel } from './panels.ts'
import type { PanelSketch, Place } from './panels.ts'
import { enteredAt, metric } from './queries.ts'
import { sketches } from './sketches.ts'

const WIDTH = 24

/** The dashboard in Grafana's classic schema, which every version imports. */
export function dashboard(): object {
  return {
    // none of its own before it is imported; the uid makes an import replace an earlier one
    id: null,
    uid: 'switchgear',
    title: 'Switchgear',
    description:
      'Circuit breakers in front of LLM providers: what is open and why, who answers instead, what it saves.',
    tags: ['switchgear', 'llm'],
    schemaVersion: 41,
    version: 1,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    timezone: '',
    links: [],
    templating: { list: [datasource(), chosen('instance', 'Replica'), chosen('target', 'Target')] },
    annotations: {
      list: [
        transitions('Troubles', 'red', enteredAt('open|half-open|degraded')),
        transitions('Recoveries', 'green', `${enteredAt('closed')} and ignoring (state) ${hasMoved}`),
      ],
    },
    panels: layOut(),
  }
}

/** Circuits that have been closed since the start were not closed by anything. */
const hasMoved = `sum without (from, to, reason) (${metric('breakerTransitions')}) > 0`

function transitions(name: string, iconColor: string, expr: string): object {
  return {
    name,
    iconColor,
    enable: true,
    hide: false,
    datasource: DATASOURCE,
    expr,
    step: '30s',
    useValueForTime: true,
    titleFormat: '{{target}} {{model}}: {{state}}',
    textFormat: '{{instance}}',
    tagKeys: 'target,state',
  }
}

function datasource(): object {
  return {
    type: 'datasource',
    name: 'datasource',
    label: 'Data source',
    query: 'prometheus',
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: '',
  }
}

function chosen(name: 'instance' | 'target', label: string): object {
  const within =
    name === 'instance'
      ? 'switchgear_build_info'
      : '{__name__=~"switchgear_breaker_state|switchgear_attempts_total",instance=~"$instance"}'
  const query = `label_values(${within}, ${name})`
  return {
    type: 'query',
    name,
    label,
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: 'variable' },
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    hide: 0,
    options: [],
    refresh: 2,
    regex: '',
    sort: 1,
  }
}

/** Rows one below the other, panels from left to right. */
function layOut(): object[] {
  const panels: object[] = []
  let y = 0
  for (const { row, panels: own } of sketches) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
    })
    for (const line of linesOf(own)) {
      const h = Math.max(...line.map(heightOf))
      let x = 0
      for (const sketch of line) {
        const place: Place = { x, y, w: widthOf(sketch), h }
        panels.push(toPanel(sketch, panels.length + 1, place))
        x += place.w
      }
      y += h
    }
  }
  return panels
}

const widthOf = ({ width = 12 }: PanelSketch) => width
const heightOf = ({ height = 8 }: PanelSketch) => height

function linesOf(sketches: readonly PanelSketch[]): PanelSketch[][] {
  const lines: PanelSketch[][] = [[]]
  let left = WIDTH
  for (const sketch of sketches) {
    if (widthOf(sketch) > left) {
      lines.push([])
      left = WIDTH
    }
    lines.at(-1)?.push(sketch)
    left -= widthOf(sketch)
  }
  return lines
}
