import type { Actors } from '../../inspector/actors.ts'
import type { StatelyWindow } from '../../inspector/stately-window.ts'
import { App } from '../../inspector/views/app.tsx'
import type { Watching } from '../watching.ts'
import { SignIn } from './sign-in.tsx'
import { ThemeChoice } from './theme-choice.tsx'

interface InspectorProps {
  readonly watching: Watching
  readonly actors: Actors
  readonly stately: StatelyWindow
}

/** The live actors, behind the door of the dashboard. */
export function Inspector({ watching, actors, stately }: InspectorProps) {
  const { value: feed } = watching.feed
  if (feed === undefined) {
    return (
      <SignIn
        title="Switchgear"
        verb="Watch the statecharts"
        fault={watching.fault.value}
        onToken={(token) => watching.signIn(token)}
      />
    )
  }
  return (
    <App actors={actors} feed={feed} stately={stately} home="./" chartOf={watching.chartOf}>
      <ThemeChoice />
      <button class="button slight" type="button" onClick={() => watching.end()}>
        Sign out
      </button>
    </App>
  )
}
