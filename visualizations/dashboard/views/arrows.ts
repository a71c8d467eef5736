const KEYS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'])

/** Arrow keys walk over the modules of a board, up and down by what is seen above and below. The answer ends it. */
export function walkWithArrows(list: HTMLElement | null): () => void {
  if (list === null) return () => {}
  const walk = (event: KeyboardEvent) => {
    if (!KEYS.has(event.key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const links = [...list.querySelectorAll<HTMLElement>('a[data-circuit]')]
    const place = links.findIndex((link) => link === document.activeElement)
    if (place < 0) return
    event.preventDefault()
    links[next(event.key, place, links)]?.focus()
  }
  list.addEventListener('keydown', walk)
  return () => list.removeEventListener('keydown', walk)
}

function next(key: string, place: number, links: readonly HTMLElement[]): number {
  const last = links.length - 1
  if (key === 'Home') return 0
  if (key === 'End') return last
  const across = columns(links)
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[key] ?? 0
  return Math.min(last, Math.max(0, place + step))
}

function columns(links: readonly HTMLElement[]): number {
  const tops = links.map((link) => link.closest('li')?.offsetTop)
  const below = tops.findIndex((top) => top !== tops[0])
  return below < 0 ? links.length : below
}

/** Puts the focus back on the module whose page was left. */
export function comeBack(list: HTMLElement | null, circuit: string | undefined): void {
  if (circuit === undefined) return
  list?.querySelector<HTMLElement>(`a[data-circuit="${CSS.escape(circuit)}"]`)?.focus()
}
