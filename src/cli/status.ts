import { Command } from 'commander'

import { circuitTable } from './circuit-table.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'
import { watchCircuits } from './watch.ts'

interface StatusOptions extends OperateOptions {
  readonly watch: boolean
  readonly all: boolean
  readonly json: boolean
}

const examples = `  switchgear status                            every circuit, what is not well first
  switchgear status --watch                    the same, as it changes; into a pipe: a line for each transition
  switchgear status --json | jq '.circuits[] | select(.state == "open")'`

/** `switchgear status`: the circuits of a running gateway. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description('tell of every circuit of a running gateway what it is, why, and what ends it')
    .option('--watch', 'go on as things change; Ctrl+C ends it', false)
    .option('--all', 'list also circuits that are well, however many', false)
  return operated(command, examples).action((options: StatusOptions, self: Command) =>
    operate(self, options, async (hands) => {
      if (options.watch) return watchCircuits(hands, options, process.stdout.isTTY)
      const report = await hands.client.circuits()
      const { paint, client } = hands
      hands.say(
        options.json
          ? JSON.stringify(report, null, 2)
          : circuitTable(report, { url: client.url, paint, all: options.all }),
      )
    }),
  )
}
