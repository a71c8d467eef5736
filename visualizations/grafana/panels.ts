/** What one panel shows, in the least words; the rest of Grafana's JSON is the same for all. */
export interface PanelSketch {
  readonly title: string
  readonly description: string
  readonly type: 'stat' | 'timeseries' | 'state-timeline' | 'bargauge'
  readonly queries: readonly Query[]
  readonly unit?: string
  /** Default 8. */
  readonly height?: number
  /** Of 24. Default 12. */
  readonly width?: number
  readonly stacked?: boolean
  /** As bars, for things that are counted rather than measured. */
  readonly bars?: boolean
  readonly min?: number
  readonly max?: number
  /** Colours from a value on; the first applies below all. Default: neutral. */
  readonly colours?: readonly (readonly [color: string, from: number | null])[]
  /** Numbers as words. */
  readonly words?: Readonly<Record<string, { readonly text: string; readonly color: string }>>
  /** A stat: over all of the range, not the last value. */
  readonly fallback?: string
}

export interface Query {
  readonly expr: string
  /** How a series is called. */
  readonly legend: string
  /** Only the last value, not the way there. */
  readonly instant?: boolean
}

export interface Place {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const

const NEUTRAL = [['text', null]] as const

/** A panel in Grafana's classic schema. */
export function toPanel(sketch: PanelSketch, id: number, gridPos: Place): object {
  const { title, description, type, queries } = sketch
  return {
    id,
    type,
    title,
    description,
    gridPos,
    datasource: DATASOURCE,
    targets: queries.map(toTarget),
    fieldConfig: { defaults: fieldDefaults(sketch), overrides: [] },
    options: OPTIONS[type],
  }
}

function toTarget({ expr, legend: legendFormat, instant = false }: Query, i: number): object {
  const refId = String.fromCharCode(65 + i)
  return { refId, datasource: DATASOURCE, editorMode: 'code', expr, legendFormat, instant, range: !instant }
}

function fieldDefaults(sketch: PanelSketch): object {
  const { type, unit = 'short', colours = NEUTRAL, words = {}, min, max, fallback, stacked, bars } = sketch
  const options = Object.fromEntries(
    Object.entries(words).map(([key, word], index) => [key, { ...word, index }]),
  )
  return {
    unit,
    color: { mode: type === 'timeseries' ? 'palette-classic' : 'thresholds' },
    thresholds: { mode: 'absolute', steps: colours.map(([color, value]) => ({ color, value })) },
    mappings: Object.keys(words).length === 0 ? [] : [{ type: 'value', options }],
    custom: custom(type, stacked === true, bars === true),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(fallback !== undefined && { noValue: fallback }),
  }
}

function custom(type: PanelSketch['type'], stacked: boolean, bars: boolean): object {
  if (type === 'state-timeline') return { fillOpacity: 80, lineWidth: 0 }
  if (type !== 'timeseries') return {}
  return {
    drawStyle: bars ? 'bars' : 'line',
    lineWidth: bars ? 0 : 1,
    fillOpacity: bars ? 80 : stacked ? 30 : 8,
    showPoints: 'never',
    spanNulls: false,
    stacking: { mode: stacked ? 'normal' : 'none', group: 'A' },
  }
}

const LAST = { calcs: ['lastNotNull'], fields: '', values: false }

const OPTIONS: Record<PanelSketch['type'], object> = {
  stat: {
    reduceOptions: LAST,
    colorMode: 'background',
    graphMode: 'none',
    justifyMode: 'center',
    orientation: 'auto',
    textMode: 'value',
  },
  timeseries: {
    legend: { displayMode: 'table', placement: 'right', showLegend: true, calcs: ['mean', 'lastNotNull'] },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  'state-timeline': {
    mergeValues: true,
    showValue: 'never',
    alignValue: 'left',
    rowHeight: 0.8,
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
    tooltip: { mode: 'single', sort: 'none' },
  },
  bargauge: {
    reduceOptions: LAST,
    orientation: 'horizontal',
    displayMode: 'basic',
    showUnfilled: true,
    valueMode: 'text',
  },
}
