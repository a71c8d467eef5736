import type { ComponentChildren } from 'preact'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { exact, latency, percent } from '../in-words.ts'

/** All numbers of a circuit, each with what it means. */
export function CircuitFigures({ view }: { readonly view: CircuitView }) {
  const { calls, p95Ms, refused, fallbacks, late, consecutiveFailures, failureRatio } = view
  const { generation, reopenCount, probes } = view
  return (
    <dl class="all-figures">
      <Figure name="p95" value={latency(p95Ms)}>
        {p95Ms === null
          ? 'cannot be told for this circuit alone, or no call yet'
          : '95 of 100 attempts were quicker'}
      </Figure>
      <Figure name="calls saved" value={exact(refused)}>
        refused while it was open: nothing was sent
      </Figure>
      <Figure name="fallback" value={fallbacks === null ? '–' : exact(fallbacks)}>
        {fallbacks === null
          ? 'cannot be told for this circuit alone'
          : 'calls that went on from here to another target'}
      </Figure>
      <Figure
        name="visits"
        value={`${exact(calls.success)} / ${exact(calls.failure)} / ${exact(calls.neutral)}`}
      >
        success / failure / neutral
      </Figure>
      <Figure name="failures in a row" value={exact(consecutiveFailures)}>
        {view.lastFailureKind === undefined ? 'none yet' : `the last of kind ${view.lastFailureKind}`}
      </Figure>
      <Figure name="failure ratio" value={failureRatio === null ? '–' : percent(failureRatio)}>
        {failureRatio === null ? 'no window, or nothing in it' : 'of the calls in the window'}
      </Figure>
      <Figure name="probes" value={`${probes.inFlight} / ${probes.succeeded} / ${probes.failed}`}>
        under way / passed / failed in this trial
      </Figure>
      <Figure name="trials failed" value={exact(reopenCount)}>
        since it was last closed
      </Figure>
      <Figure name="late" value={exact(late)}>
        outcomes of an earlier generation: counted, deciding nothing
      </Figure>
      <Figure name="generation" value={exact(generation)}>
        grows with every opening, trial and closing
      </Figure>
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly children: ComponentChildren
}

function Figure({ name, value, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="value">{value}</dd>
      <dd class="means">{children}</dd>
    </div>
  )
}

/** Failures by kind, the most frequent first, each with its share as a bar. */
export function FailureKinds({ failures }: Pick<CircuitView, 'failures'>) {
  const kinds = Object.entries(failures).sort(([, a], [, b]) => b - a)
  const most = kinds[0]?.[1] ?? 0
  if (most === 0) return <p class="hint">None since the counters were last empty.</p>
  return (
    <ul class="bars">
      {kinds.map(([kind, n]) => (
        <li key={kind}>
          <span>{kind}</span>
          <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(100 * n) / most} height="1" />
          </svg>
          <b>{exact(n)}</b>
        </li>
      ))}
    </ul>
  )
}
