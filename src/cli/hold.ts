import { Command, InvalidArgumentError, Option } from 'commander'

import { parseDuration } from './duration.ts'
import { giveOrder, reasonOf } from './give-order.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'

interface HoldOptions extends OperateOptions {
  readonly open?: boolean
  readonly closed?: boolean
  readonly for?: number
  readonly reason?: string
}

const examples = `  switchgear hold openai --open --for 2h --reason "invoice not paid yet"
  switchgear hold openai --closed --for 10m    stop refusing: outcomes are counted, nothing trips
  switchgear close openai                      ends a hold`

/** `switchgear hold`: keeps a circuit open or closed until somebody, or a time, ends it. */
export function holdCommand(): Command {
  const command = new Command('hold')
    .description(
      'keep a circuit open or closed, whatever happens, until its time is over or somebody ends it',
    )
    .argument('<circuit>', 'its name, as `switchgear status` shows it')
    .addOption(new Option('--open', 'refuse every call').conflicts('closed'))
    .option('--closed', 'refuse no call')
    .option('--for <duration>', 'how long, such as 90s, 10m, 2h (default: until somebody ends it)', duration)
    .option('--reason <text>', 'why; kept with the circuit and in the journal')
  return operated(command, examples).action((circuit: string, options: HoldOptions, self: Command) => {
    const { open, closed, for: ttlMs } = options
    if (open !== true && closed !== true) {
      self.error('error: say which way: --open refuses every call, --closed refuses none')
    }
    const order = { hold: true, ...(ttlMs !== undefined && { ttlMs }), ...reasonOf(options) }
    return operate(self, options, (hands) =>
      giveOrder(hands, circuit, open === true ? 'open' : 'close', order, options),
    )
  })
}

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0) return ms
  throw new InvalidArgumentError('A duration is a number with a unit, such as 90s, 10m, 2h or 1h30m.')
}
