import type { ChartModel, ChartState, ChartTransition } from './chart-model.ts'
import { FAINT, LINE, PAPER, TONES } from './chart-colours.ts'
import type { Tone } from './chart-colours.ts'
import { FONT, aroundLabel, escape, headLabel, quote, stateLabel, wayLabel } from './dot-labels.ts'

export interface DotOptions {
  /** By id of a state; the states inside follow. */
  readonly tones?: Readonly<Record<string, Tone>>
  /** A remark above the picture. */
  readonly note?: string
}

/**
 * A machine as DOT for Graphviz, left to right. All transitions from one state to another share one box on their way.
 * Every state has an id `state:…`, every transition an id `edge:…`, as they appear in the SVG.
 */
export function toDot(model: ChartModel, options: DotOptions = {}): string {
  const picture = new Picture(model, options)
  return [
    `digraph ${quote(model.id)} {`,
    `  id=${quote(`state:${model.id}`)} rankdir=LR bgcolor=${quote(PAPER)} pad=0.15 nodesep=0.25 ranksep=0.3 fontname=${quote(FONT)}`,
    `  labelloc=t labeljust=l label=${headLabel(model.id, model.description, options.note ?? '')}`,
    `  node [fontname=${quote(FONT)} shape=box style="rounded,filled" margin="0.12,0.07" penwidth=1.5]`,
    `  edge [fontname=${quote(FONT)} color=${quote(FAINT)} arrowsize=0.8 penwidth=1.3]`,
    ...picture.inside(model.id, '  '),
    ...picture.ways(),
    '}',
    '',
  ].join('\n')
}

/** Transitions that share a box. */
interface Way {
  readonly source: string
  readonly target: string
  readonly transitions: readonly ChartTransition[]
}

class Picture {
  readonly #states: ReadonlyMap<string, ChartState>
  readonly #ways: readonly Way[]
  readonly #depths: ReadonlyMap<string, number>
  readonly #model: ChartModel
  readonly #options: DotOptions

  constructor(model: ChartModel, options: DotOptions) {
    this.#model = model
    this.#options = options
    this.#states = new Map(model.states.map((state) => [state.id, state]))
    const leaving = model.transitions.filter((each) => !this.#stays(each))
    const grouped = Map.groupBy(leaving, ({ source, target }) => `${source}/${target}`)
    this.#ways = [...grouped.values()].map((transitions) => {
      const [{ source, target }] = transitions as [ChartTransition]
      return { source, target: this.#firstOf(target ?? source), transitions }
    })
    this.#depths = this.#measure()
  }

  /** What is drawn in the state `id`, boxes of the ways within it included. */
  *inside(id: string, indent: string): Generator<string> {
    // the order in which Graphviz meets them decides what goes to the top: the start should
    if (!this.#comesBack(id)) yield* this.#any(id, indent)
    if (this.#hasStart(id)) yield* this.#start(id, indent)
    for (const state of this.#childrenOf(id)) yield* this.#state(state, indent)
    if (this.#comesBack(id)) yield* this.#any(id, indent)
    for (const way of this.#ways.filter(({ source, target }) => this.#around(source, target) === id)) {
      yield `${indent}${quote(boxOf(way))} [id=${quote(`way:${pairOf(way)}`)} class="way" shape=plain style="" label=${wayLabel(way.transitions)}]`
    }
  }

  *ways(): Generator<string> {
    for (const { id } of this.#model.states.filter((state) => this.#hasStart(state.id)))
      yield `  ${quote(startOf(id))} -> ${quote(this.#firstOf(id))} [id=${quote(`begin:${id}`)}]`
    for (const way of this.#ways) {
      const [source, box, target] = [way.source, boxOf(way), way.target].map(quote)
      const goesBack = this.#goesBack(way)
      // turned round, so that Graphviz need not choose which edge of a cycle points left
      const leaves = `id=${quote(`out:${pairOf(way)}`)} class="out" arrowhead=none`
      const arrives = `id=${quote(`in:${pairOf(way)}`)} class="in"`
      yield goesBack ? `  ${target} -> ${box} [${arrives} dir=back]` : `  ${source} -> ${box} [${leaves}]`
      yield goesBack ? `  ${box} -> ${source} [${leaves}]` : `  ${box} -> ${target} [${arrives}]`
    }
  }

  #goesBack({ source, target }: Way): boolean {
    return this.#comesBack(source) || this.#depthOf(target) < this.#depthOf(source)
  }

  /** What leads from everywhere back to the start stands behind everything, where there is room for it. */
  #comesBack(id: string): boolean {
    const leading = this.#ways.filter(({ source }) => source === id)
    return id === this.#model.id && leading.some(({ target }) => this.#depths.get(target) === 0)
  }

  /** A state inside of which one begins, unless the start outside already points there. */
  #hasStart(id: string): boolean {
    const isInside = id !== this.#model.id && this.#firstOf(id) !== this.#firstOf(this.#model.id)
    return this.#childrenOf(id).length > 0 && (id === this.#model.id || isInside)
  }

  *#start(id: string, indent: string): Generator<string> {
    yield `${indent}${quote(startOf(id))} [id=${quote(`start:${id}`)} shape=point width=0.16 color=${quote(FAINT)} label=""]`
    // beside it would take a column of its own
    if (id !== this.#model.id)
      yield `${indent}{ rank=same ${quote(startOf(id))} ${quote(this.#firstOf(id))} }`
  }

  *#any(id: string, indent: string): Generator<string> {
    if (!this.#ways.some(({ source }) => source === id)) return
    const text =
      id === this.#model.id ? 'from any state' : `from any state\\nof ${this.#states.get(id)?.name}`
    yield `${indent}${quote(id)} [id=${quote(`any:${id}`)} class="any" label="${text}" style="rounded,dashed" color=${quote(LINE)} fontcolor=${quote(FAINT)} fontsize=12 margin="0.14,0.08"]`
  }

  *#state(state: ChartState, indent: string): Generator<string> {
    const { fill, around, line } = TONES[this.#toneOf(state)]
    const told = `id=${quote(`state:${state.id}`)} tooltip=${quote(escape(state.description))} color=${quote(line)}`
    if (this.#childrenOf(state.id).length > 0) {
      yield `${indent}subgraph ${quote(`cluster ${state.id}`)} {`
      yield `${indent}  ${told} style="rounded,filled" fillcolor=${quote(around)} penwidth=1.2 margin=14 labeljust=l label=${aroundLabel(state)}`
      yield* this.inside(state.id, `${indent}  `)
      yield `${indent}}`
      return
    }
    const inside = this.#model.transitions.filter((each) => each.source === state.id && this.#stays(each))
    const edge = state.final ? ' peripheries=2' : ''
    yield `${indent}${quote(state.id)} [${told} fillcolor=${quote(fill)}${edge} label=${stateLabel(state, inside)}]`
  }

  #stays = ({ source, target }: ChartTransition) => target === null || target === source
  #childrenOf = (id: string) => this.#model.states.filter(({ parent }) => parent === id)

  /** Where one arrives on entering a state: its first child's first child, and so on. */
  #firstOf(id: string): string {
    const first = this.#childrenOf(id).find(({ initial }) => initial)
    return first === undefined ? id : this.#firstOf(first.id)
  }

  /** How many transitions a state is away from the start; of one with children, its nearest child. */
  #depthOf(id: string): number {
    return Math.min(...[...this.#depths].flatMap(([state, depth]) => (isWithin(state, id) ? [depth] : [])))
  }

  #measure(): Map<string, number> {
    const depths = new Map([[this.#firstOf(this.#model.id), 0]])
    for (const [state, depth] of depths) {
      for (const { source, target } of this.#ways) {
        if (isWithin(state, source) && !depths.has(target)) depths.set(target, depth + 1)
      }
    }
    return depths
  }

  #toneOf({ id, parent }: ChartState): Tone {
    const own = this.#options.tones?.[id]
    const outer = parent === null ? undefined : this.#states.get(parent)
    return own ?? (outer === undefined ? 'plain' : this.#toneOf(outer))
  }

  /** The innermost state with children around both ends. */
  #around(source: string, target: string): string {
    const outside = this.#lineOf(target)
    return this.#lineOf(source).find((id) => outside.includes(id)) ?? this.#model.id
  }

  #lineOf(id: string): string[] {
    const parent = this.#states.get(id)?.parent ?? null
    const own = this.#childrenOf(id).length > 0 ? [id] : []
    return parent === null ? own : [...own, ...this.#lineOf(parent)]
  }
}

const startOf = (id: string) => `start ${id}`
const isWithin = (id: string, outer: string) => id === outer || id.startsWith(`${outer}.`)
const pairOf = ({ source, target }: Way) => `${source}/${target}`
const boxOf = (way: Way) => `way ${pairOf(way)}`
