import { grouped, plural } from '../words.ts'
import type { Block } from './document.ts'
import type { Exploration } from './invariants.ts'
import type { Stories } from './stories.ts'

/** What was checked, how far, and what it has shown. */
export function proof(exploration: Exploration | undefined, stories: Stories | undefined): Block[] {
  const walked: Block[] = stories === undefined ? [] : [{ kind: 'text', text: walkedText(stories) }]
  if (exploration === undefined) {
    return [
      {
        kind: 'text',
        text: 'Too many probes to try every situation: what must always be true was not checked for these numbers.',
      },
      ...walked,
    ]
  }
  const { situations, edges, invariants } = exploration
  return [
    {
      kind: 'text',
      text: `Two checks stand behind this report. **First, the rules as such.** Open or closed, held or not, how far a trial is, how many trials have failed in a row (three or more are taken as one): that makes ${situations} situations. In each of them every kind of event was tried, ${grouped(edges)} steps in all, and no situation was left out. That a rule is met, or not, is taken as given here; the second check looks at the counters. Of every step that it concerns was asked what must always be true:`,
    },
    {
      kind: 'table',
      head: ['Always true', 'Checked on', 'Broken'],
      rows: invariants.map(({ sentence, asked, broken }) => [
        sentence,
        asked,
        broken === 0 ? 'never' : `**${broken} times**`,
      ]),
    },
    ...walked,
  ]
}

function walkedText({ walked: { places, steps, complete, bounds }, played, failed }: Stories): string {
  const limits = [
    ...(bounds.outcomes > 0 ? [`${plural(bounds.outcomes, 'call')} remembered at most`] : []),
    `${plural(bounds.inside, 'call')} under way at a time`,
    ...(bounds.reopens > 0 ? [`${plural(bounds.reopens, 'failed trial')} in a row told apart`] : []),
  ]
  const how = complete
    ? 'which are all there are within these bounds'
    : 'the nearest ones: the search ended when every story was found'
  return `**Second, the stories**, with real counters and a clock. There is no end of what can happen to those, so this is a search and no proof: ${grouped(places)} points in ${grouped(steps)} steps, ${how} (${limits.join(', ')}). Each story was then played on the breaker that serves calls: **${played} played, ${failed === 0 ? 'every one came out as told' : `${failed} came out otherwise`}**.`
}
