/** A page of the server itself: behind a proxy it may have another scheme, never another host. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin)
  if (page === null || host === undefined || !/^https?:$/.test(page.protocol)) return false
  return page.host === URL.parse(`${page.protocol}//${host}`)?.host
}
