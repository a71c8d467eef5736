import { signal } from '@preact/signals'

export type Route =
  | { readonly page: 'board' }
  | { readonly page: 'timeline' }
  | { readonly page: 'circuit'; readonly name: string }

export const BOARD = '#/'
export const TIMELINE = '#/timeline'
/** The page of the live actors, and one of its breakers. */
export const INSPECTOR = 'inspect'
export const actorHref = (breaker: string): string => `${INSPECTOR}#breaker=${encodeURIComponent(breaker)}`
/** The breaker that the address of that page names. */
export const breakerIn = (hash: string): string | undefined =>
  new URLSearchParams(hash.slice(1)).get('breaker') ?? undefined
export const circuitHref = (name: string): string => `#/circuits/${encodeURIComponent(name)}`

export const route = signal<Route>({ page: 'board' })
/** The circuit whose page was left last. */
export const leftCircuit = signal<string | undefined>(undefined)

/** Follows the address bar. */
export function followRoute(): void {
  const read = () => {
    const { value: before } = route
    leftCircuit.value = before.page === 'circuit' ? before.name : undefined
    route.value = routeOf(location.hash)
  }
  addEventListener('hashchange', read)
  read()
}

function routeOf(hash: string): Route {
  if (hash === TIMELINE) return { page: 'timeline' }
  const [, encoded] = /^#\/circuits\/(.+)$/s.exec(hash) ?? []
  if (encoded === undefined) return { page: 'board' }
  try {
    return { page: 'circuit', name: decodeURIComponent(encoded) }
  } catch {
    return { page: 'circuit', name: encoded }
  }
}
