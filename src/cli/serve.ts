import { Command, InvalidArgumentError } from 'commander'

import type { GatewayConfig } from '../gateway/config-schema.ts'
import type { Gateway } from '../gateway/server.ts'
import type { ScriptedProvider } from '../testing/scripted-provider.ts'

interface ServeOptions {
  readonly config?: string
  readonly port?: number
  readonly host?: string
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
GET /status tells which circuit is open and why, GET /livez whether the process lives.`

/** `switchgear serve`: the gateway. Runs until SIGINT or SIGTERM. */
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
    .addHelpText('after', example)
    .action((options: ServeOptions) =>
      options.config === undefined ? serveScripted(options) : serveConfig(options),
    )
}

async function serveConfig(options: ServeOptions): Promise<void> {
  const { readConfig } = await import('../gateway/read-config.ts')
  const config = readConfig(options.config ?? '')
  const gateway = await startGateway(config, options)
  say(
    `Switchgear listens on ${gateway.url}/v1 in front of ${config.targets.length} targets; GET ${gateway.url}/status`,
  )
  await stopSignal()
  await gateway.close()
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
  const gateway = await startGateway({ targets }, options)
  say(whatToTry(gateway, primary))
  await stopSignal()
  await gateway.close()
}

async function startGateway(config: GatewayConfig, { port, host }: ServeOptions): Promise<Gateway> {
  const { createGateway } = await import('../gateway/server.ts')
  const { transitionLine } = await import('../gateway/transition-line.ts')
  const server = {
    ...config.server,
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
  }
  // transitions are told below, with the time of the next try
  const log = (fields: object, message: string) => {
    if (!('from' in fields)) process.stderr.write(`${message}\n`)
  }
  const gateway = await createGateway({ ...config, server }, { logger: { info() {}, warn: log, error: log } })
  gateway.gear.on('transition', (transition) => say(transitionLine(transition)))
  return gateway
}

function whatToTry({ url }: Gateway, primary: ScriptedProvider): string {
  const json = `-H 'content-type: application/json'`
  const outage = (on: boolean) => `curl -s ${primary.url}/control/outage ${json} -d '{"on": ${on}}'`
  const body = `'{"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}'`
  return `Switchgear listens on ${url} in front of two scripted providers, primary and backup. Ctrl+C stops it. Try:
  a normal call:          curl -si ${url}/v1/chat/completions ${json} -d ${body}
  cause an outage:        ${outage(true)}   (then make 5 calls: the circuit opens)
  watch the circuit:      curl -s ${url}/status
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

async function stopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
