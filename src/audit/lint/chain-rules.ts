import type { Audited, AuditedGroup, AuditedTarget } from '../audited.ts'
import { isLastOfAGroup, longestCall } from '../longest-call.ts'
import { hangingVisitMs } from '../longest-visit.ts'
import { lasting, listed } from '../words.ts'
import { ofTarget } from './finding.ts'
import type { Found, LintRule, Told } from './finding.ts'

const LONG_CALL_MS = 300_000

const chainOf = ({ targets, fallbacks }: AuditedGroup) => [...targets, ...fallbacks]
const targetsOf = (audited: Audited, group: AuditedGroup): AuditedTarget[] =>
  chainOf(group).flatMap((name) => audited.targets.find((target) => target.name === name) ?? [])
const groupName = ({ name }: AuditedGroup) =>
  name === null ? 'every call' : name === '*' ? 'calls for any other model' : `calls for ${name}`

type PerGroup = (targets: readonly AuditedTarget[], group: AuditedGroup, audited: Audited) => Told

const ofGroup =
  (tell: PerGroup): LintRule['find'] =>
  ({ audited }) =>
    audited.groups.flatMap((group): Found[] => {
      const told = tell(targetsOf(audited, group), group, audited)
      if (told === undefined) return []
      return [typeof told === 'string' ? [groupName(group), told] : [groupName(group), ...told]]
    })

const isLastOfAChain = (name: string, audited: Audited) =>
  audited.groups.length > 0 && isLastOfAGroup(name, audited)

const lastOpenEnd: LintRule = {
  id: 'last-target-without-breaker',
  severity: 'warning',
  reason: 'When everything before it is down, everybody waits for the last one, and nothing ever ends that.',
  find: ofTarget((target, { audited }) => {
    if (target.rules !== undefined || !isLastOfAChain(target.name, audited)) return undefined
    return [
      `The last target of a chain has no circuit breaker. If it hangs, every call waits for it, ${lasting(hangingVisitMs(target, true))} at most.`,
      'Set `circuitBreaker: true` for it.',
    ]
  }),
}

const unguarded: LintRule = {
  id: 'target-without-breaker',
  severity: 'warning',
  reason: 'Every call pays for its outage anew before it goes on to the next target.',
  find: ofTarget((target, { audited }) =>
    target.rules === undefined && !isLastOfAChain(target.name, audited)
      ? ['A target has no circuit breaker.', 'Set `circuitBreaker: true` for it.']
      : undefined,
  ),
}

const oneForAll: LintRule = {
  id: 'one-breaker-for-all',
  severity: 'problem',
  reason: 'What is sick shuts off what is well. A circuit protects one thing that fails as one.',
  find: ({ audited }) => {
    const shared = Map.groupBy(
      audited.targets.filter(({ rules }) => rules !== undefined),
      ({ bucket }) => bucket,
    )
    return [...shared].flatMap(([bucket, targets]): Found[] => {
      const tools = targets.length > 1 && targets.some(({ surface }) => surface === 'tool')
      const hosts = new Set(targets.map(({ host }) => host ?? ''))
      const models = new Set(
        targets.map(({ model, rules }) => (rules?.isolateByModel === true ? '' : (model ?? ''))),
      )
      if (!tools && hosts.size < 2 && models.size < 2) return []
      const names = targets.map(({ name }) => name)
      const what = tools
        ? 'tools'
        : hosts.size > 1
          ? 'targets of different hosts'
          : 'targets of different models'
      return [
        [
          names.join(', '),
          `${listed(names)}, ${what}, share the circuit '${bucket}'.`,
          'Leave `bucket` out: each target then has a circuit of its own.',
        ],
      ]
    })
  },
}

const nowhereToGo: LintRule = {
  id: 'no-fallback',
  severity: 'question',
  reason:
    'While its circuit is open every call is refused. For some calls that is right; their owner should have said so.',
  find: ofGroup((targets) =>
    targets.length === 1 ? `Only ${targets[0]!.name} can answer, and nothing stands behind it.` : undefined,
  ),
}

const oneDomain: LintRule = {
  id: 'one-failure-domain',
  severity: 'warning',
  reason: 'What takes down the first target takes down its fallbacks with it.',
  find: ofGroup((targets) => {
    const hosts = new Set(targets.map(({ host }) => host))
    const [host] = hosts
    if (targets.length < 2 || hosts.size > 1 || host === undefined) return undefined
    return [`All ${targets.length} targets stand on ${host}.`, 'Put a target of another host behind them.']
  }),
}

const lastResort: LintRule = {
  id: 'falls-back-into-an-open-circuit',
  severity: 'question',
  reason: 'Going on to a target that is known to be down moves the error and costs its time.',
  find: ({ audited: { whenAllOpen } }) =>
    whenAllOpen.kind === 'last-resort'
      ? [
          [
            'every call',
            'When every circuit is open, the one that opens first next is asked all the same. Is a late error better than an early one?',
          ],
        ]
      : [],
}

const noLimit: LintRule = {
  id: 'endless-timeout',
  severity: 'problem',
  reason: 'A call that never ends is never counted: a target that hangs does not open its circuit.',
  find: ofTarget(({ timeoutMs }) =>
    timeoutMs === Infinity
      ? ['A call has no limit (timeoutMs is Infinity).', 'Set `timeoutMs: 60000`, or what your users bear.']
      : undefined,
  ),
}

const shortDeadline: LintRule = {
  id: 'deadline-below-timeout',
  severity: 'warning',
  reason:
    'The time for the whole call is over before the first target has hung long enough to be left: no fallback is ever reached.',
  find: ofTarget(({ timeoutMs }, { audited: { deadlineMs } }) =>
    deadlineMs !== undefined && timeoutMs !== Infinity && deadlineMs <= timeoutMs
      ? [
          `The deadline of a call is ${lasting(deadlineMs)}, one attempt may take ${lasting(timeoutMs)}.`,
          `Set \`timeoutMs: ${Math.max(1, Math.floor(deadlineMs / 2))}\` or less: half of the deadline leaves as much for another target.`,
        ]
      : undefined,
  ),
}

const noDeadline: LintRule = {
  id: 'no-deadline',
  severity: 'question',
  reason: 'Users have left long before, and their calls still hold connections.',
  find: ofGroup((_targets, group, audited) => {
    const { mostMs } = longestCall(audited, group)
    if (audited.deadlineMs !== undefined || mostMs <= LONG_CALL_MS) return undefined
    return `No deadline is set for a whole call. With every limit and every retry used up it may take ${lasting(mostMs)}.`
  }),
}

export const chainRules = [
  lastOpenEnd,
  unguarded,
  oneForAll,
  nowhereToGo,
  oneDomain,
  lastResort,
  noLimit,
  shortDeadline,
  noDeadline,
] as const
