import type { Command } from 'commander'

import { AdminClient } from './admin-client.ts'
import { CommandFailed, EXIT, EXIT_CODES, findConnection } from './connection.ts'
import { groupInWords } from './group-words.ts'
import { paintFor } from './paint.ts'
import type { Paint } from './paint.ts'

export interface OperateOptions {
  readonly url?: string
  readonly token?: string
  readonly json?: boolean
}

/** What a command against a running gateway works with. */
export interface Hands {
  readonly client: AdminClient
  readonly paint: Paint
  /** A whole text, without its last line end. */
  readonly say: (text: string) => void
  /** What does not belong into a pipe. */
  readonly remark: (text: string) => void
}

const WHERE = `
The gateway is looked for at --url, SWITCHGEAR_URL, or http://127.0.0.1:4000; the token is taken from --token,
SWITCHGEAR_TOKEN, or the file ./switchgear.token. A token on the command line can be seen in the list of processes.
${EXIT_CODES}`

/** Adds what every command against a running gateway understands. */
export function operated(command: Command, examples: string): Command {
  return command
    .option('--url <url>', 'where the gateway is')
    .option('--token <token>', 'the admin token')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `\nExamples:\n${examples}\n${WHERE}`)
}

/** Runs `work` against the gateway; what goes wrong is one line and an exit code. */
export async function operate(
  command: Command,
  options: OperateOptions,
  work: (hands: Hands) => Promise<void>,
): Promise<void> {
  const { writeOut, writeErr } = command.configureOutput()
  let client: AdminClient | undefined
  try {
    client = new AdminClient(findConnection(options, process.env))
    await work({
      client,
      paint: paintFor(process.stdout, process.env),
      say: (text) => writeOut?.(`${text}\n`),
      remark: (text) => writeErr?.(`${text}\n`),
    })
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    const isUnknown = error.exitCode === EXIT.unknownCircuit
    const group = isUnknown ? await groupNamed(command.args[0], client) : undefined
    command.error(`error: ${group ?? error.message}`, { exitCode: error.exitCode })
  }
}

/** Who names a group is told of its circuits; where that cannot be asked, the first answer has to do. */
async function groupNamed(
  name: string | undefined,
  client: AdminClient | undefined,
): Promise<string | undefined> {
  if (name === undefined || client === undefined) return undefined
  try {
    return groupInWords(name, await client.circuits())
  } catch (error) {
    if (error instanceof CommandFailed) return undefined
    throw error
  }
}
