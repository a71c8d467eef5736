import type { Actors } from '../actors.ts'
import type { StatelyWindow } from '../stately-window.ts'

interface StatelyProps {
  readonly actors: Actors
  readonly stately: StatelyWindow
}

/** The way to the Stately inspector. Nothing is asked of it, or told to it, before somebody wants it. */
export function Stately({ actors, stately }: StatelyProps) {
  const { value: inspector } = actors.inspector
  const { value: state } = stately.state
  return (
    <section class="stately">
      <h1>Stately inspector</h1>
      <p>
        Loads <bdi>{inspector}</bdi> into this browser and passes on to it what this page shows of the actors
        that are listed: names, states, events, operators’ words. Find some by name or state first, where
        there are hundreds.
      </p>
      <p class="acts">
        <button type="button" class="button primary" onClick={() => stately.showHere()}>
          Show it here
        </button>
        <button type="button" class="button" onClick={() => stately.openWindow()}>
          Open it in a window
        </button>
        {(state === 'waiting' || state === 'connected') && (
          <button type="button" class="button slight" onClick={() => stately.stop()}>
            Stop
          </button>
        )}
      </p>
      <p role="status" class="hint">
        {state === 'waiting' &&
          'Waiting for the inspector to say that it is there. A page that cannot be reached, or does not let itself be framed, never does.'}
        {state === 'connected' && `Connected, ${stately.posted.value} messages passed on.`}
        {state === 'blocked' && 'The browser has blocked the window: allow windows for this page.'}
      </p>
      {stately.isFramed.value && (
        <iframe
          ref={stately.frameIs}
          title="Stately inspector"
          src={inspector}
          sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
        />
      )}
    </section>
  )
}
