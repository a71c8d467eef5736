import { createSwitchgear } from '../../core/switchgear.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import type { CallOptions, SwitchgearOptions } from '../../core/switchgear-options.ts'
import { Agenda } from './agenda.ts'
import { namesOf } from './call-shape.ts'
import { CallScript } from './call-script.ts'
import type { Reply, ScriptRequest } from './call-script.ts'
import { scriptedRandom } from './compare.ts'
import { callerAbort } from './provider-error.ts'
import type { CallScenario, CallStep, Chunk } from './scenario.ts'

type Options = SwitchgearOptions<ScriptRequest, Reply, Chunk>

/** What came of a step. */
export interface CallRecord {
  readonly startedAt: number
  /** undefined = it has not ended. */
  endedAt?: number
  /** What was received: the answer, or the text so far. */
  value?: unknown
  failed?: { readonly error: unknown }
  /** The circuits as they were when it ended. */
  states: Record<string, string | null>
  breakdown: Record<string, Record<string, number> | null>
  retryAfterMs: Record<string, number | null>
}

/** A switchgear, its providers, and the calls of a scenario on their way. */
export class CallStage {
  readonly script: CallScript
  readonly records: CallRecord[] = []
  readonly names: readonly string[]
  #agenda = new Agenda()
  #gear: Switchgear<ScriptRequest, Reply, Chunk>
  readonly #scenario: CallScenario
  readonly #random: () => number

  constructor(scenario: CallScenario) {
    this.#scenario = scenario
    this.#random = scriptedRandom(scenario.random)
    this.script = new CallScript(scenario.script)
    this.names = namesOf(scenario.switchgear.targets)
    this.#gear = this.#start()
  }

  #start(snapshots?: Options['snapshots']): Switchgear<ScriptRequest, Reply, Chunk> {
    const { switchgear } = this.#scenario
    const agenda = this.#agenda
    const targets = switchgear.targets.map((target, i) => ({
      ...target,
      ...this.script.behaviour(this.names[i] ?? '', agenda),
    }))
    return createSwitchgear<ScriptRequest, Reply, Chunk>({
      ...switchgear,
      targets,
      detectSoftFailure: ({ soft }) => soft,
      clock: agenda.clock,
      random: this.#random,
      ...(snapshots && { snapshots }),
    })
  }

  /** Plays every step, process by process. */
  async play(): Promise<void> {
    const { calls } = this.#scenario
    for (let first = 0; first < calls.length;) {
      const restart = calls.findIndex((step, i) => i >= first && step.restart !== undefined)
      const end = restart === -1 ? calls.length : restart + 1
      for (let i = first; i < end; i++) {
        const step = calls[i]!
        this.#agenda.plan(step.at, 'step', () => this.#step(i, step))
      }
      await this.#agenda.run(() => this.records.some(({ endedAt }) => endedAt === undefined))
      if (restart !== -1) this.#restart(restart, calls[restart]!)
      first = end
    }
    if (this.records.every(({ endedAt }) => endedAt !== undefined)) await this.#gear.close()
  }

  #step(i: number, step: CallStep): void {
    const record: CallRecord = { startedAt: this.#agenda.now, states: {}, breakdown: {}, retryAfterMs: {} }
    this.records[i] = record
    const { open, close, restart } = step
    if (restart !== undefined) return this.#agenda.stop()
    if (open === undefined && close === undefined) return void this.#call(i, step, record)
    try {
      const { target = this.names[0]!, model, ...command } = open ?? close ?? {}
      const where = { name: target, ...(model !== undefined && { model }) }
      if (open === undefined) this.#gear.closeCircuit(where, command)
      else this.#gear.openCircuit(where, command)
    } catch (error) {
      record.failed = { error }
    }
    this.#end(record, step)
  }

  async #call(i: number, step: CallStep, record: CallRecord): Promise<void> {
    const controller = new AbortController()
    const callOff =
      step.abortAt !== undefined &&
      this.#agenda.plan(step.abortAt, 'abort', () => controller.abort(callerAbort()))
    if (step.aborted === true) controller.abort(callerAbort())
    const { model, deadlineMs, abortAt, aborted } = step
    const options: CallOptions = {
      ...(model !== undefined && { model }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      // without need of a signal the call runs without one, as most do
      ...((abortAt !== undefined || aborted === true) && { signal: controller.signal }),
    }
    const gear = this.#gear
    try {
      if (step.stream === true) await this.#read(gear.stream({ step: i }, options), step, record)
      else record.value = (await gear.call({ step: i }, options)).value
    } catch (error) {
      record.failed ??= { error }
    }
    if (callOff !== false) callOff()
    this.#end(record, step)
  }

  async #read(
    reader: AsyncIterableIterator<Chunk, undefined>,
    step: CallStep,
    record: CallRecord,
  ): Promise<void> {
    let text = ''
    record.value = text
    for (let chunks = 0; chunks < (step.stopAfter ?? Infinity);) {
      const part = await reader.next()
      if (part.done === true || record.endedAt !== undefined) return
      if (part.value.text === undefined) continue
      record.value = text += part.value.text
      chunks++
    }
    await reader.return?.()
  }

  #end(record: CallRecord, { model }: CallStep): void {
    if (record.endedAt !== undefined) return
    record.endedAt = this.#agenda.now
    for (const name of this.names) {
      const where = { name, ...(model !== undefined && { model }) }
      const breakdown = this.#gear.getFailureBreakdown(where)
      const status = this.#gear.getStatus(where)
      record.states[name] = this.#gear.getCircuitState(where) ?? null
      record.breakdown[name] = breakdown === undefined ? null : { ...breakdown }
      // a circuit that was never used refuses nobody
      record.retryAfterMs[name] = status === undefined ? 0 : status.retryAfterMs
    }
  }

  /** Only what JSON can hold survives; calls under way end with the process, and nothing settles them. */
  #restart(i: number, step: CallStep): void {
    const snapshots = JSON.parse(JSON.stringify(this.#gear.snapshots())) as NonNullable<Options['snapshots']>
    const now = this.#agenda.now
    const gone = new Error('The process ended.')
    for (const [n, record] of this.records.slice(0, i).entries()) {
      if (record.endedAt !== undefined) continue
      record.failed = { error: gone }
      this.#end(record, this.#scenario.calls[n]!)
    }
    for (const request of this.script.upstream) {
      if (request.endedAt === undefined) Object.assign(request, { endedAt: now, cancelled: true })
    }
    this.#agenda = new Agenda(now + (step.restart?.downMs ?? 0))
    this.#gear = this.#start(snapshots)
    this.#end(this.records[i]!, step)
  }
}
