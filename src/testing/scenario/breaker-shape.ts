import * as is from './shape.ts'
import type { Path, YamlSource } from './yaml-source.ts'

const SETTLE = ['succeed', 'fail', 'ignore', 'cancel']
const VERBS = ['admit', 'reject', ...SETTLE, 'open', 'close', 'restart', 'calls']

/** Which verbs a key says something about. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  reason: ['reject'],
  failure: ['fail'],
  code: ['fail'],
  latencyMs: ['succeed', 'fail'],
}

const input = { failure: is.text, code: is.code, latencyMs: is.duration }

/** Options of an operator's command; the breaker checks their values. */
export const command = {
  hold: is.flag,
  ttlMs: is.anything,
  reason: is.content,
  by: is.content,
}

export const restart = is.fields({ downMs: is.shift }, ['downMs'])

const step = is.fields({
  at: is.duration,
  advance: is.duration,
  admit: is.text,
  reject: is.text,
  succeed: is.text,
  fail: is.text,
  ignore: is.text,
  cancel: is.text,
  open: is.fields(command),
  close: is.fields(command),
  restart,
  calls: is.fields({ outcome: is.word(SETTLE), times: is.count, retryAfterMs: is.duration, ...input }, [
    'outcome',
    'times',
  ]),
  ...input,
  reason: is.word(['open', 'half-open', 'held']),
  expect: is.state,
  transitions: is.count,
  consecutiveFailures: is.count,
  breakdown: is.map(is.count),
  probes: is.fields({ inFlight: is.count, succeeded: is.count, failed: is.count }),
  canExecute: is.flag,
  retryAfterMs: is.wait,
})

/** What must be true from step to step: one verb each, known permits, time that goes on. */
class Story {
  readonly #source: YamlSource
  readonly #permits = new Set<string>()
  #now = 0

  constructor(source: YamlSource) {
    this.#source = source
  }

  follow(entry: Record<string, unknown>, path: Path): void {
    const verb = is.onlyOne(entry, VERBS, path, this.#source)
    for (const [key, verbs] of Object.entries(BESIDE)) {
      if (!(key in entry) || verbs.includes(verb ?? '')) continue
      this.#source.fault(
        [...path, key],
        `'${key}' says nothing here.`,
        `It belongs beside ${verbs.join(' or ')}.`,
      )
    }
    const permit = entry[verb ?? '']
    if (verb === 'admit') this.#permits.add(String(permit))
    if (SETTLE.includes(verb ?? '') && !this.#permits.has(String(permit))) {
      this.#source.fault(
        [...path, verb ?? ''],
        `No permit '${String(permit)}' was admitted before.`,
        `Admit it first: {admit: ${String(permit)}}.`,
      )
    }
    this.#pass(entry, path)
  }

  #pass(entry: Record<string, unknown>, path: Path): void {
    is.onlyOne(entry, ['at', 'advance'], path, this.#source)
    const { at, advance, restart } = entry
    if (typeof at === 'number' && at >= 0 && at < this.#now) {
      this.#source.fault(
        [...path, 'at'],
        `${at} lies before ${this.#now}, where the step before ended.`,
        'Time only goes on.',
      )
    }
    if (typeof at === 'number') this.#now = at
    if (typeof advance === 'number') this.#now += advance
    if (is.isBag(restart) && typeof restart['downMs'] === 'number') this.#now += restart['downMs']
  }
}

/** Notes what is wrong with a scenario of one breaker. */
export function checkBreakerScenario(value: Record<string, unknown>, source: YamlSource): void {
  if ('throws' in value) {
    if ('steps' in value)
      source.fault(
        ['steps'],
        `'steps' stand beside 'throws'.`,
        'There is no breaker to drive: leave one out.',
      )
    return
  }
  is.list(step, { least: 1 })(value['steps'], ['steps'], source)
  const story = new Story(source)
  const steps: unknown = value['steps']
  if (Array.isArray(steps)) steps.forEach((entry, i) => is.isBag(entry) && story.follow(entry, ['steps', i]))
}
