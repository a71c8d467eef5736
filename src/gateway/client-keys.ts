import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

import { isOwnOrigin } from './own-origin.ts'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** The keys that clients must show, where there are any. */
export class ClientKeys {
  readonly #digests: readonly Buffer[]

  constructor(keys: Readonly<Record<string, string>>) {
    this.#digests = Object.values(keys).map(digest)
  }

  /** Says what is wrong; undefined = may pass. How long it takes says nothing about the keys. */
  refusalOf(headers: IncomingHttpHeaders): string | undefined {
    if (this.#digests.length === 0) {
      // whoever looks at a page would pay for what it asks here
      const { origin, host } = headers
      return origin === undefined || isOwnOrigin(origin, host)
        ? undefined
        : 'A page of another origin may use a gateway only where server.clientKeys are set.'
    }
    const shown = shownKey(headers)
    if (shown === undefined) {
      return 'A client key is needed: authorization: Bearer <key>, or x-api-key: <key>.'
    }
    const given = digest(shown)
    const known = this.#digests.filter((one) => timingSafeEqual(one, given))
    return known.length > 0 ? undefined : 'The client key is not known here.'
  }
}

function shownKey({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return bearer ?? (typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined)
}
