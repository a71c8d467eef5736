import type { ReadonlySignal } from '@preact/signals'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { exact, latency, meaning, short } from '../in-words.ts'
import { circuitHref } from '../route.ts'
import { HoldTag } from './hold-tag.tsx'
import { Lamp, Lever } from './lever.tsx'
import { Countdown, HowLong } from './times.tsx'

const MOST_KINDS = 3

/** One breaker on its rail. */
export function Module({ circuit }: { readonly circuit: ReadonlySignal<CircuitView> }) {
  const { value: view } = circuit
  const { circuit: name, state, held, hold, since, failures } = view
  return (
    <li class="module" data-state={state} data-held={held}>
      <h2 class="strip">
        <a href={circuitHref(name)} data-circuit={name}>
          <bdi>{name}</bdi>
        </a>
      </h2>
      <div class="face">
        <Lever state={state} held={held} />
        <div class="says">
          <p class="state">
            <Lamp state={state} />
            <b>{state}</b>
          </p>
          <p class="meaning">{meaning(view)}</p>
          <p class="since">
            for <HowLong since={since} />
          </p>
          <Countdown view={view} />
        </div>
      </div>
      <div class="notes">
        {hold === undefined ? <Why view={view} /> : <HoldTag hold={hold} />}
        <Kinds failures={failures} />
      </div>
      <Figures view={view} />
    </li>
  )
}

/** Why it is as it is, where that is worth a line. */
function Why({ view }: { readonly view: CircuitView }) {
  const { circuit, state, targets, model, why } = view
  if (state === 'closed') {
    const through = [...targets.filter((target) => target !== circuit), model].filter(Boolean)
    return <p class="why quiet">{through.join(' · ')}</p>
  }
  return <p class="why">{why}</p>
}

function Kinds({ failures }: { readonly failures: CircuitView['failures'] }) {
  const kinds = Object.entries(failures).sort(([, a], [, b]) => b - a)
  if (kinds.length === 0) return null
  const more = kinds.length - MOST_KINDS
  return (
    <ul class="kinds" aria-label="failures by kind">
      {kinds.slice(0, more === 1 ? MOST_KINDS + 1 : MOST_KINDS).map(([kind, n]) => (
        <li key={kind}>
          {kind} <b>{short(n)}</b>
        </li>
      ))}
      {more > 1 && <li>{more} more kinds</li>}
    </ul>
  )
}

function Figures({ view }: { readonly view: CircuitView }) {
  const { fallbacks } = view
  const wentOn =
    fallbacks === null
      ? 'How many calls went on to another target cannot be told for this circuit alone'
      : `${exact(fallbacks)} calls went on from here to another target`
  return (
    <dl class="figures">
      <div title="95 of 100 answers were quicker">
        <dt>p95</dt>
        <dd>{latency(view.p95Ms)}</dd>
      </div>
      <div title={`${exact(view.refused)} calls were refused, hence saved`}>
        <dt>saved</dt>
        <dd>{short(view.refused)}</dd>
      </div>
      <div title={wentOn}>
        <dt>fallback</dt>
        <dd>{fallbacks === null ? '–' : short(fallbacks)}</dd>
      </div>
    </dl>
  )
}
