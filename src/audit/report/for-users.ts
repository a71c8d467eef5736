import type { Audited, AuditedGroup } from '../audited.ts'
import { isLastOfAGroup, longestCall } from '../longest-call.ts'
import { hangingVisitMs } from '../longest-visit.ts'
import { openPeriods } from '../open-periods.ts'
import { aboutEvery, lasting, percent, plural } from '../words.ts'
import type { Block } from './document.ts'
import type { NamedPolicy } from './policy-part.ts'
import { lostToAny, neededProbes, refused } from './refused.ts'
import { callsAMinute, inQuietHours } from './traffic.ts'
import type { Traffic } from './traffic.ts'

/** Sets of rules side by side in one table. */
const MOST_COLUMNS = 3

/** What those live with who only want an answer: how long, how many, at best and at worst. */
export function forUsers(
  audited: Audited,
  policies: readonly NamedPolicy[],
  traffic: (policy: NamedPolicy) => Traffic,
): Block[] {
  const tables: Block[] = []
  for (let at = 0; at < policies.length; at += MOST_COLUMNS) {
    const some = policies.slice(at, at + MOST_COLUMNS)
    const columns = some.map((policy) => column(audited, policy, traffic(policy)))
    tables.push({
      kind: 'table',
      head: ['What they meet', ...some.map(({ name }) => `Rules of ${name}`)],
      rows: ROWS.map((title, row) => [title, ...columns.map((cells) => cells[row] ?? '')]),
    })
  }
  return [
    { kind: 'heading', level: 2, id: 'users', text: 'For our users' },
    ...tables,
    {
      kind: 'text',
      text: `A refused call is not lost where another target stands behind: it goes there at once, without waiting. **An operator’s hold is not in these times**: without an end of its own it lasts until an operator ends it. And a trial needs calls: if nobody calls, it takes until somebody does.`,
    },
    ...(audited.groups.length === 0
      ? []
      : ([
          {
            kind: 'table',
            head: [
              'One call',
              'Longest wait for an answer',
              'If nobody answers at all',
              'While circuits are open',
            ],
            rows: audited.groups.map((group) => callRow(audited, group)),
          },
          {
            kind: 'text',
            text: 'The longest wait is that with every limit and every retry of every target used up. An answer that streams may go on for longer, as long as it keeps coming.',
          },
        ] satisfies Block[])),
  ]
}

const ROWS = [
  'Failed calls until it opens, when every call fails',
  'Calls that have begun by then, when the provider hangs',
  'Refused at best, counted from the first refusal',
  'Refused while the provider is down',
  'Still refused once it is well again, as a rule',
  'Still refused once it is well again, **at worst**',
  'A healthy provider is shut off by mistake',
] as const

function column(audited: Audited, policy: NamedPolicy, traffic: Traffic): string[] {
  const { rules } = policy
  if (rules.observe) return ROWS.map(() => 'only observed: nothing is refused')
  return [
    lost(policy, traffic),
    hanging(audited, policy, traffic),
    best(policy),
    trials(policy),
    usual(policy),
    worst(policy),
    byMistake(traffic),
  ]
}

function lost({ rules: { policy } }: NamedPolicy, { said }: Traffic): string {
  const { least, most } = lostToAny(policy, said)
  if (most === Infinity)
    return least === Infinity ? 'it never opens for that' : 'it does not open at this traffic'
  if (most === undefined) return `${least} at least; how many at most depends on the traffic`
  return least >= most ? String(most) : `${least} to ${most}`
}

function hanging(audited: Audited, { rules: { policy }, targets }: NamedPolicy, { said }: Traffic): string {
  const waits = targets.map((target) => hangingVisitMs(target, isLastOfAGroup(target.name, audited)))
  const ms = Math.max(...waits)
  if (ms === Infinity) return 'no limit: a hanging call is never counted'
  const { most } = lostToAny(policy, said)
  if (said === undefined || most === undefined || most === Infinity)
    return `all calls of ${lasting(ms)}: only then the first one counts`
  return `about ${Math.round((said * ms) / 60_000) + most}: the first one counts after ${lasting(ms)}`
}

function best(policy: NamedPolicy): string {
  const { first } = refused(policy)
  return `${lasting(first.leastMs)}, and ${answers(policy)}`
}

/** What a trial takes that goes well. */
const answers = ({ rules: { policy } }: NamedPolicy) => {
  const needed = neededProbes(policy)
  return needed === 1 ? 'the time of one answer' : `the time of ${needed} answers`
}

function trials({ rules: { policy } }: NamedPolicy): string {
  const { leastMs, mostMs } = openPeriods(policy).at(-1) ?? { leastMs: 0, mostMs: 0 }
  const mean = (leastMs + mostMs) / 2
  const perHour = mean < 1000 ? Infinity : Math.floor(3_600_000 / mean)
  const often =
    perHour === Infinity ? 'more than one trial a second' : `about ${plural(perHour, 'trial')} an hour`
  return `all but the probes: ${often}, ${policy.halfOpenProbes === 1 ? 'one call each' : `up to ${policy.halfOpenProbes} calls each`}`
}

function usual(policy: NamedPolicy): string {
  const { grownMs } = refused(policy)
  if (grownMs === Infinity) return 'no upper end: the open periods grow'
  return `${lasting(grownMs)} at most, and ${answers(policy)}`
}

function worst(policy: NamedPolicy): string {
  const { worstMs, openMs, trial } = refused(policy)
  if (worstMs === Infinity) return '**no upper end**'
  return `**${lasting(worstMs)}**: ${lasting(openMs)} open, ${lasting(trial.ms)} of a trial with the slowest of answers`
}

function byMistake({ isAssumed, perMinute, failing, mistakes: { perDay }, quiet }: Traffic): string {
  const at = `${percent(failing)} of ${isAssumed ? 'an assumed ' : ''}${callsAMinute(perMinute)} fail`
  return `${aboutEvery(perDay)} (${at})${inQuietHours(quiet)}`
}

function callRow(audited: Audited, group: AuditedGroup): string[] {
  const { mostMs, visits, hangingMs } = longestCall(audited, group)
  const parts = visits.map(({ name, ms }) => `${name} ${lasting(ms)}`).join(', then ')
  const guarded = visits.filter(({ name }) =>
    audited.targets.some((target) => target.name === name && target.rules !== undefined),
  )
  const last =
    guarded.length < visits.length
      ? 'one without a circuit is always asked'
      : EVERY_OPEN[audited.whenAllOpen.kind]
  return [
    groupTitle(group),
    `**${lasting(mostMs)}**${visits.length > 1 || audited.deadlineMs !== undefined ? `: ${parts}${audited.deadlineMs === undefined ? '' : `; the deadline ends it after ${lasting(audited.deadlineMs)}`}` : ''}`,
    lasting(hangingMs),
    visits.length === 1
      ? `${visits[0]!.name} open: ${last}`
      : `one open: the next is asked at once; all open: ${last}`,
  ]
}

const EVERY_OPEN = {
  fail: 'an error at once, that says when to come back',
  'last-resort': 'one of them is asked all the same',
  wait: 'the call waits for one to return, then fails',
} as const

export const groupTitle = ({ name }: AuditedGroup): string =>
  name === null ? 'Every call' : name === '*' ? 'A call for any other model' : `A call for **${name}**`
