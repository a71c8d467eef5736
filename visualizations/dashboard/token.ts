const KEY = 'switchgear.token'

/**
 * The token of this tab: out of `#token=…`, which leaves the address bar at once and is kept in no history, or as it
 * was typed before.
 */
export function takeToken(): string | undefined {
  const given = tokenIn(location.hash)
  if (given === undefined) return sessionStorage.getItem(KEY) ?? undefined
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  keepToken(given)
  return given
}

/** Whether this could be one, which goes into a header. */
export const isWord = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)
export const NO_WORD = 'A token is one word of plain letters, digits and signs.'

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY)
}

function tokenIn(hash: string): string | undefined {
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? ''
  return token === '' ? undefined : token
}
