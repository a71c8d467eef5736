import { replayCommand } from '../../src/cli/replay.ts'

/** `switchgear replay` with these arguments: what it prints, or the error that it ends with. */
export async function runReplay(...args: string[]): Promise<string> {
  let out = ''
  const command = replayCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
  await command.parseAsync(args, { from: 'user' })
  return out
}
