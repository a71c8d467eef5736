import { useComputed } from '@preact/signals'
import { clockTime, timeLeft } from '../in-words.ts'
import { BOARD, INSPECTOR, TIMELINE, route } from '../route.ts'
import { NewTab } from './new-tab.tsx'
import { usePanel } from './panel-context.ts'
import { ThemeChoice } from './theme-choice.tsx'

/** The rim of the cabinet: whose it is, whether the wire holds, and what one may set. */
export function Head() {
  const panel = usePanel()
  const { page } = route.value
  return (
    <>
      <header class="head">
        <a class="nameplate" href={BOARD}>
          Switchgear
        </a>
        <nav aria-label="Pages">
          <a href={BOARD} aria-current={page === 'board' ? 'page' : undefined}>
            Board
          </a>
          <a href={TIMELINE} aria-current={page === 'timeline' ? 'page' : undefined}>
            Timeline
          </a>
          <NewTab href={INSPECTOR}>Live statecharts</NewTab>
        </nav>
        <p class="wire" data-state={panel.connection.value.state}>
          <span class="wire-lamp" aria-hidden="true" />
          <span>{panel.connection.value.state === 'live' ? 'live' : 'not connected'}</span>
          {panel.replica.value !== '' && <span class="replica">{panel.replica}</span>}
        </p>
        <ThemeChoice />
        <button class="button slight" type="button" onClick={() => panel.signOut()}>
          Sign out
        </button>
      </header>
      <Lost />
    </>
  )
}

/** Told aloud when it appears; the seconds that count down are not. */
function Lost() {
  const panel = usePanel()
  const { value: connection } = panel.connection
  const retry = useComputed(() =>
    panel.retryIn.value > 0 ? `Next try in ${timeLeft(panel.retryIn.value)}.` : 'Trying …',
  )
  const isLost = connection.state === 'lost'
  const { value: heardAt } = panel.heardAt
  return (
    <div class="lost" data-lost={isLost}>
      <p role="status">
        {isLost && (
          <>
            <b>
              {heardAt === 0 ? 'No connection.' : `Connection lost, showing data of ${clockTime(heardAt)}.`}
            </b>{' '}
            {connection.why}
          </>
        )}
      </p>
      {isLost && (
        <>
          <p aria-hidden="true">{retry}</p>
          <button class="button slight" type="button" onClick={() => panel.retry()}>
            Try now
          </button>
        </>
      )}
    </div>
  )
}
