import { entriesAt, isMapping, listAt, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'
import { headerFindings } from './headers.ts'
import { SHORTEST_CLIENT_KEY, SHORTEST_TOKEN } from './secrets.ts'

const STANDARD_PORT = 4000
// the gateway itself reads them, or puts them in
const OWN_FIELDS: Readonly<Record<string, string>> = {
  model: 'the key model of the target says which model is asked for',
  stream: 'whether an answer comes in parts is the client’s to say',
}

// a terminal obeys them, a log takes them for lines, and a reader is shown another order
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const NAMES: ReadonlySet<string> = new Set(['name', 'model', 'bucket', 'provider'])

/** What no single key shows: rules between keys, and about what keys are for. */
export function ruleFindings(config: unknown): Finding[] {
  return [
    ...portFindings(config),
    ...secretFindings(config),
    ...listAt(config, ['targets']).flatMap((_, i) => bodyFindings(config, ['targets', i])),
    ...headerFindings(config),
    ...unsafeNames(config, []),
  ]
}

function portFindings(config: unknown): Finding[] {
  const port = valueAt(config, ['server', 'port']) ?? STANDARD_PORT
  const path: Path = ['server', 'admin', 'port']
  const admin = valueAt(config, path)
  if (admin !== port || port === 0) return []
  return [{ path, text: `is the port of the gateway itself (${port}), give another one` }]
}

/** Keys and tokens say who somebody is: each is long enough, and nobody else's. */
function secretFindings(config: unknown): Finding[] {
  const owners = new Map<unknown, string>()
  const places = [
    { path: ['server', 'clientKeys'], shortest: SHORTEST_CLIENT_KEY, open: 'everybody may come in' },
    { path: ['admin', 'tokens'], shortest: SHORTEST_TOKEN, open: 'one is made at the first start' },
  ]
  return places.flatMap(({ path, shortest, open }) => {
    const entries = entriesAt(config, path)
    const value = valueAt(config, path)
    const last = path.at(-1)
    if (isMapping(value) && entries.length === 0) {
      return [{ path, text: `is empty, give one or leave ${last} out (then ${open})` }]
    }
    return entries.flatMap(([name, secret]): Finding[] => {
      const at = [...path, name]
      if (!/^[^\p{C}]+$/u.test(name)) return [{ path, text: 'has a name that is empty or not printable' }]
      if (typeof secret !== 'string' || secret === '') return []
      if (secret.length < shortest) {
        return [
          { path: at, text: `is too short (${secret.length}), must be ${shortest} characters at least` },
        ]
      }
      if (/\s/.test(secret)) return [{ path: at, text: 'has a space in it, must be without' }]
      const owner = owners.get(secret)
      owners.set(secret, `${path.join('.')}.${name}`)
      return owner === undefined ? [] : [{ path: at, text: `is the same as ${owner}, give each its own` }]
    })
  })
}

/** Fields of a request that a target may not change. */
function bodyFindings(config: unknown, path: Path): Finding[] {
  const set: Path = [...path, 'set']
  const drop: Path = [...path, 'drop']
  const dropped = listAt(config, drop)
  return [
    ...entriesAt(config, set).flatMap(([field]): Finding[] => {
      const why = reserved(field)
      if (why !== undefined) return [{ path: [...set, field], text: `cannot be set here, ${why}` }]
      return dropped.includes(field)
        ? [{ path: [...set, field], text: 'is also in drop, take it out of one of them' }]
        : []
    }),
    ...dropped.flatMap((field, i): Finding[] => {
      const why = typeof field === 'string' ? reserved(field) : undefined
      if (why !== undefined) return [{ path: [...drop, i], text: `'${field}' cannot be dropped, ${why}` }]
      return dropped.indexOf(field) < i
        ? [{ path: [...drop, i], text: `'${String(field)}' is named twice` }]
        : []
    }),
  ]
}

const reserved = (field: string) => (Object.hasOwn(OWN_FIELDS, field) ? OWN_FIELDS[field] : undefined)

/** A key that JavaScript takes for something else, and names that would do something where they are shown. */
function unsafeNames(config: unknown, path: Path): Finding[] {
  const value = valueAt(config, path)
  if (Array.isArray(value)) return value.flatMap((_, i) => unsafeNames(config, [...path, i]))
  return entriesAt(config, path).flatMap(([key, of]): Finding[] => {
    const at = [...path, key]
    const named = NAMES.has(key) && typeof of === 'string' ? of : ''
    if (!hasOwnRules(path) && (CONTROL.test(key) || CONTROL.test(named)))
      return [{ path: at, text: 'has a control character in it, such as a line end; write it without' }]
    if (key === '__proto__') return [{ path: at, text: 'cannot be a name, choose another' }]
    return unsafeNames(config, at)
  })
}

/** Bodies hold what they like; headers, and who comes in, are looked at elsewhere. */
const hasOwnRules = ([first, second, third]: Path) =>
  third === 'set' ||
  third === 'headers' ||
  second === 'clientKeys' ||
  (first === 'admin' && second === 'tokens')
