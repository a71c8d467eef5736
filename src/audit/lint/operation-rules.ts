import { ofTarget } from './finding.ts'
import type { LintRule } from './finding.ts'

const nobody: LintRule = {
  id: 'nobody-alerted',
  severity: 'warning',
  reason: 'Whoever is not told of an open circuit hears of the outage from customers.',
  find: ({ audited: { alerts = [{ on: ['open'] }] } }) => {
    if (alerts.some(({ on }) => on.includes('open'))) return []
    return [
      [
        'the whole',
        'No alert is sent to anybody when a circuit opens.',
        'Add a receiver under `alerts` with `on: [open]` among its words.',
      ],
    ]
  },
}

const unseenAlerts: LintRule = {
  id: 'alerts-cannot-be-seen',
  severity: 'question',
  reason: nobody.reason,
  find: ({ audited: { alerts } }) =>
    alerts === undefined
      ? [['the whole', 'Who is told when a circuit opens? That cannot be seen from the rules.']]
      : [],
}

const forgets: LintRule = {
  id: 'no-journal',
  severity: 'warning',
  reason: 'After an incident nobody can say what happened, and after a restart every circuit begins closed.',
  find: ({ audited: { journal } }) =>
    journal === false ? [['the whole', 'No journal is kept.', 'Set `journal: true`.']] : [],
}

const sdkRetries: LintRule = {
  id: 'retries-outside',
  severity: 'question',
  reason:
    'Retries around the breaker turn one refusal into many, and hide failures from it. The SDKs of providers retry twice unless told otherwise.',
  find: () => [
    [
      'the whole',
      "Are the retries of every client's SDK switched off (maxRetries: 0)? That cannot be seen from here.",
    ],
  ],
}

const noBudget: LintRule = {
  id: 'retries-without-budget',
  severity: 'warning',
  reason: 'In an outage every call brings its retries: the load on a sick provider multiplies.',
  find: ({ audited: { retryBudget, targets } }) => {
    const most = Math.max(...targets.map(({ maxRetries }) => maxRetries))
    return retryBudget === false && most > 0
      ? [
          [
            'the whole',
            `Retries are without budget: up to ${most + 1} requests a call and target.`,
            'Leave `retryBudget` out: then 10 can be saved up, and every 5 calls earn one.',
          ],
        ]
      : []
  },
}

const ownCode: LintRule = {
  id: 'own-code',
  severity: 'question',
  reason: 'Code can decide anything: its reviewer must be somebody who reads it.',
  find: ofTarget(({ custom }) =>
    custom.length === 0
      ? undefined
      : `Code of its own decides: ${custom.join(', ')}. It stands outside of this report and its signature.`,
  ),
}

export const operationRules = [nobody, unseenAlerts, forgets, sdkRetries, noBudget, ownCode] as const
