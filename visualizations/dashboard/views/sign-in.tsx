import { useSignal } from '@preact/signals'
import { Lever } from './lever.tsx'

interface SignInProps {
  /** What is behind it. */
  readonly title: string
  readonly verb: string
  /** What is wrong with the token that was tried; empty = nothing. */
  readonly fault: string
  readonly isChecking?: boolean
  readonly onToken: (token: string) => void
}

/** The door of the cabinet. */
export function SignIn({ title, verb, fault, isChecking = false, onToken }: SignInProps) {
  const token = useSignal('')
  const submit = (event: Event) => {
    event.preventDefault()
    const typed = token.value.trim()
    if (typed !== '') onToken(typed)
  }
  return (
    <main class="door">
      <form class="door-plate" onSubmit={submit}>
        <div class="door-mark">
          <Lever state="closed" />
          <h1 class="nameplate">{title}</h1>
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
        <button class="button primary" type="submit" disabled={isChecking}>
          {isChecking ? 'Checking …' : verb}
        </button>
      </form>
    </main>
  )
}
