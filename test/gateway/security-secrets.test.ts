import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { readConfig } from '../../src/gateway/config/read-config.ts'
import { Wire, startWhole } from './security-support.ts'
import type { Service } from './security-support.ts'
import { chunk, post, sseHead, startUpstream, until } from './support.ts'

/** Every secret there is, each unmistakable. */
const SECRETS = {
  apiKey: 'sk-canary-api-key-0001',
  backupKey: 'sk-canary-backup-key-0002',
  providerHeader: 'canary-provider-header-0003',
  providerQuery: 'canary-provider-query-0004',
  setField: 'canary-set-field-0005',
  clientKey: 'canary-client-key-0006',
  adminToken: 'canary-admin-token-0007-0123456789abcdef',
  webhookPath: 'canary-webhook-path-0008',
  webhookSecret: Buffer.from('canary-webhook-secret-0009').toString('base64'),
  newKey: 'sk-canary-new-key-0010',
  brokenKey: 'canary-broken-key-0011',
} as const
/** What people, providers and strangers say: nobody's business but theirs. */
const WORDS = {
  prompt: 'canary-prompt-0020',
  tool: 'canary-tool-0021',
  answer: 'canary-answer-0022',
  providerText: 'canary-provider-text-0023',
  providerHeader: 'canary-answer-header-0024',
  cookie: 'canary-cookie-0025',
  wrongKey: 'canary-wrong-key-0026',
  wrongToken: 'canary-wrong-token-0027-0123456789abcdef',
  inQuery: 'canary-in-query-0028',
  forwarded: 'canary-forwarded-0029',
} as const

const CONFIG = (baseUrl: string, hook: string, apiKey: string) => `
server:
  maxBodyBytes: 100000
  clientKeys: { team: "\${CANARY_CLIENT_KEY}" }
admin:
  tokens: { alice: "\${CANARY_ADMIN_TOKEN}" }
providers:
  first:
    baseUrl: ${baseUrl}
    apiKey: "\${${apiKey}}"
    headers: { x-account: "${SECRETS.providerHeader}" }
    query: { api-version: "${SECRETS.providerQuery}" }
defaults: { maxRetries: 1, retry: { baseMs: 1 }, circuitBreaker: { threshold: 3, cooldownMs: 60000 } }
targets:
  - { name: one, provider: first, timeoutMs: 1000, idleTimeoutMs: 1000, set: { user: "${SECRETS.setField}" } }
  - { name: two, baseUrl: "${baseUrl}/two", apiKey: "${SECRETS.backupKey}", auth: { header: api-key }, maxRetries: 0, circuitBreaker: false }
alerts:
  - { url: "${hook}/${SECRETS.webhookPath}", secret: "whsec_${SECRETS.webhookSecret}" }
  - { url: "http://127.0.0.1:1/${SECRETS.webhookPath}" }
`

const ENVIRONMENT = {
  CANARY_API_KEY: SECRETS.apiKey,
  CANARY_NEW_KEY: SECRETS.newKey,
  CANARY_CLIENT_KEY: SECRETS.clientKey,
  CANARY_ADMIN_TOKEN: SECRETS.adminToken,
}

const body = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: WORDS.prompt }],
  tools: [{ type: 'function', function: { name: WORDS.tool } }],
  ...more,
})
const said = `${WORDS.providerText}: ${WORDS.prompt} with ${SECRETS.apiKey}`
const errorBody = (code: string | null = null) =>
  JSON.stringify({ error: { message: said, type: WORDS.providerText, code, param: WORDS.providerText } })

/** Whatever left for the two providers. */
const received: string[] = []

/** Plays the provider: the model of the client says how, and its words are full of secrets. */
const play: Parameters<typeof startUpstream>[0] = (request, response, text) => {
  received.push(`${request.url} ${JSON.stringify(request.headers)} ${text}`)
  const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean }
  const headers = {
    'content-type': 'application/json',
    'set-cookie': WORDS.providerHeader,
    'openai-organization': WORDS.providerHeader,
    'x-debug': WORDS.providerHeader,
  }
  if (request.url?.startsWith('/v1/two') && model !== 'all-down')
    return void response.writeHead(200, headers).end(ANSWER)
  if (/^\d+$/.test(model)) return void response.writeHead(Number(model), headers).end(errorBody())
  if (model === 'quota') return void response.writeHead(429, headers).end(errorBody('insufficient_quota'))
  if (model === 'all-down') return void response.writeHead(500, headers).end(errorBody())
  if (model === 'html') return void response.writeHead(502, headers).end(`<h1>${said}</h1>`)
  if (model === 'hang') return
  if (stream !== true) return void response.writeHead(200, headers).end(ANSWER)
  response.writeHead(200, { ...headers, ...sseHead })
  response.write(chunk({ content: WORDS.answer }))
  if (model === 'cut') setImmediate(() => response.destroy())
  else if (model === 'late') response.end(`data: ${errorBody()}\n\n`)
  else if (model === 'stall') return
  else response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
}

const ANSWER = JSON.stringify({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS.answer }, finish_reason: 'stop' }],
})

/** Takes deliveries of alerts. */
async function startHook() {
  const delivered: string[] = []
  const server = createServer((request, response) => {
    let text = `${JSON.stringify(request.headers)}\n`
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      delivered.push(text)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, delivered, [Symbol.asyncDispose]: close }
}

/** Everything in a directory, as bytes say it. */
const filesIn = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile() && !file.endsWith('gateway.yaml'))
    .map((file) => `${file}\n${readFileSync(file, 'latin1')}`)
    .join('\n')

/** What of `forbidden` stands in a text, also in another spelling. */
const found = (text: string, forbidden: readonly string[]): string[] =>
  forbidden.filter((secret) =>
    [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex')].some((one) =>
      text.includes(one),
    ),
  )

const ALL = [...Object.values(SECRETS), ...Object.values(WORDS)]

/** An answer, head and all. */
async function whole(answer: Promise<Response>): Promise<string> {
  const { status, headers, text } = await answer.then(async (one) => ({
    status: one.status,
    headers: JSON.stringify([...one.headers]),
    text: await one.text().catch((error: unknown) => String(error)),
  }))
  return `${status} ${headers} ${text}`
}

afterEach(() => vi.unstubAllEnvs())

describe('secrets and words', () => {
  it('reach only whom they are meant for, whatever happens', async () => {
    for (const [name, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(name, value)
    const printed: string[] = []
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
    }
    const warned = (warning: Error) => void printed.push(String(warning.stack))
    process.on('warning', warned)

    await using upstream = await startUpstream(play)
    await using hook = await startHook()
    let file = ''
    const write = (text: string) => writeFileSync(file, text)
    await using service = await startWhole((directory) => {
      if (file === '') {
        file = join(directory, 'gateway.yaml')
        write(CONFIG(upstream.baseUrl, hook.url, 'CANARY_API_KEY'))
      }
      return readConfig(file)
    })
    const { gateway, log } = service

    const asTeam = {
      authorization: `Bearer ${SECRETS.clientKey}`,
      cookie: WORDS.cookie,
      'x-forwarded-for': WORDS.forwarded,
      'x-api-key': WORDS.wrongKey,
    }
    const chat = (more: object, headers: Record<string, string> = asTeam, signal?: AbortSignal) =>
      post(service, `/v1/chat/completions?key=${WORDS.inQuery}`, more, { headers, ...(signal && { signal }) })
    const asAlice = { authorization: `Bearer ${SECRETS.adminToken}`, 'content-type': 'application/json' }
    const admin = (method: string, path: string, sent?: object, headers: Record<string, string> = asAlice) =>
      whole(
        fetch(`${gateway.adminUrl}${path}`, { method, headers, ...(sent && { body: JSON.stringify(sent) }) }),
      )

    using live = new Wire(gateway.adminUrl)
    live.send('GET /admin/events HTTP/1.1', 'host: x', `authorization: ${asAlice.authorization}`, '', '')
    await live.until(/event: circuits/)

    // what only the client can mend is told in the provider's own words
    expect(await whole(chat(body('400')))).toContain(WORDS.providerText)

    // what clients get: their own answers, and no secret
    const answered = [
      await whole(chat(body('ok'))),
      await whole(chat(body('ok', { stream: true }))),
      await whole(chat(body('503'))),
      await whole(chat(body('late', { stream: true }))),
      await whole(chat(body('cut', { stream: true }))),
    ]
    for (const text of answered) expect(text).toContain(WORDS.answer)
    expect(
      found(
        answered.join('\n'),
        ALL.filter((one) => one !== WORDS.answer),
      ),
    ).toEqual([])

    // and everything else
    const toOne = { ...asTeam, 'x-switchgear-target': 'one', 'x-switchgear-bypass': 'true' }
    const told = [
      await whole(chat(body('all-down'))),
      await whole(chat(body('all-down', { stream: true }))),
      await whole(chat(body('html'), toOne)),
      await whole(chat(body('401'), toOne)),
      await whole(chat(body('quota'), toOne)),
      await whole(chat(body('hang'), toOne)),
      await whole(chat(body('ok'), { ...asTeam, 'x-switchgear-target': 'one' })),
      await whole(chat(body('ok'), { ...asTeam, 'x-switchgear-target': 'nobody' })),
      await whole(chat(body('ok'), { ...asTeam, 'x-switchgear-mock': '429' })),
      await whole(chat(body('ok'), { authorization: `Bearer ${WORDS.wrongKey}` })),
      await whole(chat(body('ok', { padding: 'x'.repeat(200_000) }))),
      await whole(chat(body('ok', { model: { prompt: WORDS.prompt } }))),
      await whole(
        fetch(`${service.url}/v1/chat/completions`, {
          method: 'POST',
          headers: asTeam,
          body: `{"a": ${WORDS.prompt}`,
        }),
      ),
      await whole(fetch(`${service.url}/v1/nothing?key=${WORDS.inQuery}`, { headers: asTeam })),
      await whole(fetch(`${service.url}/v1/%zz?key=${WORDS.inQuery}`, { headers: asTeam })),
    ]
    expect(told.map((text) => Number(text.slice(0, 3)))).toEqual([
      503, 503, 502, 502, 503, 504, 503, 400, 400, 401, 413, 400, 400, 404, 400,
    ])

    // clients that leave, in the middle of everything
    for (const model of ['hang', 'stall']) {
      const leaving = new AbortController()
      const left = chat(body(model, { stream: true }), toOne, leaving.signal).then((answer) => {
        leaving.abort()
        return answer.text()
      })
      if (model === 'hang') setImmediate(() => leaving.abort())
      await expect(left).rejects.toThrow()
    }

    // operators, and strangers at their door
    const operated = [
      await admin('GET', '/status'),
      await admin('GET', '/metrics'),
      await admin('GET', '/admin/circuits'),
      await admin('GET', '/admin/circuits/one'),
      await admin('POST', '/admin/circuits/one/close', { reason: 'tried it by hand' }),
      await admin('POST', '/admin/circuits/one/open', { reason: 'upkeep', hold: true, ttlMs: 60_000 }),
      await admin('POST', '/admin/circuits/nobody/open'),
      await admin('GET', '/admin/circuits', undefined, { authorization: `Bearer ${WORDS.wrongToken}` }),
      await admin('GET', `/admin/circuits?token=${WORDS.inQuery}`),
      await admin('GET', '/admin/circuits', undefined, { ...asAlice, origin: 'http://evil.example' }),
    ]

    // another configuration, and broken ones
    write(CONFIG(upstream.baseUrl, hook.url, 'CANARY_NEW_KEY').replace('timeoutMs: 1000', 'timeoutMs: 1100'))
    const reloaded = await admin('POST', '/admin/reload')
    expect(reloaded).toMatch(/^200 /)
    expect(await whole(chat(body('ok'), toOne))).toContain(WORDS.answer)
    const broken = [
      `apiKey: [${SECRETS.brokenKey}]`,
      `apiKey: {a: ${SECRETS.brokenKey}}`,
      `apiKey: "${SECRETS.brokenKey}\\n"`,
      `apiKeyy: ${SECRETS.brokenKey}`,
      `apiKey: "${SECRETS.brokenKey}`,
      `auth: ${SECRETS.brokenKey}`,
      `headers: { a: 1, authorization: ${SECRETS.brokenKey} }`,
    ]
    for (const line of broken) {
      write(`targets:\n  - baseUrl: http://127.0.0.1:1/v1\n    ${line}\n`)
      const refused = await admin('POST', '/admin/reload')
      expect([line, refused.slice(0, 3)]).toEqual([line, '400'])
      operated.push(refused)
    }
    operated.push(
      reloaded,
      await admin('GET', '/admin/journal'),
      await admin('GET', '/metrics'),
      await admin('GET', '/status'),
    )
    await live.until(/"by":"alice"/)
    await until(() => hook.delivered.length >= 3)

    const seen = {
      told: told.join('\n'),
      operated: operated.join('\n'),
      live: live.text,
      alerts: hook.delivered.join('\n'),
      explained: JSON.stringify(gateway.gear.explain({ name: 'one' })),
      stats: JSON.stringify(gateway.gear.stats()),
      supervisor: JSON.stringify(gateway.gear.supervisor.getPersistedSnapshot()),
      filesWhileRunning: filesIn(service.directory),
    }
    await gateway.close({ drainMs: 0 })
    process.off('warning', warned)
    const after = { files: filesIn(service.directory), log: log.join('\n'), printed: printed.join('') }
    vi.restoreAllMocks()

    // a provider gets what is its own
    const { apiKey, backupKey, newKey, providerHeader, providerQuery, setField } = SECRETS
    const sentTo = (mine: boolean) =>
      received.filter((line) => line.startsWith('/v1/two') !== mine).join('\n')
    const { prompt, tool } = WORDS
    const own = [apiKey, providerHeader, providerQuery, setField, newKey, prompt, tool]
    expect(found(sentTo(true), ALL)).toEqual(own)
    expect(found(sentTo(false), ALL)).toEqual([backupKey, prompt, tool])

    // each of them was really there
    expect(seen.operated).toContain('tried it by hand')
    expect(seen.live).toContain('event: transition')
    expect(seen.alerts).toContain('dev.switchgear')
    expect(after.files).toContain('SQLite format 3')
    expect(after.files).toContain('upkeep')
    expect(after.log).toContain('upkeep')
    const leaks = Object.entries({ ...seen, ...after }).map(([place, text]) => [place, found(text, ALL)])
    expect(Object.fromEntries(leaks)).toEqual(
      Object.fromEntries(Object.keys({ ...seen, ...after }).map((place) => [place, []])),
    )
  })

  it('keep a token that the gateway made itself in one file, for its owner alone', async () => {
    await using upstream = await startUpstream(play)
    await using service: Service = await startWhole(() => ({
      admin: {},
      targets: [{ baseUrl: upstream.baseUrl }],
    }))
    const { token, adminUrl } = service.gateway
    const made = token.made ?? ''
    expect(made.length).toBeGreaterThan(30)
    const answer = await fetch(`${adminUrl}/admin/circuits`, { headers: { authorization: `Bearer ${made}` } })
    expect(answer.status).toBe(200)
    expect(await answer.text()).not.toContain(made)
    expect(statSync(token.file ?? '').mode & 0o777).toBe(0o600)
    await service.gateway.close()
    const others = filesIn(service.directory).split(`${token.file}\n`)
    expect(others).toHaveLength(2)
    expect(others[1]?.startsWith(made)).toBe(true)
    expect(found(others.join('').replace(made, ''), [made])).toEqual([])
    expect(service.log.join('\n')).not.toContain(made)
  })
})
