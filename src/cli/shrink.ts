import { Command } from 'commander'
import { parseTime } from './parse-time.ts'
import { outputTo, SCENARIO } from './write-output.ts'

interface ShrinkOptions {
  readonly outcomes: string
  readonly at: number
  readonly target?: string
  readonly policy?: string
  readonly out?: string
}

const help = `
The rules are those that the recording tells of; --policy gives others: a preset, options of a breaker, or a configuration.
The scenario can be kept as a test: switchgear check FILE.

Examples:
  switchgear shrink --outcomes outcomes.jsonl --at 2024-05-06T18:44:30Z --out test/scenarios/outage-may.yaml
  switchgear shrink --outcomes outcomes.jsonl --at 2024-05-06T18:44:30Z --target openai --policy gateway.yaml`

/** `switchgear shrink`: from an incident to a test. */
export function shrinkCommand(): Command {
  return new Command('shrink')
    .description('cut a recording down to the smallest scenario file that still shows what happened')
    .requiredOption('--outcomes <file>', 'a recording of outcomes, as a switchgear or a gateway writes it')
    .requiredOption('--at <time>', 'about when it happened: a date and time, or how long ago', parseTime)
    .option('--target <name>', 'the circuit (default: the one that changed nearest to that time)')
    .option('--policy <file>', 'the rules that were in force')
    .option('--out <file>', 'write the scenario there instead of printing it')
    .addHelpText('after', help)
    .action(async (options: ShrinkOptions, command: Command) => {
      const { outcomes, policy, out } = options
      const write =
        out === undefined ? undefined : outputTo(out, { inputs: [outcomes, policy], endings: SCENARIO })
      const { shrinkRecording } = await import('./shrink-recording.ts')
      const { text, summary, notes } = await shrinkRecording(options)
      for (const note of notes) command.configureOutput().writeErr?.(`${note}\n`)
      if (write === undefined) return void command.configureOutput().writeOut?.(text)
      write(text)
      command.configureOutput().writeOut?.(`${summary}\n${out}: switchgear check ${out}\n`)
    })
}
