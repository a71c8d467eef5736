import type { Command } from 'commander'
import { presets } from '../audit/replay/contenders.ts'
import type { Contender } from '../audit/replay/contenders.ts'
import { outcomeHtml } from '../audit/replay/outcome-html.ts'
import { OutcomeReplay } from '../audit/replay/outcome-replay.ts'
import { outcomeJson, outcomeText } from '../audit/replay/outcome-text.ts'
import { readOutcomes } from '../audit/replay/read-outcomes.ts'
import type { RecordedCircuit, Recording } from '../audit/replay/read-outcomes.ts'
import { recordedRules } from '../audit/replay/recorded-rules.ts'
import { ConfigError } from '../core/errors.ts'
import { didYouMean } from '../core/validate.ts'
import { closedSegments } from '../stores/outcome-files.ts'
import { withProgress } from './progress.ts'
import { readPolicies, readText } from './read-policies.ts'
import type { PolicySource } from './read-policies.ts'
import { HTML, outputTo } from './write-output.ts'

interface Options {
  readonly outcomes: string
  readonly policy?: readonly string[]
  readonly target?: string
  readonly seeds: number
  readonly json: boolean
  readonly html?: string
}

/** Recorded outcomes under other policies; prints what is there when it is stopped. */
export async function replayOutcomes(options: Options, command: Command): Promise<void> {
  const { outcomes, target: only, seeds, policy, html } = options
  const write =
    html === undefined ? undefined : outputTo(html, { inputs: [outcomes, ...(policy ?? [])], endings: HTML })
  const recording = readRecording(outcomes)
  circuitOf(recording, only)
  const policies = policy && (await readPolicies(policy))
  const contenders = (name: string) => contendersOf(recording.circuits.get(name)!, policies)
  const replay = new OutcomeReplay({ recording, contenders, only, seeds })
  const whole = await withProgress(
    () => replay.step(),
    () => replay.progress,
  )
  const report = replay.report()
  if (report === undefined)
    return command.error(
      'error: nothing was played: no circuit of the recording has rules, or it was stopped at once',
    )
  const text = options.json ? `${JSON.stringify(outcomeJson(report), null, 2)}\n` : outcomeText(report)
  command.configureOutput().writeOut?.(text)
  write?.(outcomeHtml(report))
  if (!whole) process.exitCode = 130
}

/** A recording with the closed files beside it. */
export function readRecording(file: string): Recording {
  const files = [...closedSegments(file), file]
  return readOutcomes(files.map((name) => [name, readText(name)] as const))
}

/** @throws ConfigError where it was not recorded */
export function circuitOf({ circuits }: Recording, name: string | undefined): RecordedCircuit | undefined {
  if (name === undefined) return undefined
  const circuit = circuits.get(name)
  if (circuit !== undefined) return circuit
  throw new ConfigError(`The recording has no circuit '${name}'.`, {
    hint: didYouMean(name, [...circuits.keys()]),
  })
}

function contendersOf(circuit: RecordedCircuit, policies: readonly PolicySource[] | undefined): Contender[] {
  if (policies !== undefined) {
    return policies.flatMap(({ name, of, targets }) => {
      const rules = of(circuit.rows[0]!.target) ?? (targets.length === 0 ? undefined : of(circuit.name))
      return rules === undefined ? [] : [{ name, rules }]
    })
  }
  const own = recordedRules(circuit)
  return [...(own === undefined ? [] : [{ name: 'rules then', rules: own }]), ...presets]
}
