import { useSignalEffect } from '@preact/signals'
import closedIcon from '../icons/closed.svg'
import openIcon from '../icons/open.svg'
import { wouldRefuse } from '../in-words.ts'
import { route } from '../route.ts'
import { Announcer } from './announcer.tsx'
import { Board } from './board.tsx'
import { Circuit } from './circuit.tsx'
import { Head } from './head.tsx'
import { usePanel } from './panel-context.ts'
import { SignIn } from './sign-in.tsx'
import { TimelinePage } from './timeline-page.tsx'

export function App() {
  const panel = usePanel()
  useSignalEffect(() => {
    const { value: all } = panel.circuits.all
    const refusing = all.filter((view) => view.state === 'open' && !wouldRefuse(view)).length
    const where = route.value.page === 'circuit' ? `${route.value.name} · ` : ''
    document.title = `${refusing > 0 ? `(${refusing} open) ` : ''}${where}Switchgear`
    document.querySelector('link[rel=icon]')?.setAttribute('href', refusing > 0 ? openIcon : closedIcon)
  })
  const { value: session } = panel.session
  if (session.state !== 'in') {
    return (
      <SignIn
        title="Switchgear"
        verb="Open the panel"
        fault={session.state === 'out' ? session.fault : ''}
        isChecking={session.state === 'checking'}
        onToken={(token) => void panel.signIn(token)}
      />
    )
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the circuits
      </a>
      <Head />
      <Page />
      <Announcer />
    </>
  )
}

function Page() {
  switch (route.value.page) {
    case 'board':
      return <Board />
    case 'timeline':
      return <TimelinePage />
    case 'circuit':
      return <Circuit key={route.value.name} name={route.value.name} />
  }
}

// the hash of the address is the page's own
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('main h1')?.focus()
}
