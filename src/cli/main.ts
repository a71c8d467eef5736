#!/usr/bin/env node
import { Command } from 'commander'

import { cleanLines } from '../audit/incident/clean-words.ts'
import { packageVersion } from '../telemetry/package-version.ts'
import { commands, loadCommand } from './commands.ts'
import { unwritable } from './write-output.ts'

const examples = `
Examples:
  switchgear serve                          two scripted providers, and lines to paste
  switchgear serve --config gateway.yaml    a gateway in front of your providers
  switchgear init                           a first gateway.yaml for the keys in your environment
  switchgear validate gateway.yaml          what it means, or everything that is wrong with it
  switchgear status --watch                 every circuit of a running gateway, as it changes
  switchgear explain openai                 why a circuit is as it is
  switchgear hold openai --closed --for 10m --reason "provider says it is fixed"
  switchgear demo                           one outage from the first failure to the recovery
  switchgear faults --port 8080             a provider whose model name selects the fault
  switchgear check test/scenarios           play scenario files in virtual time
  switchgear simulate load.yaml             hours of traffic and faults in seconds
  switchgear replay --incidents incidents.csv --traffic trace.csv   a real year, policy by policy
  switchgear shrink --outcomes outcomes.jsonl --at 2026-05-06T18:44:30Z   from an incident to a test
  switchgear journal --type transition      what opened and closed, when, why and by whom
  switchgear audit gateway.yaml             the rules as a report to read, question and sign
  switchgear diff old.yaml new.yaml         what behaves differently, each with a story that shows it
  switchgear paths gateway.yaml             everything that can happen to a circuit, as tests
  switchgear help serve                     the options of a command`

/** The command line. Only the command that is asked for is loaded: help stays fast. */
async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('switchgear')
    .description(
      'Statechart circuit breakers and fallback for LLM providers.\nStop calling what is already down. Know why. Prove it.',
    )
    .version(packageVersion())
    .showSuggestionAfterError()
    .addHelpText('after', examples)
  const wanted = args.filter((word) => !word.startsWith('-')).slice(0, 2)
  const named = wanted[0] === 'help' ? wanted[1] : wanted[0]
  for (const { name, summary } of commands) {
    program.addCommand(name === named ? await loadCommand(name) : new Command(name).description(summary))
  }
  return program
}

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 22) {
  process.stderr.write(`error: switchgear needs Node 22.19 or newer; this is ${process.version}.\n`)
  process.exit(1)
}

// a server goes on for its clients, whoever has stopped reading what it prints
const isServer = ['serve', 'faults'].includes(process.argv[2] ?? '')

process.stderr.on('error', () => {})
process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
  if (isServer) return
  // whoever reads a pipe may have seen enough
  if (code === 'EPIPE') process.exit()
  process.stderr.write(`error: ${unwritable('standard output', code).message}\n`)
  // 1 of diff says that two configurations differ
  process.exit(process.argv[2] === 'diff' ? 2 : 1)
})

try {
  const args = process.argv.slice(2)
  const program = await createProgram(args)
  if (args.length === 0) program.outputHelp()
  else await program.parseAsync(args, { from: 'user' })
} catch (error) {
  process.stderr.write(`error: ${cleanLines(error instanceof Error ? error.message : String(error))}\n`)
  process.exit(1)
}
