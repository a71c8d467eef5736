import { entriesAt, isMapping, listAt, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// set for every request by the gateway or by HTTP itself
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const RESERVED_PREFIX = /^(?:proxy-|x-switchgear-)/

/** Headers that cannot be sent, and keys that would not be, or to the wrong place. */
export function headerFindings(config: unknown): Finding[] {
  const places: Path[] = [
    ...entriesAt(config, ['providers']).map(([name]): Path => ['providers', name]),
    ...listAt(config, ['targets']).map((_, i): Path => ['targets', i]),
  ]
  return [
    ...places.flatMap((path) => [...namesFindings(config, path), ...authFindings(config, path)]),
    ...listAt(config, ['targets']).flatMap((_, i) => leakFindings(config, i)),
  ]
}

function namesFindings(config: unknown, place: Path): Finding[] {
  const path: Path = [...place, 'headers']
  const carrier = carrierOf(config, place)
  const seen = new Set<string>()
  return entriesAt(config, path).flatMap(([header]): Finding[] => {
    const name = header.toLowerCase()
    const at = [...path, header]
    const repeated = seen.has(name)
    seen.add(name)
    if (!TOKEN.test(header)) return [{ path, text: notAName }]
    if (name === 'authorization') {
      return [
        {
          path: at,
          text: 'carries a key, use apiKey, and auth such as {header: authorization, prefix: "Basic "}',
        },
      ]
    }
    if (isReserved(name)) return [{ path: at, text: 'is set by the gateway itself, leave it out' }]
    if (repeated) return [{ path: at, text: 'stands there twice; upper and lower case are the same' }]
    return name === carrier ? [{ path: at, text: 'is where the apiKey goes, leave one of them out' }] : []
  })
}

const notAName = 'has a key that is no name of a header, which has letters, digits and - only'

const isReserved = (name: string) => RESERVED.has(name) || RESERVED_PREFIX.test(name)

/** The header that carries the place's own key; undefined = there is none. */
function carrierOf(config: unknown, place: Path): string | undefined {
  if (valueAt(config, [...place, 'apiKey']) === undefined) return undefined
  const header = valueAt(config, [...place, 'auth', 'header'])
  if (typeof header === 'string') return header.toLowerCase()
  const auth = valueAt(config, [...place, 'auth'])
  const byApi = valueAt(config, [...place, 'api']) === 'anthropic' ? 'x-api-key' : undefined
  return auth === undefined ? byApi : auth === 'x-api-key' ? 'x-api-key' : undefined
}

function authFindings(config: unknown, place: Path): Finding[] {
  const path: Path = [...place, 'auth']
  const auth = valueAt(config, path)
  const header = valueAt(config, [...path, 'header'])
  if (auth === 'none' && valueAt(config, [...place, 'apiKey']) !== undefined) {
    return [
      { path, text: 'is none, so that the apiKey beside it would never be sent; leave one of them out' },
    ]
  }
  if (typeof header !== 'string' || header === '') return []
  if (!TOKEN.test(header)) {
    return [
      { path: [...path, 'header'], text: 'is no name of a header, must have letters, digits and - only' },
    ]
  }
  return isReserved(header.toLowerCase())
    ? [{ path: [...path, 'header'], text: 'is set by the gateway itself, must be another header' }]
    : []
}

/** The key of a provider belongs to the provider's own host. */
function leakFindings(config: unknown, index: number): Finding[] {
  const target = valueAt(config, ['targets', index])
  if (!isMapping(target) || typeof target['provider'] !== 'string') return []
  const provider = valueAt(config, ['providers', target['provider']])
  if (!isMapping(provider) || provider['apiKey'] === undefined) return []
  if (target['apiKey'] !== undefined || target['auth'] === 'none') return []
  const own = originOf(target['baseUrl'])
  const theirs = originOf(provider['baseUrl'])
  if (own === undefined || theirs === undefined || own === theirs) return []
  const text = `is another host than that of '${target['provider']}', whose apiKey would be sent there; give the target an apiKey of its own, or auth: none`
  return [{ path: ['targets', index, 'baseUrl'], text }]
}

const originOf = (url: unknown) => (typeof url === 'string' ? URL.parse(url)?.origin : undefined)
