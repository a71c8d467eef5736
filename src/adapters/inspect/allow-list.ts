import type { MachineName, ShownEvent, ShownSnapshot } from './wire.ts'

const LONGEST_WORD = 100
const LONGEST_WORDS = 200
const LONGEST_LIST = 50

/** How one field is shown. What no shape names is not. */
type Shape =
  | 'number'
  | 'flag'
  /** A name or a kind. */
  | 'word'
  /** An operator's own words. */
  | 'words'
  /** How many keys it has, and nothing of what they are. */
  | 'size'
  | { readonly list: Shape }
  /** Values by name. */
  | { readonly each: Shape }
  | { readonly fields: Fields }

type Fields = Readonly<Record<string, Shape>>

const reading: Shape = {
  fields: {
    rules: { list: { fields: { count: 'number', calls: 'number' } } },
    kinds: { each: 'number' },
    consecutiveFailures: 'number',
  },
}
const counts: Fields = { succeeded: 'number', failed: 'number' }
const hold: Fields = { until: 'number', by: 'words', reason: 'words' }
const refusal: Fields = { target: 'word', reason: 'words', retryAt: 'number' }

const CONTEXTS: Readonly<Record<MachineName, Fields>> = {
  supervisor: { breakers: 'size', chains: 'number', replaced: 'number' },
  breaker: {
    generation: 'number',
    reopens: 'number',
    cause: {
      fields: {
        why: 'word',
        by: 'words',
        reason: 'words',
        failure: 'word',
        reading,
        trial: { fields: counts },
      },
    },
    since: 'number',
    openedAt: 'number',
    cooldownMs: 'number',
    openUntil: 'number',
    hold: { fields: hold },
    trial: { fields: { ...counts, permits: { list: 'number' }, retryUntil: 'number', failure: 'word' } },
  },
  chain: {
    plan: {
      fields: { targets: { list: 'word' }, noFallback: 'flag', startedAt: 'number', deadlineAt: 'number' },
    },
    ahead: { list: 'word' },
    list: 'word',
    target: 'word',
    attempt: 'number',
    asked: { list: 'word' },
    refused: { list: { fields: refusal } },
    lastResort: 'flag',
    bypassed: 'flag',
    waitUntil: 'number',
    patienceUntil: 'number',
  },
}

/** A field means the same in every event that has it. */
const EVENT: Fields = {
  at: 'number',
  roll: 'number',
  generation: 'number',
  permit: 'number',
  reading,
  quietMs: 'number',
  failure: 'word',
  retryAfterMs: 'number',
  ...hold,
  hold: 'flag',
  bucket: 'word',
  wanted: { list: { fields: { bucket: 'word' } } },
  command: { fields: { type: 'word', ...hold, hold: 'flag' } },
  call: 'word',
  actorId: 'word',
  ...refusal,
  bypassed: 'flag',
  verdict: { fields: { failure: 'word', retry: 'word', fallback: 'word', retryAfterMs: 'number' } },
  budget: 'flag',
  route: 'word',
  permitIsCurrent: 'flag',
}

/** The part of an event that may be seen. */
export function shownEvent(event: { readonly type: string }): ShownEvent {
  return { type: cut(event.type, LONGEST_WORD), ...fieldsOf(event, EVENT) }
}

/** The part of a snapshot that may be seen: no input, no output, no error. */
export function shownSnapshot(machine: MachineName, snapshot: object): ShownSnapshot {
  const { status, value, context } = snapshot as Record<string, unknown>
  return { status: String(status), value, context: fieldsOf(context, CONTEXTS[machine]) }
}

/** Undefined is left out. */
function shown(value: unknown, shape: Shape): unknown {
  if (value === null) return null
  switch (shape) {
    case 'number':
      return typeof value === 'number' ? value : undefined
    case 'flag':
      return typeof value === 'boolean' ? value : undefined
    case 'word':
      return typeof value === 'string' ? cut(value, LONGEST_WORD) : undefined
    case 'words':
      return typeof value === 'string' ? cut(value, LONGEST_WORDS) : undefined
    case 'size':
      return typeof value === 'object' ? Object.keys(Object(value)).length : undefined
  }
  if ('fields' in shape) return fieldsOf(value, shape.fields)
  if ('list' in shape) {
    return Array.isArray(value)
      ? value.slice(0, LONGEST_LIST).map((each: unknown) => shown(each, shape.list))
      : undefined
  }
  const named = Object.entries(Object(value) as object).slice(0, LONGEST_LIST)
  return Object.fromEntries(named.map(([name, each]) => [cut(name, LONGEST_WORD), shown(each, shape.each)]))
}

function fieldsOf(value: unknown, fields: Fields): Record<string, unknown> {
  const from = Object(value) as Record<string, unknown>
  const told: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(fields)) {
    const part = Object.hasOwn(from, name) ? shown(from[name], shape) : undefined
    if (part !== undefined) told[name] = part
  }
  return told
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
