import { useSignal } from '@preact/signals'
import type { Actors } from '../actors.ts'
import type { Feed } from '../feed.ts'
import type { StatelyWindow } from '../stately-window.ts'
import { ActorList } from './actor-list.tsx'
import { ActorPage } from './actor-page.tsx'
import { Stately } from './stately.tsx'

interface AppProps {
  readonly actors: Actors
  readonly feed: Feed
  readonly stately: StatelyWindow
}

export function App({ actors, feed, stately }: AppProps) {
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
        <span class="nameplate">Switchgear</span>
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
          <span>{connection.state === 'live' ? 'live' : 'not connected'}</span>
        </p>
      </header>
      <div class="inspector" data-lost={connection.state === 'lost'}>
        <ActorList actors={actors} />
        <main>
          <div hidden={tab.value !== 'chart'}>
            {actors.chosen.value !== undefined && <ActorPage actor={actors.chosen.value} />}
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
