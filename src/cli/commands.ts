import type { Command } from 'commander'

interface CommandEntry {
  readonly name: string
  /** One line for the list of commands; the command's own description. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the OpenAI-compatible gateway in front of a chain of providers',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  {
    name: 'demo',
    summary: 'play one outage end to end and tell what the circuit breaker saved',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
  {
    name: 'faults',
    summary: 'start an OpenAI-compatible provider whose model name selects the fault',
    load: async () => (await import('./faults.ts')).faultsCommand(),
  },
  {
    name: 'check',
    summary: 'play scenario files in virtual time and print the first step that does not hold',
    load: async () => (await import('./check.ts')).checkCommand(),
  },
]

/** @throws where there is no such command */
export async function loadCommand(name: string): Promise<Command> {
  const entry = commands.find((command) => command.name === name)
  if (entry === undefined) throw new Error(`There is no command '${name}'.`)
  return await entry.load()
}
