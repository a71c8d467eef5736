import type { RecordedCircuit, Recording } from '../audit/replay/read-outcomes.ts'
import { fewestOptions } from '../audit/policy-options.ts'
import { unreadableNotes } from '../audit/replay/outcome-text.ts'
import { recordedRules } from '../audit/replay/recorded-rules.ts'
import { shrink } from '../audit/shrink/shrink.ts'
import { storyOf, transitionsOf } from '../audit/shrink/story-of-recording.ts'
import { scenarioText } from '../audit/shrink/story-yaml.ts'
import { listed } from '../audit/words.ts'
import type { ResolvedBreaker } from '../core/breaker-options.ts'
import { ConfigError } from '../core/errors.ts'
import { parseScenario } from '../testing/scenario/parse.ts'
import { runScenario } from '../testing/scenario/run-scenario.ts'
import { circuitOf, readRecording } from './replay-outcomes.ts'
import { readPolicies } from './read-policies.ts'
import type { PolicySource } from './read-policies.ts'

interface Options {
  readonly outcomes: string
  readonly at: number
  readonly target?: string
  readonly policy?: string
}

/** The smallest scenario that still shows what happened, a sentence on it, and what else there is to know. */
export async function shrinkRecording({ outcomes, at, target, policy }: Options): Promise<{
  readonly text: string
  readonly summary: string
  readonly notes: readonly string[]
}> {
  const recording = readRecording(outcomes)
  const [source] = policy === undefined ? [] : await readPolicies([policy])
  const rulesFor = (one: RecordedCircuit) =>
    source === undefined ? recordedRules(one, at) : rulesFrom(source, one)
  const circuit = circuitOf(recording, target) ?? nearestCircuit(recording, at, rulesFor)
  const rules = rulesFor(circuit)
  if (rules === undefined && source !== undefined)
    throw new ConfigError(`${policy} has no circuit for '${circuit.name}'.`)
  if (rules === undefined) {
    throw new ConfigError(`The recording does not tell by which rules '${circuit.name}' was judged.`, {
      hint: 'Give them with --policy.',
    })
  }
  const { story, wanted, rows, at: happenedAt } = storyOf(circuit, at, rules)
  const small = shrink(story, wanted, rules.source)
  const when = `${new Date(happenedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const words = {
    name: `${circuit.name}: ${wanted.from} → ${wanted.to}, ${when}`,
    why: `It happened (${wanted.why.replaceAll('_', ' ')}); cut down from ${rows} recorded outcomes.`,
  }
  const text = scenarioText(small, words, fewestOptions(rules))
  const { passed, failure } = await runScenario(parseScenario(text))
  if (!passed)
    throw new Error(`The scenario does not hold (${failure?.what}); this is a fault of switchgear.`)
  const summary = `${rows} recorded outcomes cut down to ${small.visits.length}.`
  return { text, summary, notes: unreadableNotes(recording) }
}

/** The circuit that changed nearest to a time, of those that opened where any did. */
function nearestCircuit(
  { circuits }: Recording,
  at: number,
  rulesFor: (circuit: RecordedCircuit) => ResolvedBreaker | undefined,
): RecordedCircuit {
  const all = [...circuits.values()]
  // of one alone there is more to say than that none changed
  if (all.length === 1) return all[0]!
  const played = all.map((circuit) => ({ circuit, changes: transitionsOf(circuit, rulesFor(circuit)) }))
  const changed = played.filter(({ changes }) => changes.length > 0)
  const opened = changed.filter(({ changes }) => changes.some(({ to }) => to === 'open'))
  const distance = ({ changes }: (typeof played)[number]) =>
    changes.reduce((least, change) => Math.min(least, Math.abs(change.at - at)), Infinity)
  const [nearest] = (opened.length > 0 ? opened : changed).toSorted((a, b) => distance(a) - distance(b))
  if (nearest !== undefined) return nearest.circuit
  const names = listed(all.map(({ name }) => `'${name}'`))
  throw new ConfigError(`None of the circuits ${names} changed its state in this recording.`, {
    hint: 'Give the rules that were in force with --policy, if they were others than it tells of.',
  })
}

function rulesFrom(source: PolicySource, circuit: RecordedCircuit): ResolvedBreaker | undefined {
  return source.of(circuit.rows[0]!.target) ?? source.of(circuit.name)
}
