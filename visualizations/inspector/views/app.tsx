import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Actors } from '../actors.ts'
import type { Feed } from '../feed.ts'
import type { StatelyWindow } from '../stately-window.ts'
import { ActorList } from './actor-list.tsx'
import { ActorPage } from './actor-page.tsx'
import type { ChartOf } from './chart.tsx'
import { Stately } from './stately.tsx'

interface AppProps {
  readonly actors: Actors
  readonly feed: Feed
  readonly stately: StatelyWindow
  /** Address of the dashboard, where there is one. */
  readonly home?: string
  /** Fetches the chart of a breaker with its own numbers, where somebody draws it. */
  readonly chartOf?: ChartOf | undefined
  /** What else stands in the head. */
  readonly children?: ComponentChildren
}

export function App({ actors, feed, stately, home, chartOf, children }: AppProps) {
  const tab = useSignal<'chart' | 'stately'>('chart')
  const { value: connection } = feed.connection
  if (connection.state === 'refused') return <Refused why={connection.why} />
  const tabs = [
    ['chart', 'Statechart'],
    ['stately', 'Stately inspector'],
  ] as const
  return (
    <>
      <header class="head">
        {home === undefined ? (
          <span class="nameplate">Switchgear</span>
        ) : (
          <a class="nameplate" href={home}>
            Switchgear
          </a>
        )}
        <nav aria-label="Views" class="tabs">
          {tabs.map(([name, words]) => (
            <button
              key={name}
              type="button"
              class="button slight"
              aria-pressed={tab.value === name}
              onClick={() => (tab.value = name)}
            >
              {words}
            </button>
          ))}
        </nav>
        <p class="wire" data-state={connection.state} role="status">
          <span class="wire-lamp" aria-hidden="true" />
          <span>
            {connection.state === 'live' ? 'live' : 'not connected'}
            {connection.state === 'lost' && connection.why !== '' && `: ${connection.why}`}
          </span>
          {actors.replica.value !== '' && <span class="replica">{actors.replica}</span>}
        </p>
        {children}
      </header>
      <div class="inspector" data-lost={connection.state === 'lost'}>
        <ActorList actors={actors} />
        <main>
          <div hidden={tab.value !== 'chart'}>
            {actors.chosen.value !== undefined && <ActorPage actor={actors.chosen.value} chartOf={chartOf} />}
          </div>
          <div hidden={tab.value !== 'stately'}>
            <Stately actors={actors} stately={stately} />
          </div>
        </main>
      </div>
    </>
  )
}

function Refused({ why }: { readonly why: string }) {
  return (
    <main class="door">
      <div class="door-plate">
        <h1 class="nameplate">Switchgear inspector</h1>
        <p class="fault">{why}</p>
        <p class="hint">
          The address with the token was printed where the service started, and is what <code>inspect()</code>{' '}
          returned.
        </p>
      </div>
    </main>
  )
}
