import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { duration, moment, timeLeft } from '../in-words.ts'
import { usePanel } from './panel-context.ts'

/** A moment, for people and machines. */
export function When({ at, isRough = false }: { readonly at: number; readonly isRough?: boolean }) {
  const { heardAt } = usePanel()
  // read while drawing: a computed signal would keep the moment it was made for
  return <time dateTime={new Date(at).toISOString()}>{moment(at, heardAt.value, isRough)}</time>
}

const DATE = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** A sentence of the gateway; its dates are told in the reader's time. */
export function Telling({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split(DATE)
        .map((part, place) => (place % 2 === 1 ? <When key={place} at={Date.parse(part)} /> : part))}
    </>
  )
}

/** How long ago, counting up. */
export function HowLong({ since }: { readonly since: number }) {
  const { now } = usePanel()
  return <time dateTime={new Date(since).toISOString()}>{duration(now.value - since)}</time>
}

/** What a circuit waits for, counting down. */
export function Countdown({ view }: { readonly view: CircuitView }) {
  const { state, hold, openUntil, since, probes } = view
  if (hold !== undefined) {
    return hold.until === null ? (
      <p class="next">until somebody ends it</p>
    ) : (
      <Left words="hold ends" over="hold is over" from={since} until={hold.until} />
    )
  }
  if (state === 'half-open') {
    const { inFlight, succeeded, failed } = probes
    return (
      <p class="next">
        {inFlight} under way, {succeeded} passed, {failed} failed
      </p>
    )
  }
  if (state !== 'open' || openUntil === null) return null
  return <Left words="next probe" over="next call is a probe" from={since} until={openUntil} />
}

interface LeftProps {
  readonly words: string
  /** What is said once the time is over. */
  readonly over: string
  readonly from: number
  readonly until: number
}

function Left({ words, over, from, until }: LeftProps) {
  const { now } = usePanel()
  const left = until - now.value
  const text = left <= 0 ? over : `${words} in ${timeLeft(left)}`
  const share = (100 * Math.min(1, Math.max(0, left / Math.max(1, until - from)))).toFixed(1)
  return (
    <div class="next">
      <p role="timer">{text}</p>
      <svg class="next-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="next-bar-left" width={share} height="1" />
      </svg>
    </div>
  )
}
