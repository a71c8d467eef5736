import type { Switchgear } from '../core/switchgear.ts'
import type { TargetSelector } from '../core/switchgear.ts'
import { nameOf } from './gear-options.ts'
import type { GatewayTarget } from './config-schema.ts'

/** A circuit as `GET /status` shows it. */
export interface CircuitLine {
  readonly circuit: string
  /** The targets behind it. */
  readonly targets: string[]
  readonly state: string
  readonly held: boolean
  /** When the state was entered, as an ISO date. */
  readonly since: string
  /** 0 = calls are admitted; null = only an operator knows. */
  readonly retryAfterMs: number | null
  readonly failures: Readonly<Record<string, number>>
  readonly explain: string
}

export interface StatusReport {
  /** The chain, in order. `model` is left out where the client's goes through. */
  readonly targets: { readonly name: string; readonly model?: string; readonly breaker: boolean }[]
  readonly circuits: CircuitLine[]
}

/** Every circuit, and why it is as it is. Reading it changes nothing. */
export function statusReport<Request, Result, Part>(
  gear: Switchgear<Request, Result, Part>,
  targets: readonly GatewayTarget[],
): StatusReport {
  const circuits = new Map<string, CircuitLine>()
  const known = Object.keys(gear.snapshots())
  const states = gear.getCircuitStates()
  for (const [index, target] of targets.entries()) {
    const name = nameOf(target, index)
    for (const selector of selectors(index, target, states[index]?.isolateByModel === true, known)) {
      const told = gear.explain(selector)
      if (told === undefined) continue
      const { bucket: circuit, status, breakdown: failures, sentence: explain } = told
      const { state, held, since, retryAfterMs } = status
      const line = circuits.get(circuit)
      if (line !== undefined) line.targets.push(name)
      else {
        const date = new Date(since).toISOString()
        circuits.set(circuit, {
          circuit,
          targets: [name],
          state,
          held,
          since: date,
          retryAfterMs,
          failures,
          explain,
        })
      }
    }
  }
  return {
    targets: targets.map((target, i) => ({
      name: nameOf(target, i),
      ...(target.model !== undefined && { model: target.model }),
      breaker: states[i]?.state !== undefined,
    })),
    circuits: [...circuits.values()],
  }
}

/** A target has one circuit, or one for every model that was asked for. */
function selectors(
  index: number,
  target: GatewayTarget,
  isolates: boolean,
  known: readonly string[],
): TargetSelector[] {
  if (!isolates) return [{ index }]
  const prefix = `${target.bucket ?? nameOf(target, index)}/`
  return known
    .filter((bucket) => bucket.startsWith(prefix))
    .map((bucket) => ({ index, model: bucket.slice(prefix.length) }))
}
