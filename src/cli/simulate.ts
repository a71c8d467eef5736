import { Command, InvalidArgumentError } from 'commander'

interface SimulateOptions {
  readonly config?: string
  readonly seed?: number
  readonly json: boolean
  readonly html?: string
}

const help = `
A file of the kind load says who calls, what the targets do, and for how long:

  kind: load
  name: A primary that dies for twenty minutes
  duration: 6h
  traffic: { rate: 5, daily: { low: 0.2, peakAt: 3h }, bursts: [{ at: 2h, for: 1m, rate: 50 }] }   # or { trace: trace.csv }
  switchgear:
    targets:
      - { name: primary, circuitBreaker: { threshold: 5 }, timeoutMs: 20000 }
      - { name: backup, circuitBreaker: true }
  providers:
    primary:
      latency: { median: 800, p95: 3000 }       # or 800, or { answer: 500, perToken: 20 }
      failures: 0.002
      price: { input: 3, output: 15 }
      faults:
        - { at: 1h, for: 20m }                                    # all fail with 503
        - { at: 2h, for: 10m, ratio: 0.3, answer: { hang: true } }
        - { at: 4h, for: 30m, slow: 5 }
    backup: { latency: 900 }

With traffic: { rate: 5, stream: true } every answer is read in parts, and a call falls back until its first part, never
after: latency is the time until that part, and stream: { parts: 20, every: 50 } of a provider says how it goes on. A
failing stream can be cut off after a share of its parts, answer: { cut: 0.5 }, or stand still, answer: { stall: 0.5 };
with 0 it does so before the first.

--config takes the targets and rules of a gateway instead of those in the file. Scenario files are played, too.
The same file and seed give the same bytes. Ctrl+C stops and prints what there is.

Examples:
  switchgear simulate load.yaml --html report.html
  switchgear simulate load.yaml --config gateway.yaml --seed 7
  switchgear simulate test/scenarios/call/open-primary.yaml --html story.html`

/** `switchgear simulate`: hours of traffic and faults in seconds. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description(
      'play hours of traffic and faults against a chain of targets in seconds, and draw what happened',
    )
    .argument('<file>', 'a load, or a scenario')
    .option('--config <file>', 'the configuration of a gateway: its targets and rules are simulated')
    .option('--seed <n>', 'other luck (default: the file says)', wholeNumber)
    .option('--json', 'print one JSON object', false)
    .option('--html <file>', 'write the report with its picture as one HTML file')
    .addHelpText('after', help)
    .action(async (file: string, options: SimulateOptions, command: Command) => {
      const { simulateFile } = await import('./simulate-file.ts')
      await simulateFile(file, options, command)
    })
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number of at least 0.')
}
