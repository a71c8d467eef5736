import { Command } from 'commander'

import { giveOrder, reasonOf } from './give-order.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'

interface OpenOptions extends OperateOptions {
  readonly reason?: string
}

const examples = `  switchgear open openai --reason "status page says outage"
  switchgear hold openai --open --for 2h       to keep it open, whatever the trial would say`

/** `switchgear open`: opens a circuit for one cooldown. */
export function openCommand(): Command {
  const command = new Command('open')
    .description('open a circuit by hand for one cooldown: its calls are refused, then a trial decides')
    .argument('<circuit>', 'its name, as `switchgear status` shows it')
    .option('--reason <text>', 'why; kept with the circuit and in the journal')
  return operated(command, examples).action((circuit: string, options: OpenOptions, self: Command) =>
    operate(self, options, (hands) => giveOrder(hands, circuit, 'open', reasonOf(options), options)),
  )
}
