import { useSignal } from '@preact/signals'
import { Lever } from './lever.tsx'
import { usePanel } from './panel-context.ts'

/** The door of the cabinet. */
export function SignIn() {
  const panel = usePanel()
  const token = useSignal('')
  const { value: session } = panel.session
  const fault = session.state === 'out' ? session.fault : ''
  const submit = (event: Event) => {
    event.preventDefault()
    const typed = token.value.trim()
    if (typed !== '') void panel.signIn(typed)
  }
  return (
    <main class="door">
      <form class="door-plate" onSubmit={submit}>
        <div class="door-mark">
          <Lever state="closed" />
          <h1 class="nameplate">Switchgear</h1>
        </div>
        <label class="field">
          Admin token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            spellcheck={false}
            aria-describedby="token-help"
            aria-invalid={fault !== ''}
            value={token}
            onInput={(event) => (token.value = event.currentTarget.value)}
          />
        </label>
        <p id="token-help" class="hint">
          Tokens stand under <code>admin.tokens</code> in the configuration. Where none is configured, the
          gateway made one at its first start and keeps it in <code>switchgear.token</code> beside its
          journal.
        </p>
        {fault !== '' && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <button class="button primary" type="submit" disabled={session.state === 'checking'}>
          {session.state === 'checking' ? 'Checking …' : 'Open the panel'}
        </button>
      </form>
    </main>
  )
}
