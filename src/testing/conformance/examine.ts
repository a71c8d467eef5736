import { errorText } from '../scenario/compare.ts'
import type { BreakerScenario, BreakerStep } from '../scenario/scenario.ts'
import { NotOffered } from './adapter.ts'
import type { BreakerAdapter } from './adapter.ts'
import { isUnusable } from './check-adapter.ts'
import { expectations } from './expected.ts'
import type { Expected } from './expected.ts'
import { NotMade, refusesRules, withBreaker } from './make-breaker.ts'
import type { OutsideStage } from './outside-stage.ts'

/** The index of what comes before the first step: making the breaker. */
export const BEFORE = -1

/** Where a breaker went another way, or could not be asked to go on. */
export interface Divergence {
  /** Its index; {@link BEFORE} = there was no breaker to take it. */
  readonly step: number
  /** One sentence. */
  readonly what: string
  /** The breaker has no equal of what the step asks for. */
  readonly isDeclined: boolean
}

/** What an error of the breaker or its adapter means at this step. */
function divergedBy(error: unknown, step: number): Divergence {
  if (isUnusable(error)) throw error
  if (error instanceof NotOffered) return { step, what: error.message, isDeclined: true }
  if (error instanceof NotMade) return { step: BEFORE, what: error.message, isDeclined: false }
  return { step, what: `it should go on, but ends with ${errorText(error)}`, isDeclined: false }
}

// a hold has no end of its own, and who does not know better would let callers in again within a day
const A_DAY = 86_400_000

/** Lets callers come, and says so where others get in than should. */
async function room(stage: OutsideStage, { state, room, crowd }: Expected): Promise<string | undefined> {
  const asked = room === Infinity ? crowd : room + 1
  let entered = 0
  let waiting = 0
  for (let i = 0; i < asked; i++) {
    const { admitted, waits } = await stage.ask()
    if (admitted) entered++
    if (waits) waiting++
  }
  const right = Math.min(room, asked)
  if (entered === right) return undefined
  const who = right === 0 ? 'nobody' : right === asked ? 'everybody' : right
  const others = waiting > 0 ? ` (${waiting} must wait)` : ''
  return `it should be ${state} and let ${who} in, but lets in ${entered} of ${asked}${others}`
}

/** Lets time pass: refused until the wait is over, let in then. */
async function wait(stage: OutsideStage, ms: number | null): Promise<string | undefined> {
  const refusedFor = ms === null ? A_DAY : ms - 1
  if (refusedFor > 0) await stage.advance(refusedFor)
  if (ms !== 0 && (await stage.ask()).admitted)
    return `it should refuse for ${ms === null ? 'good' : `another ${ms} ms`}, but lets a caller in ${ms === null ? 'after a day' : `after ${refusedFor} ms`}`
  if (ms === null) return undefined
  await stage.advance(ms - Math.max(0, refusedFor))
  return (await stage.ask()).admitted ? undefined : `it should let a caller in after ${ms} ms, but refuses`
}

/** Lets calls fail in a row: let in until the last that is missing, refused then. */
async function count(stage: OutsideStage, left: number): Promise<string | undefined> {
  const most = `it should take ${left} more ${left === 1 ? 'failure' : 'failures'} to open`
  for (let failed = 0; failed < left; failed++) {
    const call = await stage.ask()
    if (!call.admitted) return `${most}, but takes ${failed}`
    await call.end('fail', {})
  }
  return (await stage.ask()).admitted ? `${most}, but takes more` : undefined
}

type Question = (stage: OutsideStage) => Promise<string | undefined>

/** What a step's checks ask for, as seen from outside. */
function questions(step: BreakerStep, expected: Expected): Question[] {
  const { fail, retryAfterMs, consecutiveFailures, expect, canExecute, probes } = step
  const ms = fail === undefined ? retryAfterMs : undefined
  const isRefused = expected.state === 'open' && ms !== undefined
  const says = [expect, canExecute, probes, ms].some((check) => check !== undefined)
  const asks: Question[] = []
  if (says)
    asks.push(async (stage) => (await room(stage, expected)) ?? (isRefused ? wait(stage, ms) : undefined))
  const { failuresLeft } = expected
  if (consecutiveFailures !== undefined && failuresLeft !== undefined && failuresLeft !== Infinity)
    asks.push((stage) => count(stage, failuresLeft))
  return asks
}

/** The first step whose verb does not go as it should. */
async function firstStop(
  stage: OutsideStage,
  steps: readonly BreakerStep[],
): Promise<Divergence | undefined> {
  for (const [step, each] of steps.entries()) {
    try {
      const what = await stage.do(each)
      if (what !== undefined) return { step, what, isDeclined: false }
    } catch (error) {
      return divergedBy(error, step)
    }
  }
  return undefined
}

/**
 * Puts a scenario to a breaker. Every question is put to a breaker of its own that has come the same way, since asking
 * for admission may change it. States are judged by what they let in, and not by what they are called.
 *
 * @param skip true = what the step says has been asked before
 * @returns the first step that does not hold or cannot be taken; undefined = all do
 */
export async function examine(
  adapter: BreakerAdapter,
  scenario: BreakerScenario,
  skip: (step: number) => boolean = () => false,
): Promise<Divergence | undefined> {
  const { steps = [] } = scenario
  const expected = scenario.throws === undefined ? expectations(scenario) : []
  let at = BEFORE
  try {
    if (scenario.throws !== undefined) {
      const what = await refusesRules(adapter, scenario)
      return what === undefined ? undefined : { step: BEFORE, what, isDeclined: false }
    }
    const stop = await withBreaker(adapter, scenario, (stage) => firstStop(stage, steps))
    for (const [step, each] of steps.slice(0, stop?.step).entries()) {
      if (skip(step)) continue
      at = step
      for (const ask of questions(each, expected[step]!)) {
        const what = await withBreaker(adapter, scenario, async (stage) => {
          await firstStop(stage, steps.slice(0, step + 1))
          return ask(stage)
        })
        if (what !== undefined) return { step, what, isDeclined: false }
      }
    }
    return stop
  } catch (error) {
    return divergedBy(error, at)
  }
}
