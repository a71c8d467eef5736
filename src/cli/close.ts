import { Command } from 'commander'

import { giveOrder, reasonOf } from './give-order.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'

interface CloseOptions extends OperateOptions {
  readonly reason?: string
}

const examples = `  switchgear close openai --reason "provider says it is fixed"
  switchgear hold openai --closed --for 30m    to stop refusing, whatever happens`

/** `switchgear close`: closes a circuit, ends a hold, clears the counters. */
export function closeCommand(): Command {
  const command = new Command('close')
    .description('close a circuit by hand: calls flow, a hold ends, counters begin anew')
    .argument('<circuit>', 'its name, as `switchgear status` shows it')
    .option('--reason <text>', 'why; kept with the circuit and in the journal')
  return operated(command, examples).action((circuit: string, options: CloseOptions, self: Command) =>
    operate(self, options, (hands) => giveOrder(hands, circuit, 'close', reasonOf(options), options)),
  )
}
