import type { CircuitState } from '../../../machines/circuit-state.ts'

interface LeverProps {
  readonly state: CircuitState
  readonly held?: boolean
}

/** A picture of the lever: up = calls flow, down = calls refused, in between = a trial. Words stand beside it. */
export function Lever({ state, held = false }: LeverProps) {
  return (
    <svg class="lever" data-state={state} viewBox="0 0 48 88" aria-hidden="true" focusable="false">
      <rect class="lever-recess" x="8" y="2" width="32" height="84" rx="7" />
      <rect class="lever-flag" x="11" y="5" width="26" height="78" rx="5" />
      <path class="lever-mark" d="M24 9.5v9" />
      <circle class="lever-mark" cx="24" cy="74" r="4.5" />
      <g class="lever-handle">
        <rect class="lever-shadow" x="10" y="27.5" width="28" height="36" rx="5" />
        <rect class="lever-body" x="10" y="26" width="28" height="36" rx="5" />
        <path class="lever-grip" d="M15 36h18M15 41h18M15 46h18M15 51h18" />
      </g>
      {held && (
        <g class="lever-lock">
          <path class="lock-bow" d="M18.5 47v-6a5.5 5.5 0 0 1 11 0v6" />
          <rect class="lock-body" x="14.5" y="45" width="19" height="15" rx="2.5" />
          <path class="lock-hole" d="M24 50.5v4" />
        </g>
      )}
    </svg>
  )
}

/** A pilot lamp. */
export function Lamp({ state }: { readonly state: CircuitState }) {
  return <span class="lamp" data-state={state} aria-hidden="true" />
}
