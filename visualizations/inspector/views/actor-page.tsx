import { pageNow } from '../../dashboard/page-clock.ts'
import type { SeenRow } from '../actors.ts'
import { inWords, toneOf } from '../chart-states.ts'
import { Chart } from './chart.tsx'
import type { ChartProps } from './chart.tsx'

/** One actor: the chart of its machine, what it knows, and what it was sent. */
export function ActorPage({ actor, chartOf }: ChartProps) {
  const { told, ended, rows } = actor
  const { value: snapshot } = actor.snapshot
  return (
    <article data-state={toneOf(told.machine, snapshot)}>
      <h1>
        <bdi>{told.name}</bdi>{' '}
        <small>
          {told.machine}, <span class="actor-state">{inWords(snapshot.value)}</span>
          {ended.value && ' (ended)'}
        </small>
      </h1>
      <Chart actor={actor} chartOf={chartOf} />
      <div class="beneath">
        <section aria-label="Events">
          <h2>Events</h2>
          {rows.value.length === 0 && (
            <p class="hint">None since this page was opened. Only what may change a state is sent.</p>
          )}
          <ol class="rows" tabIndex={0} aria-label="Events, newest first">
            {rows.value.map((row) => (
              <Row key={row.key} row={row} />
            ))}
          </ol>
        </section>
        <section aria-label="Context">
          <h2>Context</h2>
          <dl class="context">
            {Object.entries(snapshot.context).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <code>{inJson(value)}</code>
                  {isTime(name, value) && <> ({clock.format(value)})</>}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </article>
  )
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const YEAR_MS = 365 * 24 * 3_600_000
const timeOf = (at: number) => `${clock.format(at)}.${String(at % 1000).padStart(3, '0')}`

/** Of a moment that is near; a breaker may be on a clock that tells another time. */
const isTime = (name: string, value: unknown): value is number =>
  /^since$|At$|Until$/.test(name) && typeof value === 'number' && Math.abs(value - pageNow()) < YEAR_MS

/** On lines that can be broken between two fields. */
const inJson = (value: unknown) => JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')

function Row({ row }: { readonly row: SeenRow }) {
  const { type, ...fields } = row.event
  return (
    <li data-changed={row.snapshot !== undefined}>
      <time>{timeOf(row.at)}</time> <b>{type}</b>{' '}
      {row.to !== undefined && <span class="led-to">→ {row.to}</span>}
      {row.snapshot === undefined && <span class="hint">changes nothing</span>}
      <code>{inJson(fields)}</code>
    </li>
  )
}
