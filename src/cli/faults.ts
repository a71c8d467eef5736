import { Command, InvalidArgumentError, Option } from 'commander'

import { formatFaults, outageKinds } from '../testing/faults.ts'
import type { OutageKind } from '../testing/faults.ts'
import { startScriptedProvider } from '../testing/scripted-provider.ts'
import type { ScriptedProvider } from '../testing/scripted-provider.ts'
import { byOptions, withAdvice } from './listen-advice.ts'

interface FaultsOptions {
  readonly port: number
  readonly host: string
  readonly name: string
  readonly outage: OutageKind
  readonly strict: boolean
}

/** `switchgear faults`: an OpenAI-compatible server whose model name selects the fault. Runs until SIGINT or SIGTERM. */
export function faultsCommand(): Command {
  return new Command('faults')
    .description('start an OpenAI-compatible provider whose model name selects the fault')
    .option('--port <number>', 'port to listen on, 0 for any free one', parsePort, 0)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--name <name>', 'name of the provider, said in every answer', 'scripted')
    .addOption(
      new Option('--outage <kind>', 'what an outage looks like once it is switched on')
        .choices(outageKinds)
        .default('503'),
    )
    .option('--strict', 'answer 404 to a model name that selects no fault', false)
    .addHelpText('after', `\nModel names (any other is answered like ok):\n${formatFaults()}`)
    .action(async (options: FaultsOptions, command: Command) => {
      const provider = await startScriptedProvider(options).catch((error: unknown) => {
        const advised = withAdvice(error, byOptions)
        if (advised === error) throw error
        return command.error(`error: ${(advised as Error).message}`)
      })
      command.configureOutput().writeOut?.(describe(provider, options))
      await stopSignal()
      await provider.close()
    })
}

function describe({ url, name }: ScriptedProvider, { outage, strict }: FaultsOptions): string {
  const json = `-H 'content-type: application/json'`
  return `Scripted provider "${name}" listens on ${url}

Model names (any other ${strict ? 'gets a 404' : 'is answered like ok'}):
${formatFaults()}

Try it:
  curl ${url}/v1/chat/completions ${json} \\
    -d '{"model": "503", "messages": [{"role": "user", "content": "Hello"}]}'
Switch an outage (${outage}) on, then off with false:
  curl ${url}/control/outage ${json} -d '{"on": true}'
See what arrived, start afresh:
  curl ${url}/control/requests
  curl -X POST ${url}/control/reset

Ctrl+C stops it.
`
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

async function stopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
