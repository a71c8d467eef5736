import type { PanelSketch } from './panels.ts'
import { hops, metric, over, quantile, rate, stateCode } from './queries.ts'

const CIRCUIT = '{{target}} {{model}}'

const stat = (
  title: string,
  description: string,
  expr: string,
  more: Partial<PanelSketch> = {},
): PanelSketch => ({
  type: 'stat',
  title,
  description,
  queries: [{ expr, legend: title, instant: true }],
  width: 4,
  height: 4,
  ...more,
})

const lines = (
  title: string,
  description: string,
  expr: string,
  legend: string,
  more: Partial<PanelSketch> = {},
): PanelSketch => ({ type: 'timeseries', title, description, queries: [{ expr, legend }], min: 0, ...more })

const good = 'green'
const bad = 'red'
const watch = 'orange'

/** The panels, row by row. */
export const sketches: readonly { readonly row: string; readonly panels: readonly PanelSketch[] }[] = [
  {
    row: 'At a glance',
    panels: [
      stat(
        'Open circuits',
        'Circuits that refuse calls now, half-open ones included.',
        `sum(${metric('breakerState', { state: 'open|half-open' })})`,
        {
          colours: [
            [good, null],
            [bad, 1],
          ],
        },
      ),
      stat(
        'Held by hand',
        'Circuits that an operator holds open or closed.',
        `sum(${metric('breakerHeld')})`,
        {
          colours: [
            [good, null],
            [watch, 1],
          ],
        },
      ),
      stat(
        'Answered',
        'Share of the callers’ requests that were answered. What callers did wrong themselves, or gave up, is left out.',
        `sum(increase(${metric('requests', { result: 'answered' })}[$__range])) / (sum(increase(${metric('requests', { result: 'answered|failed|refused|interrupted|deadline' })}[$__range])) > 0)`,
        {
          unit: 'percentunit',
          max: 1,
          fallback: 'no requests',
          colours: [
            [bad, null],
            [watch, 0.95],
            [good, 0.99],
          ],
        },
      ),
      stat(
        'Calls saved',
        'Calls that were refused instead of being sent to a target that is down.',
        `sum(increase(${metric('refused')}[$__range]))`,
        { unit: 'short', colours: [['blue', null]] },
      ),
      stat(
        'Answered by a fallback',
        'Calls that another target answered after the first one failed or refused.',
        `sum(${hops('increase', '$__range', { result: 'success' })})`,
        { colours: [['blue', null]], fallback: '0' },
      ),
      stat('Requests now', 'Requests of callers that have not ended.', `sum(${metric('requestsInFlight')})`, {
        colours: [['blue', null]],
      }),
    ],
  },
  {
    row: 'Circuits',
    panels: [
      {
        type: 'state-timeline',
        title: 'State of the circuits',
        description: 'The worst state over all replicas that are chosen above.',
        queries: [{ expr: stateCode(), legend: CIRCUIT }],
        width: 24,
        height: 10,
        words: {
          0: { text: 'closed (calls flow)', color: good },
          1: { text: 'degraded', color: 'yellow' },
          2: { text: 'half-open (a trial)', color: watch },
          3: { text: 'open (calls refused)', color: bad },
        },
      },
      {
        type: 'bargauge',
        title: 'Next trial in',
        description:
          'How long an open circuit still waits. One that is held open is not shown: only an operator knows.',
        queries: [
          {
            expr: `max by (target, model) (${metric('openUntil')} - time()) > 0`,
            legend: CIRCUIT,
            instant: true,
          },
        ],
        unit: 's',
        min: 0,
        colours: [[watch, null]],
        fallback: 'no circuit is waiting',
      },
      lines(
        'How near to opening',
        'Share of the threshold that has been counted: a circuit opens at 1.',
        `max by (target, model) (${metric('thresholdRatio')})`,
        CIRCUIT,
        { unit: 'percentunit', max: 1 },
      ),
      lines(
        'Transitions',
        'Changes of state, by what caused them.',
        `sum by (target, from, to, reason) (increase(${metric('breakerTransitions')}[$__rate_interval])) > 0`,
        '{{target}}: {{from}} → {{to}} ({{reason}})',
        { bars: true, stacked: true },
      ),
      lines(
        'Probes in flight',
        'Calls that are let through to see whether a target is well again.',
        `sum by (target, model) (${metric('probesInFlight')})`,
        CIRCUIT,
      ),
    ],
  },
  {
    row: 'Traffic',
    panels: [
      lines('Requests by result', 'How the callers fared.', rate('result', 'requests'), '{{result}}', {
        unit: 'reqps',
        stacked: true,
      }),
      lines(
        'Calls by target',
        'Calls that were admitted, by outcome.',
        rate('target, outcome', 'calls'),
        '{{target}} {{outcome}}',
        {
          unit: 'reqps',
          stacked: true,
        },
      ),
      lines(
        'Refused: calls saved',
        'Calls that were not sent, by target and reason.',
        rate('target, reason', 'refused'),
        '{{target}} ({{reason}})',
        { unit: 'reqps', stacked: true },
      ),
      lines(
        'Fallback traffic',
        'Calls that went on from one target to the next, by what became of them there.',
        `sum by (from, to, result) (${hops('rate', '$__rate_interval')})`,
        '{{from}} → {{to}}: {{result}}',
        { unit: 'reqps', stacked: true },
      ),
      lines(
        'Retries',
        'Requests sent after the first one of a call at its target.',
        rate('target', 'retries'),
        '{{target}}',
        { unit: 'reqps' },
      ),
      lines(
        'Came too late',
        'Outcomes that decided nothing any more, because the circuit had moved on.',
        rate('target', 'late'),
        '{{target}}',
        { unit: 'reqps' },
      ),
    ],
  },
  {
    row: 'Failures',
    panels: [
      lines(
        'Failures by kind',
        'Requests without an answer.',
        `${rate('target, kind', 'failures')} > 0`,
        '{{target}}: {{kind}}',
        { unit: 'reqps', stacked: true },
      ),
      {
        type: 'timeseries',
        title: 'Failure ratio',
        description:
          'Failures among the calls that came to an outcome; thin: what the circuit itself counts in its window.',
        queries: [
          {
            expr: `${rate('target, model', 'calls', { outcome: 'failure' })} / ${rate('target, model', 'calls', { outcome: 'success|failure' })}`,
            legend: CIRCUIT,
          },
          { expr: `max by (target, model) (${metric('failureRatio')})`, legend: `${CIRCUIT} (window)` },
        ],
        unit: 'percentunit',
        min: 0,
        max: 1,
      },
      {
        type: 'bargauge',
        title: 'What went wrong, over the whole range',
        description: 'Requests without an answer by target and failure kind.',
        queries: [
          {
            expr: `topk(15, ${over('target, kind', 'failures')} > 0)`,
            legend: '{{target}}: {{kind}}',
            instant: true,
          },
        ],
        width: 24,
        colours: [[watch, null]],
        fallback: 'nothing',
      },
    ],
  },
  {
    row: 'Latency',
    panels: [
      {
        type: 'timeseries',
        title: 'Duration of requests',
        description:
          'Half of the requests are faster than p50, all but one in twenty faster than p95. Failed ones count, too.',
        queries: [
          { expr: quantile(0.5, 'attemptDuration'), legend: '{{target}} p50' },
          { expr: quantile(0.95, 'attemptDuration'), legend: '{{target}} p95' },
        ],
        unit: 's',
        min: 0,
      },
      {
        type: 'timeseries',
        title: 'Time to the first content of streams',
        description: 'What a person at a chat window waits for.',
        queries: [
          { expr: quantile(0.5, 'firstContent'), legend: '{{target}} p50' },
          { expr: quantile(0.95, 'firstContent'), legend: '{{target}} p95' },
        ],
        unit: 's',
        min: 0,
      },
    ],
  },
  {
    row: 'The gateway itself',
    panels: [
      stat('Journal', 'Whether what happens is written to the file.', `max(${metric('journalDegraded')})`, {
        words: { 0: { text: 'on file', color: good }, 1: { text: 'in memory only', color: bad } },
        fallback: 'off',
      }),
      stat(
        'Alerts dropped',
        'Alerts that reached no webhook.',
        `sum(increase(${metric('alerts', { result: 'dropped' })}[$__range]))`,
        {
          colours: [
            [good, null],
            [bad, 0.5],
          ],
          fallback: 'no webhooks',
        },
      ),
      lines('Replicas', 'What is running.', `count by (version) (${metric('build')})`, '{{version}}', {
        width: 16,
        height: 4,
      }),
    ],
  },
]
