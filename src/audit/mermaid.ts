import type { ChartModel, ChartState, ChartTransition } from './chart-model.ts'

/**
 * A machine as Mermaid text, which GitHub draws. Mermaid knows no transition from every state: those of the machine
 * itself are repeated for each of its states that is not final.
 */
export function toMermaid({ id: machine, states, transitions }: ChartModel): string {
  const childrenOf = (id: string) => states.filter(({ parent }) => parent === id)

  function draw(state: ChartState, indent: string): string[] {
    const name = `state "${state.name}" as ${nameOf(state.id)}`
    const end = state.final ? [`${indent}${nameOf(state.id)} --> [*]`] : []
    return childrenOf(state.id).length === 0
      ? [`${indent}${name}`, ...end]
      : [`${indent}${name} {`, ...inside(state.id, `${indent}  `), `${indent}}`]
  }

  function inside(id: string, indent: string): string[] {
    const children = childrenOf(id)
    const first = children
      .filter(({ initial }) => initial)
      .map((child) => `${indent}[*] --> ${nameOf(child.id)}`)
    return [...first, ...children.flatMap((child) => draw(child, indent))]
  }

  const ways = transitions.flatMap(({ source, target, event, sentence }) => {
    const sources = source === machine ? childrenOf(machine).filter(({ final }) => !final) : [{ id: source }]
    return sources.map(({ id }) => ({ way: `${nameOf(id)} --> ${nameOf(target ?? id)}`, event, sentence }))
  })
  // one label each: Mermaid draws those of parallel ways over each other
  const drawn = [...Map.groupBy(ways, ({ way }) => way)].map(([way, all]) => `  ${way} : ${labelOf(all)}`)
  return ['stateDiagram-v2', '  direction LR', ...inside(machine, '  '), ...drawn, ''].join('\n')
}

/** A line for each guard, with every event that it is asked at. */
function labelOf(ways: readonly Pick<ChartTransition, 'event' | 'sentence'>[]): string {
  const lines = [...Map.groupBy(ways, ({ event, sentence }) => sentence || event)].map(([key, same]) => {
    const events = same.map(({ event }) => event).join(' or ')
    return escape(same[0]?.sentence === '' ? events : `${events} [${key}]`)
  })
  return lines.join('<br/>')
}

/** `end`, `state` and the like are words of Mermaid, so the machine's name stays in front. */
const nameOf = (id: string) => id.replaceAll(/\W/g, '_')

// a label ends at a colon, a statement at a semicolon
const escape = (text: string) => text.replaceAll(/[:;#<>"]/g, (sign) => `#${sign.charCodeAt(0)};`)
