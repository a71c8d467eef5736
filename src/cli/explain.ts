import { Command } from 'commander'

import { circuitStory } from './circuit-story.ts'
import { operate, operated } from './operate.ts'
import type { OperateOptions } from './operate.ts'

const examples = `  switchgear explain openai
  switchgear explain openai/gpt-5              a circuit of its own for each model`

/** `switchgear explain`: the story of one circuit. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description('tell the story of one circuit: state, why, evidence, since when, what ends it')
    .argument('<circuit>', 'its name, as `switchgear status` shows it')
  return operated(command, examples).action((circuit: string, options: OperateOptions, self: Command) =>
    operate(self, options, async ({ client, say, paint }) => {
      const detail = await client.circuit(circuit)
      say(options.json === true ? JSON.stringify(detail, null, 2) : circuitStory(detail, paint))
    }),
  )
}
