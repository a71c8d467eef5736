import { render } from 'preact'
import { Panel } from './panel.ts'
import { followRoute } from './route.ts'
import { followTheme } from './theme.ts'
import { takeToken } from './token.ts'
import { App } from './views/app.tsx'
import { PanelContext } from './views/panel-context.ts'

const panel = new Panel()
// before anything else: the token leaves the address bar
const token = takeToken()
followTheme()
followRoute()
panel.resume(token)

const app = document.querySelector('#app')
if (app !== null) {
  render(
    <PanelContext.Provider value={panel}>
      <App />
    </PanelContext.Provider>,
    app,
  )
}
