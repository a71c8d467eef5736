import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { TTLS, consequence, orderOf } from '../command-form.ts'
import type { Act, Filled } from '../command-form.ts'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { usePanel } from './panel-context.ts'

interface CommandDialogProps {
  readonly view: CircuitView
  readonly act: Act
  readonly onClose: () => void
}

const MOST_REASON = 200
const TITLES: Readonly<Record<Act, string>> = { open: 'Open', close: 'Close', hold: 'Hold' }

/** Asks for the reason, says what will follow, and does it. */
export function CommandDialog({ view, act, onClose }: CommandDialogProps) {
  const panel = usePanel()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isOpen = view.state === 'open' || view.state === 'half-open'
  const filled = useSignal<Filled>({
    reason: '',
    way: isOpen ? 'open' : 'closed',
    lasts: '60',
    otherMinutes: '',
  })
  const fault = useSignal('')
  const isSending = useSignal(false)
  const reason = useRef<HTMLInputElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    reason.current?.focus()
  }, [])

  const set = (change: Partial<Filled>) => (filled.value = { ...filled.value, ...change })
  const submit = async (event: Event) => {
    event.preventDefault()
    const order = orderOf(act, filled.value)
    if (typeof order === 'string') {
      fault.value = order
      return reason.current?.focus()
    }
    isSending.value = true
    fault.value = ''
    try {
      await panel.command(view.circuit, order.verb, order.command)
      dialog.current?.close()
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error)
    } finally {
      isSending.value = false
    }
  }

  const { way } = filled.value
  const verb = act === 'hold' ? `Hold ${way}` : TITLES[act]
  return (
    <dialog
      class="dialog"
      ref={dialog}
      onClose={onClose}
      aria-labelledby={`${id}-title`}
      closedby="closerequest"
    >
      <form onSubmit={(event) => void submit(event)} novalidate>
        <h2 id={`${id}-title`}>
          {TITLES[act]} <bdi>{view.circuit}</bdi>
        </h2>
        {act === 'hold' && <HoldFields filled={filled.value} set={set} />}
        <p class="consequence">{consequence(act, way, view)}</p>
        <label class="field">
          Reason
          <input
            type="text"
            ref={reason}
            required
            autocomplete="off"
            maxLength={MOST_REASON}
            aria-describedby={`${id}-help`}
            value={filled.value.reason}
            onInput={(event) => set({ reason: event.currentTarget.value })}
          />
        </label>
        <p id={`${id}-help`} class="hint">
          Kept in the journal with the name of your token, and shown to everybody.
        </p>
        <p class="fault" role="alert">
          {fault}
        </p>
        <div class="dialog-end">
          <button class="button" type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            class="button primary"
            data-act={act === 'hold' ? way : act}
            type="submit"
            disabled={isSending.value}
          >
            {isSending.value ? 'Sending …' : verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface HoldFieldsProps {
  readonly filled: Filled
  readonly set: (change: Partial<Filled>) => void
}

function HoldFields({ filled: { way, lasts, otherMinutes }, set }: HoldFieldsProps) {
  return (
    <>
      <fieldset class="ways">
        <legend>Which way</legend>
        {(['open', 'closed'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="way" checked={way === each} onChange={() => set({ way: each })} />
            <b>{each}</b> {each === 'open' ? 'calls refused' : 'calls flow'}
          </label>
        ))}
      </fieldset>
      <label class="field">
        For how long
        <select value={lasts} onChange={(event) => set({ lasts: event.currentTarget.value })}>
          {TTLS.map(({ minutes, words }) => (
            <option key={minutes} value={minutes}>
              {words}
            </option>
          ))}
          <option value="other">another time</option>
          <option value="ever">until somebody ends it</option>
        </select>
      </label>
      {lasts === 'other' && (
        <label class="field">
          Minutes
          <input
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={otherMinutes}
            onInput={(event) => set({ otherMinutes: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  )
}
