import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { Command, InvalidArgumentError } from 'commander'

import { ConfigError } from '../core/errors.ts'
import type { GatewayConfig } from '../gateway/config/schema.ts'
import type { Gateway } from '../gateway/server.ts'
import type { ScriptedProvider } from '../testing/scripted-provider.ts'
import { byConfig, byOptions, withAdvice } from './listen-advice.ts'

interface ServeOptions {
  readonly config?: string
  readonly port?: number
  readonly host?: string
  /** Port of the page of the live actors; true = any free one. */
  readonly inspect?: number | true
}

const example = `
A configuration, gateway.yaml:
  server: { port: 4000 }
  targets:
    - name: openai
      baseUrl: https://api.openai.com/v1
      apiKey: \${OPENAI_API_KEY}
      circuitBreaker: { threshold: 5, cooldownMs: 30000 }
    - name: backup
      model: llama-3.3-70b
      baseUrl: https://llm.example.com/v1
      apiKey: \${BACKUP_API_KEY}

Then point any OpenAI client at http://127.0.0.1:4000/v1.
GET /status tells which circuit is open and why, GET /livez whether the process lives.
SIGHUP reads the file anew; a broken one changes nothing. SIGTERM lets the calls under way end.`

/** `switchgear serve`: the gateway. Runs until SIGINT or SIGTERM; SIGHUP reads the configuration anew. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('start the OpenAI-compatible gateway in front of a chain of providers')
    .option('--config <file>', 'YAML or JSON; without it two local scripted providers are started')
    .option(
      '--port <number>',
      'port to listen on, 0 for any free one (default: the configuration, else 4000)',
      parsePort,
    )
    .option('--host <address>', 'address to listen on (default: the configuration, else 127.0.0.1)')
    .option(
      '--inspect [port]',
      'show the live actors on a page of this machine, and in the Stately inspector (default: any free port)',
      parsePort,
    )
    .addHelpText('after', example)
    .action((options: ServeOptions) =>
      options.config === undefined ? serveScripted(options) : serveConfig(options),
    )
}

async function serveConfig(options: ServeOptions): Promise<void> {
  const { readConfig } = await import('../gateway/config/read-config.ts')
  const file = options.config ?? ''
  const read = () => withAddress(readConfig(file), options)
  const { startService } = await import('../gateway/service.ts')
  const advice = byConfig(file, read())
  const gateway = await told(startService({ file, read, logger }), advice)
  const { gear, url, adminUrl, token } = gateway
  // whoever is told that it listens may send a signal at once
  const stopped = untilStopped(gateway, () => takeOver(gateway, file, read))
  say(
    `Switchgear listens on ${url}/v1 in front of ${gear.getCircuitStates().length} targets; dashboard: ${adminUrl}/`,
  )
  if (token.warning !== undefined) process.stderr.write(`${token.warning}\n`)
  if (token.made !== undefined) {
    const kept = token.file === undefined ? '' : `; it is kept in ${token.file} and not shown again`
    say(`No admin token is configured, so one was made for dashboard and commands${kept}:\n${token.made}`)
  }
  for (const { bucket, status } of gear.stats().breakers) {
    const { state, held } = status
    if (state !== 'closed' || held)
      say(`restored from the journal: ${bucket} is ${state}${held ? ', held' : ''}`)
  }
  await showActors(gateway, options.inspect)
  await stopped
}

/** A broken file changes nothing. */
function takeOver(gateway: Gateway, file: string, read: () => GatewayConfig): void {
  try {
    const { changed } = gateway.reload(read())
    say(
      `SIGHUP: ${file} was read; ${changed.length === 0 ? 'nothing has changed' : `changed: ${changed.join(', ')}`}.`,
    )
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`SIGHUP: ${file} is refused, the old configuration stays in force:\n${why}\n`)
  }
}

async function serveScripted(options: ServeOptions): Promise<void> {
  const { startScriptedProvider } = await import('../testing/scripted-provider.ts')
  await using primary = await startScriptedProvider({ name: 'primary' })
  await using backup = await startScriptedProvider({ name: 'backup' })
  const rules = { circuitBreaker: { threshold: 5, cooldownMs: 5000 }, maxRetries: 0 }
  const targets = [
    { name: 'primary', baseUrl: primary.baseURL, ...rules },
    { name: 'backup', baseUrl: backup.baseURL, ...rules },
  ] as const
  const { createGateway } = await import('../gateway/server.ts')
  const { TOKEN_FILE } = await import('../gateway/admin/token-file.ts')
  const tokenFile = resolve(TOKEN_FILE)
  const gateway = await told(
    createGateway(withAddress({ targets }, options), { logger, tokenFile }),
    byOptions,
  )
  const token = gateway.token.made ?? readFileSync(tokenFile, 'utf8').trim()
  const stopped = untilStopped(gateway)
  say(whatToTry(gateway.url, primary, token))
  await showActors(gateway, options.inspect)
  await stopped
}

/** What stands in the command line comes before what stands in the file. */
function withAddress(config: GatewayConfig, { port, host }: ServeOptions): GatewayConfig {
  const address = { ...(port !== undefined && { port }), ...(host !== undefined && { host }) }
  return { ...config, server: { ...config.server, ...address } }
}

// transitions are told below, with the time of the next try
const log = (fields: object, message: string) => {
  if (!('from' in fields)) process.stderr.write(`${message}\n`)
}
const logger = { info() {}, warn: log, error: log }

/** A gateway whose transitions are said. */
async function told(started: Promise<Gateway>, adviceOn: Parameters<typeof withAdvice>[1]): Promise<Gateway> {
  const gateway = await started.catch((error: unknown) => {
    throw withAdvice(error, adviceOn)
  })
  const { holdLine, transitionLine } = await import('../gateway/transition-line.ts')
  gateway.gear.on('transition', (transition) => say(transitionLine(transition)))
  gateway.gear.on('hold', (held) => say(holdLine(held)))
  return gateway
}

/** The page of the live actors, where it is asked for. It ends with the process. */
async function showActors(gateway: Gateway, port: ServeOptions['inspect']): Promise<void> {
  if (port === undefined) return
  const { inspect } = await import('../adapters/inspect/inspect.ts')
  try {
    const { url } = await inspect(gateway.gear, { port: port === true ? 0 : port, logger })
    say(`Live actors, on this machine only: ${url}`)
  } catch (error) {
    await gateway.close({ drainMs: 0 })
    throw isOfPort(error) ? new Error(portOfInspector(error), { cause: error }) : error
  }
}

const isOfPort = (error: unknown): error is ConfigError =>
  error instanceof ConfigError && error.path === 'port'

const portOfInspector = ({ message, hint = '' }: ConfigError) =>
  `${message.slice(0, message.length - hint.length)}Choose another with --inspect <port>; --inspect alone takes any free one.`

function whatToTry(url: string, primary: ScriptedProvider, token: string): string {
  const json = `-H 'content-type: application/json'`
  const outage = (on: boolean) => `curl -s ${primary.url}/control/outage ${json} -d '{"on": ${on}}'`
  const body = `'{"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}'`
  return `Switchgear listens on ${url} in front of two scripted providers, primary and backup; Ctrl+C stops it. Try:
  a normal call:          curl -si ${url}/v1/chat/completions ${json} -d ${body}
  cause an outage:        ${outage(true)}   (then make 5 calls: the circuit opens)
  watch the circuit:      curl -s ${url}/status   (or the dashboard ${url}/#token=${token} or: npm run switchgear -- status)
  end the outage:         ${outage(false)}   (after 5 s the next call is the probe)`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

/** Until SIGINT or SIGTERM, and until the calls under way are over; a second signal does not wait for them. */
async function untilStopped(gateway: Gateway, onHangUp?: () => void): Promise<void> {
  if (onHangUp !== undefined) process.on('SIGHUP', onHangUp)
  const signal = await new Promise<NodeJS.Signals>((stop) => {
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
  })
  for (const again of ['SIGINT', 'SIGTERM'] as const) process.on(again, () => process.exit(1))
  say(`${signal}: no new calls are taken, those under way may end. Again: end at once.`)
  await gateway.close()
}
