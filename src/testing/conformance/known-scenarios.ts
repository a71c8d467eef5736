import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseScenario } from '../scenario/parse.ts'
import type { BreakerScenario } from '../scenario/scenario.ts'

/** The scenarios that come with the package, by what they are about. Each is a symptom that somebody has reported. */
export const scenarioGroups: Readonly<Record<string, readonly string[]>> = {
  'opening and recovering, twice': ['two-whole-cycles'],
  'a late success decides nothing': [
    'late-success-does-not-close',
    'late-success-does-not-decide-a-trial',
    'the-worst-possible-timer-race',
  ],
  'a late failure decides nothing': [
    'late-failure-does-not-extend-the-open-period',
    'late-failure-does-not-reopen-a-trial',
    'late-failures-do-not-count-after-recovery',
  ],
  'a trial lets in its probes, nobody else': [
    'a-slow-probe-lets-nobody-else-in',
    'a-good-probe-does-not-add-a-slot',
    'probes-in-flight-are-bounded',
    'probe-of-an-earlier-trial-is-fenced',
  ],
  'several probes, one verdict': [
    'trial-waits-for-every-probe',
    'early-verdict-reopens-when-out-of-reach',
    'ratio-rounding-does-not-cost-a-probe',
    'refusals-are-not-failures',
  ],
  'a caller’s own error is no verdict': [
    'neutral-neither-counts-nor-resets',
    'neutral-probe-gives-its-slot-back',
    'aborted-probe-is-no-verdict',
    'unrelated-cancel-frees-no-slot',
  ],
  'a lost probe blocks nothing for good': [
    'lost-probe-does-not-wedge-the-trial',
    'lost-probe-reporting-late-is-fenced',
  ],
  'cooldowns: back-off, jitter, weeks': [
    'backoff-doubles-up-to-its-cap',
    'backoff-starts-over-after-recovery',
    'full-jitter-draws-from-the-whole-cooldown',
    'equal-jitter-keeps-half',
    'a-cooldown-of-weeks-holds',
  ],
  'Retry-After': [
    'retry-after-lengthens-the-open-period',
    'retry-after-is-capped',
    'retry-after-never-shortens',
    'late-retry-after-lengthens-an-open-period',
    'the-latest-date-of-a-trial-counts',
  ],
  'failure ratio in a time window': [
    'an-idle-window-is-empty',
    'success-can-complete-the-minimum',
    'no-minimum-is-not-no-calls',
  ],
  'slow answers, a leaky count': ['slow-answers-trip-without-one-failure', 'leaky-count-forgives-one-by-one'],
  'rules for a kind of failure': [
    'a-kind-has-its-own-threshold',
    'a-success-resets-the-kind-counter',
    'quota-opens-at-once',
    'the-cooldown-of-a-kind-grows-too',
    'a-hard-failure-does-not-shorten-a-trial',
  ],
  'opened and closed by hand': [
    'manual-open-is-not-undone-by-a-success',
    'opening-again-restarts-the-cooldown',
    'a-manual-open-in-a-trial',
    'close-leaves-no-timer-behind',
    'manual-close-clears-the-counters',
    'a-close-of-a-closed-circuit',
  ],
  'held by an operator': [
    'hold-outlives-the-cooldown',
    'hold-with-a-time-limit-ends',
    'a-plain-open-lifts-no-hold',
    'closed-on-hold-never-trips',
    'restart-does-not-lift-a-hold',
  ],
  'a restart': [
    'restart-keeps-the-remaining-cooldown',
    'restart-after-the-cooldown-is-a-trial',
    'restart-in-a-trial-starts-it-afresh',
    'deadline-from-the-future-is-clamped',
  ],
  'options at their limits': [
    'infinite-threshold-means-no-breaker',
    'zero-cooldown-goes-straight-to-the-trial',
    'threshold-not-a-number-is-refused',
    'negative-cooldown-is-refused',
    'success-ratio-above-one-is-refused',
    'more-in-flight-than-probes',
  ],
}

/** A scenario by its file's name, and what it is about. */
export interface KnownScenario {
  readonly id: string
  readonly group: string
  readonly scenario: BreakerScenario
  /** Where it lies; one's own lie nowhere. */
  readonly file?: string
}

// the build puts them beside the code as they lie here
const folder = new URL('../../../test/scenarios/breaker/', import.meta.url)

let known: KnownScenario[] | undefined

/** All of them, read once. */
export function knownScenarios(): readonly KnownScenario[] {
  known ??= Object.entries(scenarioGroups).flatMap(([group, ids]) =>
    ids.map((id) => {
      const file = fileURLToPath(new URL(`${id}.yaml`, folder))
      const scenario = parseScenario(readFileSync(file, 'utf8'), `${id}.yaml`)
      return { id, group, scenario: scenario as BreakerScenario, file }
    }),
  )
  return known
}
