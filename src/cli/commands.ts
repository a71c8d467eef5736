import type { Command } from 'commander'
import { cleanLines } from '../audit/incident/clean-words.ts'

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
    name: 'init',
    summary: 'write a first configuration for the keys found in the environment',
    load: async () => (await import('./init.ts')).initCommand(),
  },
  {
    name: 'validate',
    summary: 'read a configuration and tell what it means, or everything that is wrong with it',
    load: async () => (await import('./validate.ts')).validateCommand(),
  },
  {
    name: 'status',
    summary: 'tell of every circuit of a running gateway what it is, why, and what ends it',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  {
    name: 'explain',
    summary: 'tell the story of one circuit: state, why, evidence, since when, what ends it',
    load: async () => (await import('./explain.ts')).explainCommand(),
  },
  {
    name: 'open',
    summary: 'open a circuit by hand for one cooldown: its calls are refused, then a trial decides',
    load: async () => (await import('./open.ts')).openCommand(),
  },
  {
    name: 'close',
    summary: 'close a circuit by hand: calls flow, a hold ends, counters begin anew',
    load: async () => (await import('./close.ts')).closeCommand(),
  },
  {
    name: 'hold',
    summary: 'keep a circuit open or closed, whatever happens, until its time is over or somebody ends it',
    load: async () => (await import('./hold.ts')).holdCommand(),
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
  {
    name: 'simulate',
    summary: 'play hours of traffic and faults against a chain of targets in seconds, and draw what happened',
    load: async () => (await import('./simulate.ts')).simulateCommand(),
  },
  {
    name: 'replay',
    summary: 'play incidents that happened against policies and compare what would have come of it',
    load: async () => (await import('./replay.ts')).replayCommand(),
  },
  {
    name: 'shrink',
    summary: 'cut a recording down to the smallest scenario file that still shows what happened',
    load: async () => (await import('./shrink.ts')).shrinkCommand(),
  },
  {
    name: 'journal',
    summary: 'list what changed a circuit, when, why and by whom; check that nothing was altered',
    load: async () => (await import('./journal.ts')).journalCommand(),
  },
  {
    name: 'audit',
    summary: 'write the rules as a report that a product owner can read, question and sign',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  {
    name: 'diff',
    summary: 'say what two configurations do differently, each with the shortest story that tells them apart',
    load: async () => (await import('./diff.ts')).diffCommand(),
  },
  {
    name: 'paths',
    summary: 'write everything that can happen to the circuits of a configuration as tests or as text',
    load: async () => (await import('./paths.ts')).pathsCommand(),
  },
]

/** @throws where there is no such command */
export async function loadCommand(name: string): Promise<Command> {
  const entry = commands.find((command) => command.name === name)
  if (entry === undefined) throw new Error(`There is no command '${name}'.`)
  const command = await entry.load()
  // an error repeats names and words that came from outside
  return command.configureOutput({ outputError: (text, write) => write(cleanLines(text)) })
}
