import type { AnyStateMachine } from 'xstate'

type StateNodeOf = AnyStateMachine['root']
type Definition = ReturnType<AnyStateMachine['getTransitionData']>[number]

/** A state as pictures and tables need it. */
export interface ChartState {
  /** With the machine's name and every parent: `breaker.closed.healthy`. */
  readonly id: string
  readonly path: readonly string[]
  readonly name: string
  readonly description: string
  /** True for the machine itself and where its parent begins. */
  readonly initial: boolean
  readonly final: boolean
  /** Id of the state around it; null = the machine itself. */
  readonly parent: string | null
}

/** A transition as it is written in the machine. */
export interface ChartTransition {
  /** `source/event/place`, the place being that among those of the same source and event. */
  readonly id: string
  readonly source: string
  /** `always` for one without an event, `after cooldown` for a delay. */
  readonly event: string
  /** Name of the guard; null = none. */
  readonly guard: string | null
  /** What the guard asks; `otherwise` after guarded ones of the same event; empty = nothing. */
  readonly sentence: string
  /** Null = the state stays. */
  readonly target: string | null
  readonly actions: readonly string[]
  readonly description: string
  /** True for what only keeps the machine in step with its runtime, and would be noise to people. */
  readonly plumbing: boolean
}

export interface ChartModel {
  readonly id: string
  readonly description: string
  readonly states: readonly ChartState[]
  readonly transitions: readonly ChartTransition[]
}

export interface ChartWords {
  /** What each guard asks. */
  readonly sentences: Readonly<Record<string, string>>
  /** How long each named delay takes. */
  readonly delays?: Readonly<Record<string, string>>
}

const PLUMBING: ReadonlySet<string> = new Set(['resumed', 'cooldown.elapsed', 'reading.aged'])

/** Every state and every written transition of a machine, as plain data. */
export function chartModel(machine: AnyStateMachine, words: ChartWords): ChartModel {
  const nodes = family(machine.root)
  return {
    id: machine.id,
    description: machine.root.description ?? '',
    states: nodes.map(toState),
    transitions: nodes.flatMap((node) => transitionsOf(node, words)),
  }
}

/** The model without plumbing, and without the fencing that every outcome's guard begins with. */
export function forPeople(model: ChartModel): ChartModel {
  return { ...model, transitions: model.transitions.filter(({ plumbing }) => !plumbing).map(withoutFence) }
}

const withoutFence = (transition: ChartTransition): ChartTransition => ({
  ...transition,
  sentence: transition.sentence.replace(/^of this generation, (?:and )?/, ''),
})

const family = (node: StateNodeOf): StateNodeOf[] => [node, ...Object.values(node.states).flatMap(family)]

function toState(node: StateNodeOf): ChartState {
  const { id, path, key, parent, type, description = '' } = node
  const initial = parent === undefined || parent.initial.target.some((first) => first.id === id)
  return { id, path, name: key, description, initial, final: type === 'final', parent: parent?.id ?? null }
}

function transitionsOf(node: StateNodeOf, words: ChartWords): ChartTransition[] {
  const always = (node.always ?? []).map(toTransition(node, 'always', words))
  return always.concat(
    [...node.transitions].flatMap(([event, list]) => list.map(toTransition(node, event, words))),
  )
}

const toTransition =
  (node: StateNodeOf, event: string, words: ChartWords) =>
  (definition: Definition, index: number): ChartTransition => {
    const [target, ...more] = definition.target ?? []
    if (more.length > 0) throw new Error(`${node.id} on ${event} leads to several states: not drawn.`)
    const guard = nameOf(definition.guard)
    return {
      id: `${node.id}/${event}/${index}`,
      source: node.id,
      event: eventInWords(node, event, words),
      guard,
      sentence: guard === null ? otherwise(index) : (words.sentences[guard] ?? guard),
      target: target?.id ?? null,
      actions: definition.actions.flatMap((action) => nameOf(action) ?? []),
      description: definition.description ?? '',
      plumbing: PLUMBING.has(event),
    }
  }

// XState tries them in the order in which they are written
const otherwise = (index: number) => (index > 0 ? 'otherwise' : '')

function eventInWords(node: StateNodeOf, event: string, { delays = {} }: ChartWords): string {
  const delay = node.after.find(({ eventType }) => eventType === event)?.delay
  if (delay === undefined) return event
  const name = typeof delay === 'function' ? 'a while' : String(delay)
  return delays[name] === undefined ? `after ${name}` : `after ${name} (${delays[name]})`
}

/** Names are strings, or objects of a `type`; what is written inline has none. */
function nameOf(named: unknown): string | null {
  if (typeof named === 'string') return named
  if (typeof named === 'object' && named !== null && 'type' in named) return String(named.type)
  return named === undefined ? null : 'inline'
}
