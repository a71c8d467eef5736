import { checkBreakerScenario } from './breaker-shape.ts'
import { checkCallScenario } from './call-shape.ts'
import { checkBreakerOptions, checkSwitchgearOptions } from './options-taken.ts'
import type { Scenario } from './scenario.ts'
import * as is from './shape.ts'
import { YamlSource } from './yaml-source.ts'

const described = {
  kind: is.word(['breaker', 'call']),
  name: is.text,
  why: is.content,
  sources: is.list(is.text),
  random: is.list(is.share, { least: 1 }),
  throws: is.word(['RangeError', 'ConfigError']),
}

const options = is.map(is.anything)
const KINDS = {
  breaker: is.fields({ ...described, breaker: options, steps: is.anything }, ['kind', 'name', 'breaker']),
  call: is.fields({ ...described, switchgear: options, script: is.anything, calls: is.anything }, [
    'kind',
    'name',
    'switchgear',
  ]),
}

/**
 * Reads a scenario.
 *
 * @param file how the file is called in faults
 * @throws ConfigError with every fault as `file:line path: what is wrong, what would be right`
 */
export function parseScenario(text: string, file?: string): Scenario {
  const source = new YamlSource(text, file)
  const { value } = source
  if (!is.isBag(value))
    source.fault(
      [],
      'This is no scenario.',
      `It must be a map with 'kind', 'name' and what belongs to the kind.`,
    )
  source.throwFaults()
  const raw = value as Record<string, unknown>
  const { kind } = raw
  if (kind === 'breaker') checkBreaker(raw, source)
  else if (kind === 'call') checkCall(raw, source)
  else if (kind === undefined)
    source.fault([], `The key 'kind' is missing.`, `Add kind: breaker or kind: call.`)
  else described.kind(kind, ['kind'], source)
  source.throwFaults()
  if (!('throws' in raw)) checkOptions(raw, source)
  source.throwFaults()
  return complete(raw, source, file)
}

function checkBreaker(raw: Record<string, unknown>, source: YamlSource): void {
  KINDS.breaker(raw, [], source)
  checkBreakerScenario(raw, source)
}

function checkCall(raw: Record<string, unknown>, source: YamlSource): void {
  KINDS.call(raw, [], source)
  checkCallScenario(raw, source)
}

function checkOptions(raw: Record<string, unknown>, source: YamlSource): void {
  if (raw['kind'] === 'breaker') checkBreakerOptions(raw['breaker'], ['breaker'], source)
  else checkSwitchgearOptions(raw['switchgear'], ['switchgear'], source)
}

/** What was left out, filled in; the shape has been checked. */
function complete(raw: Record<string, unknown>, source: YamlSource, file: string | undefined): Scenario {
  const steps = raw['kind'] === 'breaker' ? 'steps' : 'calls'
  let at = 0
  const entries = ((raw[steps] ?? []) as Record<string, unknown>[]).map((entry, i) => {
    const line = source.lineOf([steps, i])
    if (steps === 'steps') return Object.assign({ line }, entry)
    const start = typeof entry['at'] === 'number' ? entry['at'] : at
    const restart = entry['restart'] as { readonly downMs: number } | undefined
    at = start + (restart?.downMs ?? 0)
    return Object.assign({ line }, entry, { at: start })
  })
  const script = steps === 'calls' && { script: raw['script'] ?? {} }
  return {
    random: [0.5],
    ...raw,
    ...script,
    [steps]: entries,
    ...(file !== undefined && { file }),
  } as unknown as Scenario
}
