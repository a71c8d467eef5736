import { dirname } from 'node:path'

import { Command } from 'commander'

import type { ConfigSummary } from '../gateway/config/summary.ts'

interface ValidateOptions {
  readonly json: boolean
  readonly schema: boolean
}

const help = `
Every fault is told as file:line path: what is wrong, what would be right; where the file is no YAML, as file:line:column
with the line itself, its values hidden. Exit code 1 when there is a fault.
Variables such as \${OPENAI_API_KEY} must be set as for serve; nothing secret is printed.

Completion in an editor:
  switchgear validate --schema > gateway.schema.json
and as the first line of gateway.yaml:
  # yaml-language-server: $schema=gateway.schema.json`

/** `switchgear validate`: reads a configuration and tells what it means, or everything that is wrong with it. */
export function validateCommand(): Command {
  return new Command('validate')
    .description('read a configuration and tell what it means, or everything that is wrong with it')
    .argument('[file]', 'YAML or JSON')
    .option('--json', 'print one JSON object', false)
    .option('--schema', 'print the JSON Schema of a configuration, for editors', false)
    .addHelpText('after', help)
    .action(async (file: string | undefined, options: ValidateOptions, command: Command) => {
      const write = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
      if (options.schema) {
        const { configSchemaText } = await import('../gateway/config/json-schema.ts')
        return write(configSchemaText().trimEnd())
      }
      if (file === undefined) {
        return command.error('error: name the file to validate, such as: switchgear validate gateway.yaml')
      }
      await validate(file, options.json, write)
    })
}

async function validate(file: string, json: boolean, write: (text: string) => void): Promise<void> {
  const { faultLine, readConfigText } = await import('../gateway/config/read-config.ts')
  const { checkConfig } = await import('../gateway/config/check-config.ts')
  const { config, faults } = checkConfig(readConfigText(file), process.env)
  if (config === undefined) {
    process.exitCode = 1
    const lines = faults.map((fault) => faultLine(file, fault))
    const count = `${faults.length} fault${faults.length === 1 ? '' : 's'}`
    return write(
      json ? JSON.stringify({ valid: false, file, faults }, null, 2) : [...lines, count].join('\n'),
    )
  }
  const { resolveConfig } = await import('../gateway/config/resolve-config.ts')
  const { summarize } = await import('../gateway/config/summary.ts')
  const summary = summarize(resolveConfig(config, dirname(file)))
  write(json ? JSON.stringify({ valid: true, file, ...summary }, null, 2) : inWords(file, summary))
}

function inWords(file: string, summary: ConfigSummary): string {
  const sections: [string, readonly string[]][] = [
    ['listens on', listening(summary)],
    ['targets', summary.targets.map(targetLine)],
    ['models', modelLines(summary)],
    ['journal', [journalLine(summary.journal)]],
    ['recording', summary.record === false ? [] : [recordLine(summary.record)]],
    [
      'alerts',
      summary.alerts.map(
        ({ host, on, signed }) => `${host}${signed ? '' : ' (not signed)'}: ${on.join(', ')}`,
      ),
    ],
    ['health checks', healthLines(summary)],
    ['notes', summary.notes],
  ]
  const told = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}`).join('\n')}`)
  return [`${file} is valid.`, ...told].join('\n\n')
}

function listening({ server, operators }: ConfigSummary): string[] {
  const { host, port, admin, clients } = server
  return [
    `${host}:${port}, ${clients.length === 0 ? 'open to everybody who reaches it' : `for ${clients.join(', ')}`}`,
    `${admin === undefined ? 'admin on the same port' : `${admin.host}:${admin.port} for admin`}, ${
      operators.length === 0 ? 'with a token made at the first start' : `for ${operators.join(', ')}`
    }`,
  ]
}

function targetLine({ name, baseUrl, api, model, hasKey, rules }: ConfigSummary['targets'][number]): string {
  const what = [
    model === undefined ? 'the model asked for' : model,
    `at ${baseUrl}`,
    ...(api === 'openai' ? [] : [`(api ${api})`]),
    ...(hasKey ? [] : ['without a key']),
  ]
  return `${name}: ${what.join(' ')}\n    ${rules ?? 'No circuit breaker.'}`
}

function modelLines({ groups, targets }: ConfigSummary): string[] {
  if (groups === undefined) return [`any model: ${targets.map(({ name }) => name).join(' → ')}`]
  return groups.map(({ name, strategy, targets: own, fallbacks }) => {
    const first = own.length === 1 ? own[0] : `${own.join(', ')} (${strategy})`
    return `${name === '*' ? 'any other model' : name}: ${[first, ...fallbacks].join(' → ')}`
  })
}

const journalLine = (journal: ConfigSummary['journal']) =>
  journal === false
    ? 'none: circuits forget at a restart'
    : `${journal.file}, ${journal.keepDays} days, ${journal.maxMegabytes} MB at most`

const recordLine = ({ file, sample, keepDays, maxMegabytes }: Exclude<ConfigSummary['record'], false>) =>
  `${file}, ${sample === 1 ? 'every outcome' : `${sample * 100} % of the uneventful successes, everything else`}, ${keepDays} days, ${maxMegabytes} MB at most`

function healthLines({ healthChecks }: ConfigSummary): string[] {
  if (healthChecks === false || healthChecks === undefined) return []
  const { intervalMs, maxPerHour } = healthChecks
  return [`every ${intervalMs / 1000} s while a circuit is open, ${maxPerHour} an hour and target at most`]
}
