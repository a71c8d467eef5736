import { createSwitchgear } from '../../src/core/switchgear.ts'
import type { CallReport } from '../../src/core/switchgear-options.ts'
import { opossum, vernLlm, work } from './peers.ts'
import type { Group } from './row.ts'
import { versus } from './row.ts'

const REQUEST = { prompt: 'Hello' }
const OPOSSUM_TIMEOUT_MS = 10_000

/** Reads every report, so that making it cannot be optimised away. */
function reader() {
  const seen = { calls: 0, attempts: 0 }
  const report = ({ ok, attempts }: CallReport) => {
    if (ok) seen.calls++
    seen.attempts += attempts
  }
  return { seen, report }
}

/** `call` over one closed target with the standard limits, a report, metrics and the latency of each attempt. */
export function callClosed(): Group {
  const gear = createSwitchgear({ targets: [{ name: 'target', invoke: work, circuitBreaker: true }] })
  const { report } = reader()
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await gear.call(REQUEST, { report })
  }
  const [plain, vern] = [opossum(), vernLlm()]
  const row = 'gear.call closed, report + metrics + latency'
  return {
    title: 'gear.call closed',
    subjects: [{ name: 'switchgear', batch }, plain, vern],
    rows: (times) => [
      versus(`${row}, vs opossum without timeout`, times, 'switchgear', plain.name, 0.6),
      versus(`${row}, vs vern-llm`, times, 'switchgear', vern.name, 0.1),
    ],
    close: () => {
      plain.close()
      return gear.close()
    },
  }
}

/** The same with everything on: the target reads its signal, the caller gives one, and the whole call has a deadline. */
export function callWithSignal(): Group {
  let live = 0
  const invoke = (_request: unknown, { signal }: { readonly signal: AbortSignal }) => {
    if (!signal.aborted) live++
    return work()
  }
  const targets = [{ name: 'target', invoke, circuitBreaker: true }]
  const gear = createSwitchgear({ targets, deadlineMs: 90_000 })
  const { report } = reader()
  const { signal } = new AbortController()
  const batch = async (calls: number) => {
    live = 0
    for (let i = 0; i < calls; i++) await gear.call(REQUEST, { signal, report })
    if (live !== calls) throw new Error('an attempt began with a signal that had fired')
  }
  const peer = opossum(OPOSSUM_TIMEOUT_MS)
  const row = 'gear.call, signal used and all limits on, vs opossum with its timeout'
  return {
    title: 'gear.call with its signal used and all limits on',
    subjects: [{ name: 'switchgear', batch }, peer],
    rows: (times) => [versus(row, times, 'switchgear', peer.name, 1)],
    close: () => {
      peer.close()
      return gear.close()
    },
  }
}
