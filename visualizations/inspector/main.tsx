import { render } from 'preact'
import { takeToken } from '../dashboard/token.ts'
import { Actors } from './actors.ts'
import { Feed } from './feed.ts'
import { StatelyWindow } from './stately-window.ts'
import { App } from './views/app.tsx'

// before anything else: the token leaves the address bar
const token = takeToken()
const actors = new Actors()
const feed = new Feed({ path: 'feed', token, actors })
const stately = new StatelyWindow(actors)
void feed.run()

const app = document.querySelector('#app')
if (app !== null) render(<App actors={actors} feed={feed} stately={stately} />, app)
