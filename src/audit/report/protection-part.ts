import type { Audited, AuditedGroup } from '../audited.ts'
import { lasting, listed, plural } from '../words.ts'
import type { Block } from './document.ts'
import type { NamedPolicy } from './policy-part.ts'

const limit = (ms: number) => (ms === Infinity ? 'none' : lasting(ms))

/** Which targets there are, and what surrounds them. */
export function protection(audited: Audited, policies: readonly NamedPolicy[]): Block[] {
  const rulesFor = (name: string) =>
    policies.find(({ targets }) => targets.some((target) => target.name === name))?.name ?? '**none**'
  const { deadlineMs, whenAllOpen, retryBudget, alerts, journal } = audited
  const allOpen = {
    fail: 'the call fails at once and is told when to come back',
    'last-resort': 'the one whose open period ends first is asked all the same, once',
    wait: `the call waits for one of them, ${whenAllOpen.kind === 'wait' ? lasting(whenAllOpen.waitMs) : ''} at most`,
  }[whenAllOpen.kind]
  const budget =
    retryBudget === false
      ? 'Retries are without budget.'
      : `Retries of all calls together draw on one budget: ${plural(retryBudget.capacity ?? 10, 'retry', 'retries')} can be saved up, ${earned(retryBudget.perCall ?? 0.2)}.`
  const told = (alerts ?? []).map(({ on }) => on.join(', '))
  return [
    { kind: 'heading', level: 2, id: 'protected', text: 'What is protected' },
    {
      kind: 'table',
      head: ['Target', 'Asked for', 'At', 'Circuit', 'Rules', 'Gives up after', 'Retries'],
      rows: audited.targets.map((target) => [
        target.name,
        target.model ?? 'what the caller asks for',
        target.host ?? 'code',
        target.rules === undefined
          ? 'none'
          : target.rules.isolateByModel
            ? `${target.bucket}, one for each model`
            : target.bucket,
        rulesFor(target.name),
        `${limit(target.timeoutMs)}; first content ${limit(target.firstContentTimeoutMs)}; a gap ${limit(target.idleTimeoutMs)}`,
        String(target.maxRetries),
      ]),
    },
    {
      kind: 'list',
      items: [
        ...audited.groups.map(chainText),
        ...specialLists('A prompt that is too long for', audited.contextWindowFallbacks),
        ...specialLists('A prompt that was refused by a filter of', audited.contentPolicyFallbacks),
        `When every circuit of a call is open, ${allOpen}.`,
        deadlineMs === undefined
          ? 'A whole call has no deadline.'
          : `A whole call ends after ${lasting(deadlineMs)}, whatever happens.`,
        budget,
        ...(alerts === undefined
          ? []
          : [
              alerts.length === 0
                ? 'No alert is sent to anybody, whatever happens.'
                : `Alerts are sent for: ${told.join('; ')}.`,
            ]),
        ...(journal === undefined
          ? []
          : [journal ? 'Every change of a circuit is written into a journal.' : 'No journal is kept.']),
      ],
    },
  ]
}

/** `every 5 calls earn one`. */
function earned(perCall: number): string {
  if (perCall === 0) return 'and no call earns another'
  const calls = Math.round(10 / perCall) / 10
  if (calls === 1) return 'every call earns one'
  return calls > 1 ? `every ${calls} calls earn one` : `every call earns ${Math.round(perCall * 10) / 10}`
}

function chainText({ name, targets, strategy, fallbacks }: AuditedGroup): string {
  const first =
    targets.length === 1
      ? targets[0]
      : `${strategy === 'ordered' ? targets.join(', then ') : `${listed(targets, 'or')} (${strategy})`}`
  const then = fallbacks.length === 0 ? '' : `, then ${fallbacks.join(', then ')}`
  const who =
    name === null ? 'Every call' : name === '*' ? 'A call for any other model' : `A call for **${name}**`
  return `${who} asks ${first}${then}. A target whose circuit is open is passed over.`
}

const specialLists = (what: string, lists: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(lists).map(([from, list]) => `${what} ${from} goes to ${list.join(', then ')}.`)
