const WAY = 'way:'

/**
 * Lights these states of a chart, the outermost first, and the way there, out of all that the chart has; on the way,
 * where transitions share a box, that of the event which happened.
 */
export function lightUp(
  box: HTMLElement,
  states: readonly string[],
  wayOf: (ways: readonly string[]) => string | undefined,
  event?: string,
): void {
  for (const lit of box.querySelectorAll('.lit')) lit.classList.remove('lit')
  for (const dim of box.querySelectorAll('.dim')) dim.classList.remove('dim')
  const part = (id: string) => box.querySelector(`[id="${CSS.escape(id)}"]`)
  const light = (id: string) => part(id)?.classList.add('lit')
  for (const state of states) light(`state:${state}`)
  const ways = [...box.querySelectorAll(`[id^="${WAY}"]`)].map(({ id }) => id.slice(WAY.length))
  const way = wayOf(ways)
  if (way !== undefined) {
    for (const each of ['out', 'way', 'in']) light(`${each}:${way}`)
    tellApart(part(`${WAY}${way}`), event)
  }
  bringIntoSight(box, part(`state:${states.at(-1)}`))
}

/** Leaves the other transitions of a box in the shade. A guard is written once, beneath the last of those that share it. */
function tellApart(way: Element | null, event: string | undefined): void {
  const transitions = [...(way?.querySelectorAll('[id^="edge:"]') ?? [])]
  const happened = whatHappened(transitions, event)
  if (happened.length === 0) return
  for (const each of happened) each.classList.add('lit')
  let sharesGuard = false
  for (const each of transitions) {
    const isLit = happened.includes(each)
    const names = [...each.querySelectorAll('text[font-weight]')]
    for (const text of each.querySelectorAll('text'))
      text.classList.toggle('dim', !isLit && !(sharesGuard && !names.includes(text)))
    sharesGuard = (isLit || sharesGuard) && names.at(-1)?.textContent?.endsWith(' or') === true
  }
}

/** What has waited, or follows by itself, has no name of an event in the box; none where nobody knows. */
function whatHappened(transitions: readonly Element[], event: string | undefined): readonly Element[] {
  if (event === undefined) return []
  const eventOf = ({ id }: Element) => id.split('/')[1] ?? ''
  const named = transitions.filter((each) => eventOf(each) === event)
  if (named.length > 0) return named
  return transitions.filter((each) => /^(always$|xstate\.after\.)/.test(eventOf(each)))
}

/** Where the chart is larger than its frame, the lit state is in the middle. */
function bringIntoSight(box: HTMLElement, state: Element | null): void {
  if (state === null) return
  const [outer, inner] = [box.getBoundingClientRect(), state.getBoundingClientRect()]
  box.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2)
  box.scrollTop += inner.top + inner.height / 2 - (outer.top + outer.height / 2)
}
