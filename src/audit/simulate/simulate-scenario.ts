import { isSwitchgearError } from '../../core/errors.ts'
import type { JournalEntry } from '../../core/journal.ts'
import { BreakerStage } from '../../testing/scenario/breaker-steps.ts'
import { CallStage } from '../../testing/scenario/call-stage.ts'
import type { CallRecord } from '../../testing/scenario/call-stage.ts'
import { runScenario } from '../../testing/scenario/run-scenario.ts'
import type { BreakerScenario, CallScenario, Scenario } from '../../testing/scenario/scenario.ts'
import { plural } from '../words.ts'
import { Observed } from './observed.ts'
import { simulationReport } from './simulation-report.ts'
import type { SimulationReport } from './simulation-report.ts'

interface Story {
  readonly observed: Observed
  readonly endAt: number
  readonly premise: string
}

/** Plays a scenario and tells what happened, and whether it holds. */
export async function simulateScenario(scenario: Scenario): Promise<SimulationReport> {
  const { passed, failure } = await runScenario(scenario)
  const place = failure?.line === undefined ? '' : ` (line ${failure.line})`
  const verdict = passed ? '' : `step ${failure?.step}: ${failure?.what}${place}`
  const { observed, endAt, premise } =
    scenario.throws !== undefined
      ? { observed: new Observed([], 0, 1), endAt: 0, premise: 'The options must be refused.' }
      : scenario.kind === 'breaker'
        ? breakerStory(scenario)
        : await callStory(scenario)
  const same = { name: scenario.name, premise, playedMs: endAt, wantedMs: endAt, observed, verdict }
  return simulationReport({ ...same, faults: new Map(), prices: new Map() })
}

/** Room behind the last thing that happens, so that it is seen. */
const withMargin = (endAt: number) => Math.ceil(Math.max(1, endAt) * 1.1)

function breakerStory(scenario: BreakerScenario): Story {
  const entries: JournalEntry[] = []
  const breaker = { ...scenario.breaker, journal: { append: (entry: JournalEntry) => entries.push(entry) } }
  const stage = new BreakerStage({ ...scenario, breaker })
  const calls = callsOf(scenario, stage)
  const endAt = withMargin(stage.clock.now())
  const observed = new Observed(['breaker'], 0, endAt)
  const target = observed.targets[0]!
  for (const { at, tookMs = stage.clock.now() - at, end } of calls) {
    observed.ended(at, tookMs, end === 'answered' ? 0 : -1)
    target[end === 'refused' ? 'refused' : 'sent'][observed.column(at)]!++
    if (end === 'answered') target.answered++
    if (end === 'failed') target.failed[observed.column(at + tookMs)]!++
  }
  noteChanges(observed, entries, () => ['breaker'])
  return {
    observed,
    endAt,
    premise: `A scenario of ${plural(scenario.steps.length, 'step')} for one breaker.`,
  }
}

/** A call of a breaker scenario. */
interface BreakerCall {
  readonly at: number
  /** undefined = it was under way at the end. */
  tookMs?: number
  end: 'answered' | 'failed' | 'refused' | 'nothing'
}

const ENDS = { succeed: 'answered', fail: 'failed', ignore: 'nothing', cancel: 'nothing' } as const

/** Plays the steps; every permit that is asked for is a call. */
function callsOf({ steps }: BreakerScenario, stage: BreakerStage): BreakerCall[] {
  const calls: BreakerCall[] = []
  const running = new Map<string, BreakerCall>()
  for (const step of steps) {
    const unmet = stage.do(step)
    const at = stage.clock.now()
    if (step.admit !== undefined) {
      const call: BreakerCall = { at, end: unmet === undefined ? 'nothing' : 'refused' }
      calls.push(call)
      running.set(step.admit, call)
    }
    if (step.reject !== undefined) calls.push({ at, tookMs: 0, end: 'refused' })
    for (let i = 0; i < (step.calls?.times ?? 0); i++)
      calls.push({ at, tookMs: step.calls!.latencyMs ?? 0, end: ENDS[step.calls!.outcome] })
    for (const verb of ['succeed', 'fail', 'ignore', 'cancel'] as const) {
      const name = step[verb]
      const call = name === undefined ? undefined : running.get(name)
      if (call === undefined) continue
      call.tookMs = step.latencyMs ?? at - call.at
      call.end = ENDS[verb]
      running.delete(name!)
    }
  }
  return calls
}

async function callStory(scenario: CallScenario): Promise<Story> {
  const entries: JournalEntry[] = []
  const switchgear = {
    ...scenario.switchgear,
    journal: { append: (entry: JournalEntry) => entries.push(entry) },
  }
  const stage = new CallStage({ ...scenario, switchgear })
  await stage.play()
  const { names, records, script } = stage
  const times = [...records, ...script.upstream].flatMap(({ startedAt, endedAt = startedAt }) => [
    startedAt,
    endedAt,
  ])
  const endAt = withMargin(Math.max(0, ...times, ...entries.map(({ at }) => at)))
  const observed = new Observed(names, 0, endAt)
  scenario.calls.forEach((step, i) => {
    const record = records[i]
    if (
      record === undefined ||
      step.open !== undefined ||
      step.close !== undefined ||
      step.restart !== undefined
    )
      return
    const asked = script.upstream.filter((request) => request.step === i).map(({ target }) => target)
    ended(observed, record, names.indexOf(asked.at(-1) ?? ''), asked)
  })
  for (const { target, startedAt } of script.upstream) observed.of(target).sent[observed.column(startedAt)]!++
  noteChanges(observed, entries, (bucket) =>
    names.filter((name) => bucket === name || bucket.startsWith(`${name}/`)),
  )
  return {
    observed,
    endAt,
    premise: `A scenario of ${plural(scenario.calls.length, 'step')} for a chain of ${plural(names.length, 'target')}.`,
  }
}

function ended(observed: Observed, record: CallRecord, place: number, asked: readonly string[]): void {
  const { startedAt, endedAt = startedAt, failed } = record
  const error = failed?.error
  const interrupted = isSwitchgearError(error) && error.code === 'ERR_STREAM_INTERRUPTED'
  observed.ended(startedAt, endedAt - startedAt, failed === undefined ? place : -1, interrupted)
  if (interrupted) observed.targets[place]!.interrupted++
  const last = failed === undefined ? asked.slice(0, -1) : asked
  for (const name of last) observed.of(name).failed[observed.column(startedAt)]!++
  if (failed === undefined && place >= 0) observed.targets[place]!.answered++
}

function noteChanges(
  observed: Observed,
  entries: readonly JournalEntry[],
  targetsOf: (bucket: string) => readonly string[],
): void {
  for (const { bucket, event, from, to, at, saved } of entries) {
    for (const name of targetsOf(bucket)) {
      const target = observed.of(name)
      if (event.type === 'probe.requested') target.probes++
      if (from !== to) target.changes.push({ at, from, to, why: saved.cause.why })
    }
  }
}
