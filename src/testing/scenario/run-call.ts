import type { Upstream } from './call-script.ts'
import { CallStage } from './call-stage.ts'
import type { CallRecord } from './call-stage.ts'
import { construct, differs, errorText, firstOf, inText } from './compare.ts'
import type { CallExpectation, CallScenario, CallStep, ScenarioFailure } from './scenario.ts'
import { isBag } from './shape.ts'

/** The first step that does not hold; undefined = all do. */
export async function runCalls(scenario: CallScenario): Promise<ScenarioFailure | undefined> {
  const { made: stage, what } = construct(() => new CallStage(scenario), scenario.throws)
  if (what !== undefined) return { step: 0, what }
  if (stage === undefined) return undefined
  await stage.play()
  for (const [i, step] of scenario.calls.entries()) {
    const requests = stage.script.upstream.filter((request) => request.step === i)
    const what = broken(step, stage.records[i], requests)
    if (what !== undefined) return { step: i + 1, line: step.line, what }
  }
  return undefined
}

function broken(
  step: CallStep,
  record: CallRecord | undefined,
  requests: readonly Upstream[],
): string | undefined {
  const silent = requests.find(({ scripted }) => !scripted)
  if (silent !== undefined) return `expected the script to answer for '${silent.target}', got no entry for it`
  if (record?.endedAt === undefined) return 'expected the call to end, got a call that waits for ever'
  if (isCommand(step) && record.failed !== undefined) {
    return `expected the command to be taken, got ${errorText(record.failed.error)}`
  }
  const expected = step.expect ?? {}
  return (
    brokenOutcome(expected, record) ??
    brokenTrack(expected, record, requests) ??
    brokenCircuits(expected, record)
  )
}

const isCommand = ({ open, close }: CallStep) => open !== undefined || close !== undefined

/** A question that is only asked where the scenario says something. */
const is = (what: string, expected: unknown, actual: () => unknown) => () =>
  expected === undefined ? undefined : differs(what, expected, actual())

function brokenOutcome(expected: CallExpectation, { failed, value }: CallRecord): string | undefined {
  const { answer, text, error, ended } = expected
  const got = failed === undefined ? inText(value) : errorText(failed.error)
  return firstOf([
    () =>
      answer !== undefined && failed !== undefined
        ? `expected the answer ${inText(answer)}, got ${got}`
        : undefined,
    is('the answer', answer, () => value),
    () =>
      error !== undefined && failed === undefined ? `expected an error, got the answer ${got}` : undefined,
    is('the error code', error?.code === undefined ? undefined : String(error.code), () =>
      String(codeOf(failed?.error)),
    ),
    is('retryAfterMs of the error', error?.retryAfterMs, () => waitOf(failed?.error)),
    is('the text', text, () => value ?? ''),
    is('the end', ended, () => (failed === undefined ? 'clean' : 'error')),
  ])
}

function brokenTrack(
  expected: CallExpectation,
  record: CallRecord,
  requests: readonly Upstream[],
): string | undefined {
  const { startedAt, endedAt = startedAt } = record
  const busyMs = requests.reduce(
    (sum, request) => sum + Math.min(request.endedAt ?? endedAt, endedAt) - request.startedAt,
    0,
  )
  return firstOf([
    is('attempts', expected.attempts, () => requests.map(({ target }) => target)),
    is('models', expected.models, () => requests.map(({ model }) => model)),
    is('elapsedMs', expected.elapsedMs, () => endedAt - startedAt),
    is('waitedMs', expected.waitedMs, () => endedAt - startedAt - busyMs),
    is('cancelled', expected.cancelled, () => requests.filter(({ cancelled }) => cancelled).length),
  ])
}

function brokenCircuits(expected: CallExpectation, record: CallRecord): string | undefined {
  const { states = {}, breakdown = {}, retryAfterMs } = expected
  const waits = isBag(retryAfterMs) ? retryAfterMs : {}
  const figure = isBag(retryAfterMs) ? undefined : retryAfterMs
  return firstOf([
    ...Object.entries(states).map(([name, state]) =>
      is(`the state of '${name}'`, state, () => record.states[name]),
    ),
    ...Object.entries(breakdown).map(([name, kinds]) =>
      is(`the breakdown of '${name}'`, kinds, () => record.breakdown[name]),
    ),
    ...Object.entries(waits).map(([name, wait]) =>
      is(`retryAfterMs of '${name}'`, wait, () => record.retryAfterMs[name]),
    ),
    is('retryAfterMs', figure, () =>
      record.failed === undefined ? Object.values(record.retryAfterMs)[0] : waitOf(record.failed.error),
    ),
  ])
}

/** Our own code, or what the provider gave: its code, else its status. */
function codeOf(error: unknown): unknown {
  if (!isBag(error)) return undefined
  const inner = isBag(error['error']) ? error['error']['code'] : undefined
  return error['code'] ?? inner ?? error['status']
}

const waitOf = (error: unknown) => (isBag(error) ? (error['retryAfterMs'] ?? null) : null)
