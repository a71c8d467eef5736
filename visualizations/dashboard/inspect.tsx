import { render } from 'preact'
import { Actors } from '../inspector/actors.ts'
import { StatelyWindow } from '../inspector/stately-window.ts'
import { breakerIn } from './route.ts'
import { followTheme } from './theme.ts'
import { takeToken } from './token.ts'
import { Inspector } from './views/inspector.tsx'
import { Watching } from './watching.ts'

// before the token leaves the address bar, and the rest with it
const actors = new Actors(breakerIn(location.hash))
const watching = new Watching(actors)
const stately = new StatelyWindow(actors)
const token = takeToken()
followTheme()
if (token !== undefined) watching.begin(token)

const app = document.querySelector('#app')
if (app !== null) render(<Inspector watching={watching} actors={actors} stately={stately} />, app)
