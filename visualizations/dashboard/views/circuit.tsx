import { useSignal } from '@preact/signals'
import type { Act } from '../command-form.ts'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { meaning } from '../in-words.ts'
import { BOARD, actorHref } from '../route.ts'
import { Chart } from './chart.tsx'
import { CircuitFigures, FailureKinds } from './circuit-figures.tsx'
import { CommandDialog } from './command-dialog.tsx'
import { useFocusOnArrival } from './focus.ts'
import { HoldTag } from './hold-tag.tsx'
import { Lamp, Lever } from './lever.tsx'
import { NewTab } from './new-tab.tsx'
import { usePanel } from './panel-context.ts'
import { TimelineList } from './timeline-list.tsx'
import { Countdown, HowLong, Telling, When } from './times.tsx'
import { useOwnTimeline } from './own-timeline.ts'

// the countdown beside it tells the same to the second
const NEXT_TRY = / Worth another try in [\d.]+ \w+\.$/

/** One circuit, with everything that is known of it and everything that can be done to it. */
export function Circuit({ name }: { readonly name: string }) {
  const { circuits } = usePanel()
  const heading = useFocusOnArrival()
  const view = circuits.get(name)?.value
  return (
    <main id="main" class="page circuit">
      <p class="back">
        <a href={BOARD}>← Board</a>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{name}</bdi>
      </h1>
      {view === undefined ? <Unknown isKnown={circuits.areKnown.value} /> : <Details view={view} />}
    </main>
  )
}

function Unknown({ isKnown }: { readonly isKnown: boolean }) {
  if (!isKnown) return <p>Waiting for the gateway …</p>
  return (
    <p>
      There is no circuit of this name, or it has not been used yet: its first call makes it.{' '}
      <a href={BOARD}>See those that are there.</a>
    </p>
  )
}

function Details({ view }: { readonly view: CircuitView }) {
  const entries = useOwnTimeline(view)
  const last = entries.find(({ to, type }) => to === view.state && type !== 'breaker.started')
  return (
    <div class="details">
      <Faceplate view={view} />
      <section class="reasons" aria-labelledby="why">
        <h2 id="why">Why</h2>
        <p class="explain">
          <Telling text={view.explain.replace(NEXT_TRY, '')} />
        </p>
        <p class="rules">{view.rules}</p>
        <h2 id="failures">Failures by kind</h2>
        <FailureKinds failures={view.failures} />
      </section>
      <section class="numbers" aria-labelledby="numbers">
        <h2 id="numbers">Numbers</h2>
        <CircuitFigures view={view} />
      </section>
      <section class="statechart" aria-labelledby="statechart">
        <div class="headed">
          <h2 id="statechart">Statechart</h2>
          <NewTab class="button" href={actorHref(view.circuit)}>
            Watch it live
          </NewTab>
        </div>
        <Chart view={view} last={last} />
      </section>
      <section class="own-timeline" aria-labelledby="own-timeline">
        <h2 id="own-timeline">Timeline</h2>
        <TimelineList entries={entries} ofOne />
      </section>
    </div>
  )
}

function Faceplate({ view }: { readonly view: CircuitView }) {
  const { connection } = usePanel()
  const act = useSignal<Act | undefined>(undefined)
  const { state, held, hold, since, targets, model } = view
  const isLost = connection.value.state !== 'live'
  const button = (each: Act, words: string) => (
    <button class="button" type="button" disabled={isLost} onClick={() => (act.value = each)}>
      {words}
    </button>
  )
  return (
    <section class="plate" data-state={state} aria-label="State and commands">
      <div class="plate-face">
        <Lever state={state} held={held} />
        <div class="says">
          <p class="state">
            <Lamp state={state} />
            <b>{state}</b>
          </p>
          <p class="meaning">{meaning(view)}</p>
          <p class="since">
            for <HowLong since={since} />, since <When at={since} />
          </p>
          <Countdown view={view} />
        </div>
      </div>
      {hold !== undefined && <HoldTag hold={hold} />}
      <div class="acts" role="group" aria-label="Commands">
        {/* an open without a hold never lifts one */}
        {!held && button('open', 'Open …')}
        {(held || state !== 'closed') && button('close', held ? 'Close, ending the hold …' : 'Close …')}
        {button('hold', held ? 'Hold otherwise …' : 'Hold …')}
      </div>
      {isLost && <p class="hint">Commands wait for the connection.</p>}
      <dl class="through">
        <div>
          <dt>{targets.length === 1 ? 'target' : 'targets'}</dt>
          <dd>{targets.join(', ')}</dd>
        </div>
        {model !== undefined && (
          <div>
            <dt>model</dt>
            <dd>{model}</dd>
          </div>
        )}
      </dl>
      {act.value !== undefined && (
        <CommandDialog view={view} act={act.value} onClose={() => (act.value = undefined)} />
      )}
    </section>
  )
}
