import type { Cause, Hold, SavedCircuit } from '../../machines/breaker-events.ts'
import type { Reading } from '../../machines/tripping.ts'
import { ConfigError } from './errors.ts'

type Bag = Readonly<Record<string, unknown>>

const isBag = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
// the longest time that a Date can tell
const isTime = (value: unknown) => typeof value === 'number' && Math.abs(value) <= 8.64e15
const isTimeOrNull = (value: unknown) => value === null || isTime(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isHold = (value: unknown): value is Hold =>
  isBag(value) &&
  isTimeOrNull(value['until']) &&
  typeof value['by'] === 'string' &&
  typeof value['reason'] === 'string'

/** What each field of a saved circuit must be. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  state: (value) => value === 'closed' || value === 'open' || value === 'half-open',
  hold: (value) => value === null || isHold(value),
  // one that cannot grow fences nothing off
  generation: (value) => isCount(value) && (value as number) < 2 ** 52,
  reopens: isCount,
  cause: isBag,
  since: isTime,
  openedAt: isTimeOrNull,
  cooldownMs: isTimeOrNull,
  openUntil: isTimeOrNull,
}

const WHYS: readonly Cause['why'][] = [
  ...(['started', 'tripped', 'kind_tripped', 'degraded', 'eased', 'went_quiet', 'cooldown_over'] as const),
  ...(['trial_met', 'trial_missed', 'operator', 'hold_ended', 'restored'] as const),
]

const isCounted = (rule: unknown) => isBag(rule) && isCount(rule['count']) && isCount(rule['calls'])
const isReading = (reading: unknown): reading is Reading =>
  isBag(reading) &&
  Array.isArray(reading['rules']) &&
  reading['rules'].every(isCounted) &&
  isBag(reading['kinds']) &&
  Object.values(reading['kinds']).every(isCount) &&
  isCount(reading['consecutiveFailures'])

const KINDS = ['consecutive', 'leaky', 'rolling', 'latency', 'custom']
const isRule = (rule: unknown): rule is NonNullable<Cause['rule']> =>
  isBag(rule) && isCount(rule['at']) && KINDS.some((kind) => kind === rule['kind'])

/** The cause as far as it can be believed: it explains, and decides nothing. */
function causeOf(saved: Bag): Cause {
  const why = WHYS.find((known) => known === saved['why']) ?? 'restored'
  const words = (['by', 'reason', 'failure'] as const).filter((key) => typeof saved[key] === 'string')
  const { trial, reading, rule } = saved
  const counted = isBag(trial) && isCount(trial['succeeded']) && isCount(trial['failed'])
  return {
    why,
    ...Object.fromEntries(words.map((key) => [key, saved[key]])),
    ...(isReading(reading) && { reading }),
    ...(isRule(rule) && { rule }),
    ...(counted && { trial: trial as unknown as NonNullable<Cause['trial']> }),
  }
}

/** The field that does not go with the others. */
function contradictionIn({ state, hold, openUntil }: Bag): string | undefined {
  if (state === 'open' && hold === null && openUntil === null) return 'openUntil'
  return state === 'half-open' && hold !== null ? 'hold' : undefined
}

/**
 * A saved circuit that can be gone on from. What may have been edited, cut or saved by something else is refused as a
 * whole: half a circuit would never open, or never close.
 *
 * @throws ConfigError that names the field
 */
export function checkSaved(saved: unknown, path: string): SavedCircuit {
  const wrong = isBag(saved) ? Object.keys(FIELDS).find((key) => FIELDS[key]?.(saved[key]) === false) : ''
  const bag = saved as Bag
  const field = wrong ?? contradictionIn(bag)
  if (field === undefined) return { ...(saved as SavedCircuit), cause: causeOf(bag['cause'] as Bag) }
  const what = field === '' ? path : `${path}.${field}`
  throw new ConfigError(`${what} is not what this version saves.`, {
    path: what,
    hint: 'Pass what snapshot() returned, or leave it out to start closed.',
  })
}
