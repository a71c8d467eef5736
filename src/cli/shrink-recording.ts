import type { RecordedCircuit, Recording } from '../audit/replay/read-outcomes.ts'
import { fewestOptions } from '../audit/policy-options.ts'
import { recordedRules } from '../audit/replay/recorded-rules.ts'
import { shrink } from '../audit/shrink/shrink.ts'
import { storyOf } from '../audit/shrink/story-of-recording.ts'
import { scenarioText } from '../audit/shrink/story-yaml.ts'
import type { ResolvedBreaker } from '../core/breaker-options.ts'
import { ConfigError } from '../core/errors.ts'
import { parseScenario } from '../testing/scenario/parse.ts'
import { runScenario } from '../testing/scenario/run-scenario.ts'
import { circuitOf, readRecording } from './replay-outcomes.ts'
import { readPolicies } from './read-policies.ts'

interface Options {
  readonly outcomes: string
  readonly at: number
  readonly target?: string
  readonly policy?: string
}

/** The smallest scenario that still shows what happened, and a sentence on it. */
export async function shrinkRecording({
  outcomes,
  at,
  target,
  policy,
}: Options): Promise<{ readonly text: string; readonly summary: string }> {
  const recording = readRecording(outcomes)
  const circuit = circuitOf(recording, target) ?? nearestCircuit(recording, at)
  const rules = (await rulesFrom(policy, circuit)) ?? recordedRules(circuit, at)
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
  return { text, summary: `${rows} recorded outcomes cut down to ${small.visits.length}.` }
}

/** The circuit that changed nearest to a time. */
function nearestCircuit({ circuits }: Recording, at: number): RecordedCircuit {
  const distance = ({ transitions, rows }: RecordedCircuit) =>
    Math.min(
      ...[...transitions, ...(transitions.length === 0 ? rows : [])].map((row) => Math.abs(row.at - at)),
    )
  return [...circuits.values()].toSorted((a, b) => distance(a) - distance(b))[0]!
}

async function rulesFrom(
  policy: string | undefined,
  circuit: RecordedCircuit,
): Promise<ResolvedBreaker | undefined> {
  if (policy === undefined) return undefined
  const [source] = await readPolicies([policy])
  const rules = source?.of(circuit.rows[0]!.target) ?? source?.of(circuit.name)
  if (rules !== undefined) return rules
  throw new ConfigError(`${policy} has no circuit for '${circuit.name}'.`)
}
