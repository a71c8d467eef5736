import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { percent } from '../words.ts'
import type { Block } from './document.ts'
import { callsAMinute } from './traffic.ts'
import type { Traffic } from './traffic.ts'
import { whatIf, whatIfCooldown } from './what-if.ts'

/** Tables of other numbers; `id` begins that of the heading. */
export function whatIfBlocks(policy: BreakerPolicy, id: string, traffic: Traffic): Block[] {
  const changed = whatIf(policy, traffic)
  const cooldowns = whatIfCooldown(policy)
  const mark = (change: string, isConfigured: boolean) => (isConfigured ? `**${change}** (as it is)` : change)
  const { failing, perMinute, isAssumed } = traffic
  const rate = `${callsAMinute(perMinute)}${isAssumed ? ' (assumed: nobody has said how many, `--calls-per-minute` does)' : ''}`
  const title: Block = {
    kind: 'heading',
    level: 3,
    id: `${id}-what-if`,
    text: 'What if one number were another?',
  }
  const tables: Block[] = [
    ...(changed.length === 0
      ? []
      : ([
          {
            kind: 'text',
            text: `Computed for ${rate} that fail independently of each other: what it takes to open; how often a healthy target that fails ${percent(failing)} of its calls is shut off by mistake; and how soon it opens where a third of the calls fails. Each row is that rule alone, unless it says together.`,
          },
          {
            kind: 'table',
            head: ['Rule', 'Opens on', 'A healthy target is shut off', 'When a third fails, it opens'],
            rows: changed.map(({ change, isConfigured, opensAfter, byMistake, whenAThirdFails }) => [
              mark(change, isConfigured),
              opensAfter,
              byMistake,
              whenAThirdFails,
            ]),
          },
        ] satisfies Block[])),
    ...(cooldowns.length === 0
      ? []
      : ([
          {
            kind: 'table',
            head: [
              'Open periods',
              'Refused after the first opening',
              'Longest, and still refused at most when it is well again',
              'Trials an hour, while it stays down',
            ],
            rows: cooldowns.map(({ change, isConfigured, first, longest, trialsAnHour }) => [
              mark(change, isConfigured),
              first,
              longest,
              trialsAnHour,
            ]),
          },
        ] satisfies Block[])),
  ]
  return tables.length === 0 ? [] : [title, ...tables]
}
