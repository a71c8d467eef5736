import { didYouMean } from '../../core/validate.ts'
import { command, restart } from './breaker-shape.ts'
import * as is from './shape.ts'
import type { Path, YamlSource } from './yaml-source.ts'

const ANSWERS = ['ok', 'status', 'error', 'hang', 'empty', 'stream']
const OPERATOR = ['open', 'close', 'restart']
/** What can be read when nobody calls. */
const READINGS = ['states', 'breakdown', 'retryAfterMs']

const CHUNK = {
  comment: is.content,
  preamble: is.content,
  text: is.content,
  wait: is.duration,
  error: is.anything,
  cut: is.yes,
  done: is.yes,
}

const exactlyOne = (known: Parameters<typeof is.fields>[0], keys: readonly string[]): is.Check => {
  const shape = is.fields(known)
  return (value, path, source) => {
    shape(value, path, source)
    if (is.onlyOne(value, keys, path, source) !== undefined || !is.isBag(value)) return
    source.fault(path, 'Nothing is said here.', `Give one of: ${keys.join(', ')}.`)
  }
}

const answer = exactlyOne(
  {
    ok: is.anything,
    soft: is.flag,
    status: is.errorStatus,
    headers: is.map(is.code),
    body: is.anything,
    error: is.text,
    hang: is.yes,
    empty: is.yes,
    stream: is.list(exactlyOne(CHUNK, Object.keys(CHUNK))),
    afterMs: is.duration,
  },
  ANSWERS,
)

const targetCommand = is.fields({ target: is.text, model: is.text, ...command })

const call = is.fields({
  at: is.duration,
  model: is.text,
  stream: is.flag,
  abortAt: is.duration,
  aborted: is.flag,
  deadlineMs: is.duration,
  stopAfter: is.count,
  open: targetCommand,
  close: targetCommand,
  restart,
  expect: is.fields({
    answer: is.anything,
    text: is.content,
    error: is.fields({ code: is.code, retryAfterMs: is.wait }),
    attempts: is.list(is.text),
    models: is.list(is.textOrNull),
    states: is.map(is.stateOrNone),
    ended: is.word(['clean', 'error']),
    elapsedMs: is.duration,
    waitedMs: is.duration,
    cancelled: is.count,
    breakdown: is.map(is.map(is.count)),
    retryAfterMs: (value, path, source) => (is.isBag(value) ? is.map(is.wait) : is.wait)(value, path, source),
  }),
})

/** Targets as the switchgear names them. */
export const namesOf = (targets: readonly unknown[]) =>
  targets.map((target, i) => {
    const name = is.isBag(target) ? target['name'] : undefined
    return typeof name === 'string' ? name : i === 0 ? 'primary' : `fallback[${i - 1}]`
  })

const keysOf = (value: unknown) => (is.isBag(value) ? Object.keys(value) : [])

/** Every place of an entry that names a target. */
function namesIn(entry: Record<string, unknown>, path: Path): [string, Path][] {
  const expect = is.isBag(entry['expect']) ? entry['expect'] : {}
  const attempts: unknown[] = Array.isArray(expect['attempts']) ? expect['attempts'] : []
  const maps = READINGS.flatMap((key) =>
    keysOf(expect[key]).map((name): [string, Path] => [name, [...path, 'expect', key, name]]),
  )
  const commands = ['open', 'close'].flatMap((verb): [string, Path][] => {
    const target = is.isBag(entry[verb]) ? entry[verb]['target'] : undefined
    return typeof target === 'string' ? [[target, [...path, verb, 'target']]] : []
  })
  return [
    ...attempts.map((name, i): [string, Path] => [String(name), [...path, 'expect', 'attempts', i]]),
    ...maps,
    ...commands,
  ]
}

function checkStep(entry: Record<string, unknown>, path: Path, source: YamlSource): void {
  const verb = is.onlyOne(entry, OPERATOR, path, source)
  const { at, abortAt, expect } = entry
  if (typeof abortAt === 'number' && typeof at === 'number' && abortAt < at) {
    source.fault(
      [...path, 'abortAt'],
      `${abortAt} lies before the call's own start at ${at}.`,
      'For a signal that has fired before, give aborted: true.',
    )
  }
  if (verb === undefined) return
  const strange = Object.keys(entry).filter((key) => !['at', 'expect', verb].includes(key))
  for (const key of strange)
    source.fault(
      [...path, key],
      `'${key}' is about a call, and this is a step of the operator.`,
      'Make two entries of it.',
    )
  for (const key of keysOf(expect)) {
    if (!READINGS.includes(key))
      source.fault(
        [...path, 'expect', key],
        `'${key}' is about a call, and this is a step of the operator.`,
        `Here may stand: ${READINGS.join(', ')}.`,
      )
  }
}

/** Fills in `at` where it is left out; after a restart time goes on from where the process came back. */
function checkTimes(calls: readonly unknown[], source: YamlSource): void {
  let floor = 0
  let latest = 0
  let before = 0
  calls.forEach((entry, i) => {
    if (!is.isBag(entry)) return
    const at = typeof entry['at'] === 'number' ? entry['at'] : before
    const isRestart = is.isBag(entry['restart'])
    const earliest = isRestart ? latest : floor
    if (at < earliest)
      source.fault(
        ['calls', i, 'at'],
        `${at} lies before ${earliest}, to which time has come.`,
        'Time only goes on.',
      )
    latest = Math.max(latest, at)
    before = at
    if (!is.isBag(entry['restart'])) return
    floor = latest = before = at + Number(entry['restart']['downMs'])
  })
}

/** Notes what is wrong with a scenario of calls. */
export function checkCallScenario(value: Record<string, unknown>, source: YamlSource): void {
  const { switchgear, script, calls } = value
  const targets = is.isBag(switchgear) ? switchgear['targets'] : undefined
  if (is.isBag(switchgear))
    is.list(is.map(is.anything), { least: 1 })(targets, ['switchgear', 'targets'], source)
  if ('throws' in value) {
    for (const key of ['script', 'calls'].filter((key) => key in value)) {
      source.fault([key], `'${key}' stands beside 'throws'.`, 'There is nobody to call: leave one out.')
    }
    return
  }
  is.map(is.list(answer, { least: 1 }))(script, ['script'], source)
  is.list(call, { least: 1 })(calls, ['calls'], source)
  if (!Array.isArray(targets) || !Array.isArray(calls)) return
  const names = namesOf(targets)
  const mentions = keysOf(script).map((name): [string, Path] => [name, ['script', name]])
  calls.forEach((entry: unknown, i) => {
    if (!is.isBag(entry)) return
    checkStep(entry, ['calls', i], source)
    mentions.push(...namesIn(entry, ['calls', i]))
  })
  for (const [name, path] of mentions) {
    if (!names.includes(name)) source.fault(path, `There is no target '${name}'.`, didYouMean(name, names))
  }
  checkTimes(calls, source)
}
