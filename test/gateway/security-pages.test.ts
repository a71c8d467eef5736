import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { transitionLine } from '../../src/gateway/transition-line.ts'
import { hasBrowser, useBrowser } from '../dashboard/browser.ts'
import { buildPage } from '../dashboard/build-page.ts'
import { TOKEN, Wire, asAlice, exchange, startWhole, statuses } from './security-support.ts'
import type { Service } from './security-support.ts'
import { ask, chunk, post, sseHead, startGateway, startUpstream, until } from './support.ts'

const SCRIPT = '<script>document.title="stolen"</script>'
const IMG = '<img src=x onerror="document.title=\'stolen\'">'
/** A model as nobody would call one. */
const MODEL = `${IMG}"} 1\nswitchgear_evil 1\n\nevent: evil\ndata: {}\n\n\u001b[31m\u202e`

type Handle = Parameters<typeof startUpstream>[0]
let handle: Handle
let upstream: Awaited<ReturnType<typeof startUpstream>>
let whole: Service

beforeAll(async () => {
  // read when the gateway starts
  if (hasBrowser) await buildPage()
  upstream = await startUpstream((...all) => handle(...all))
  whole = await startWhole(() => ({
    server: { admin: { port: 0 }, clientKeys: { team: 'key-of-the-team' } },
    targets: [
      {
        name: 'one',
        baseUrl: upstream.baseUrl,
        maxRetries: 0,
        circuitBreaker: { threshold: 1, isolateByModel: true },
      },
    ],
  }))
})
afterAll(async () => {
  await whole[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const TOO_DEEP = `{"type":"error","error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded","x":${'['.repeat(60_000)}${']'.repeat(60_000)}}}`

const asTeam = { 'x-api-key': 'key-of-the-team' }
const answering =
  (status: number, type: string, body: string): Handle =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(body)
const operators = () => whole.gateway.adminUrl

describe('words of a provider', () => {
  it.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/xhtml+xml',
    'image/svg+xml',
    'text/xml',
    'text/javascript',
    'text/html, application/json',
    'application/json, text/html',
    'text/html; a=application/json',
    'x',
  ])('are never a page at the address of the gateway (%s)', async (type) => {
    handle = answering(400, type, SCRIPT)
    const answer = await ask(whole, {}, { headers: asTeam })
    expect([answer.status, await answer.text()]).toEqual([400, SCRIPT])
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  it.each(['application/json', 'application/problem+json; charset=utf-8', 'text/plain'])(
    'keep their type where it is harmless (%s)',
    async (type) => {
      handle = answering(400, type, '{"error":{"message":"no","type":"invalid_request_error"}}')
      const answer = await ask(whole, {}, { headers: asTeam })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, type])
    },
  )

  it.each(['/v1/chat/completions', '/v1/responses'])(
    'too deep to be written again break neither the stream nor the gateway (%s)',
    async (path) => {
      handle = (_request, response) =>
        response.writeHead(200, sseHead).end(`event: error\ndata: ${TOO_DEEP}\n\n`)
      const early = await post(whole, path, { model: 'deep', stream: true }, { headers: asTeam })
      expect(early.status).toBe(502)
      expect(await early.json()).toMatchObject({ error: { code: 'context_window' } })

      handle = (_request, response) => {
        response.writeHead(200, sseHead)
        response.write(chunk({ content: 'Hi' }))
        response.end(`event: error\ndata: ${TOO_DEEP}\n\n`)
      }
      const late = await ask(whole, { model: 'deep', stream: true }, { headers: asTeam })
      expect(await late.text()).toMatch(/Hi[\s\S]*ERR_STREAM_INTERRUPTED/)

      handle = answering(400, 'application/json', TOO_DEEP)
      const plain = await post(whole, path, { model: 'deep' }, { headers: asTeam })
      expect([plain.status, await plain.text()]).toEqual([400, TOO_DEEP])
    },
  )

  it('nor where the client waits for them already', async () => {
    const server = { port: 0, keepAliveMs: 20 }
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }], { server })
    let answerNow = () => {}
    handle = (_request, response) => {
      answerNow = () => response.writeHead(400).end(TOO_DEEP)
    }
    const answer = await ask(gateway, { stream: true })
    // a comment was sent: the status is out
    answerNow()
    expect(await answer.text()).toMatch(/^: keep-alive\n[\s\S]*"code":"context_window"/)
  })
})

describe('a name that a client has chosen', () => {
  const down = async (model: string) => {
    handle = answering(503, 'application/json', JSON.stringify({ error: { message: SCRIPT } }))
    await (await ask(whole, { model }, { headers: asTeam })).text()
  }

  it('is data in the status, the metrics and the answers of the admin API', async () => {
    await down(MODEL)
    const circuit = `one/${MODEL}`
    const read = async (path: string) => {
      const answer = await fetch(`${operators()}${path}`, { headers: asAlice })
      return { type: answer.headers.get('content-type'), text: await answer.text() }
    }
    for (const path of [
      '/status',
      '/admin/circuits',
      '/admin/journal',
      `/admin/circuits/${encodeURIComponent(circuit)}`,
    ]) {
      const { type, text } = await read(path)
      expect([path, type]).toEqual([path, 'application/json; charset=utf-8'])
      expect(text).toContain(JSON.stringify(circuit).slice(1, -1))
      expect(text).not.toContain(SCRIPT)
    }
    const metrics = await read('/metrics')
    expect(metrics.type).toMatch(/^text\/plain/)
    expect(metrics.text).toContain('<img')
    expect(metrics.text).not.toMatch(/^switchgear_evil/m)
    expect(metrics.text).not.toContain(SCRIPT)
  })

  it('cannot make up a live event', async () => {
    using wire = new Wire(operators())
    wire.send('GET /admin/events HTTP/1.1', 'host: x', `authorization: Bearer ${TOKEN}`, '', '')
    await wire.until(/event: circuits/)
    await down(`${MODEL}2`)
    await wire.until(/event: transition/)
    expect(wire.text).toMatch(/^event: (circuits|transition)$/m)
    expect(wire.text).not.toMatch(/^event: evil/m)
  })

  it('is one line in a terminal, and obeyed by none', () => {
    const cause = { why: 'tripped', failure: 'server_error' } as const
    const line = transitionLine({
      bucket: `one/${MODEL}`,
      from: 'closed',
      to: 'open',
      at: 0,
      openUntil: 1000,
      cause,
    } as Parameters<typeof transitionLine>[0])
    // oxlint-disable-next-line no-control-regex
    expect(line).not.toMatch(/[\u0000-\u001f\u202e]/)
    expect(line).toContain('one/<img')
  })

  it.each([
    `/${SCRIPT}`,
    `/v1/models/${encodeURIComponent(SCRIPT)}`,
    `/admin/${SCRIPT}`,
    `/assets/${SCRIPT}`,
  ])('in the address comes back as JSON, if at all (%s)', async (path) => {
    for (const url of [whole.url, operators()]) {
      const answer = await exchange(url, `GET ${path} HTTP/1.1`, 'host: x', 'connection: close', '', '')
      expect([401, 404]).toContain(statuses(answer)[0])
      expect(answer).toMatch(/content-type: application\/json/i)
    }
  })

  describe.skipIf(!hasBrowser)('on the dashboard', () => {
    const visit = useBrowser()

    it('is text, and so are an operator’s reasons; of the provider’s words there is none', async () => {
      await down(MODEL)
      const body = JSON.stringify({ reason: SCRIPT, hold: true })
      const headers = { ...asAlice, 'content-type': 'application/json' }
      const held = await fetch(`${operators()}/admin/circuits/${encodeURIComponent(`one/${MODEL}`)}/open`, {
        method: 'POST',
        headers,
        body,
      })
      expect(held.status).toBe(200)
      await using person = await visit(operators(), { path: `/#token=${TOKEN}` })
      const { page } = person
      await page.getByText(IMG).first().waitFor()
      await page.getByText(SCRIPT).first().waitFor()
      expect(await page.title()).not.toContain('stolen')
      expect(await page.locator('script:not([src]), img').count()).toBe(0)
      expect(person.faults).toEqual([])
      expect(person.foreign(operators())).toEqual([])
    })
  })
})

describe('who may see and act', () => {
  const commands = [
    ['GET', '/admin/circuits'],
    ['POST', '/admin/circuits/one%2Fok/open'],
    ['POST', '/admin/reload'],
    ['GET', '/admin/journal'],
    ['GET', '/admin/events'],
  ] as const
  const send = (method: string, path: string, headers: Record<string, string>) =>
    fetch(`${operators()}${path}`, { method, headers })

  it.each(commands)(
    'not without a token, with a wrong one, or with a client’s key: %s %s',
    async (method, path) => {
      for (const headers of [
        {},
        asTeam,
        { authorization: 'Bearer key-of-the-team' },
        { authorization: `Basic ${TOKEN}` },
      ]) {
        const answer = await send(method, path, headers)
        expect(answer.status).toBe(401)
        expect(await answer.text()).not.toContain('"circuits"')
      }
      expect(whole.gateway.gear.getCircuitState({ name: 'one', model: 'ok' })).toBe('closed')
    },
  )

  it.each(commands)('not from a page of another origin, with a right token: %s %s', async (method, path) => {
    for (const origin of ['http://evil.example', 'null', `${operators()}.evil.example`, whole.url]) {
      const answer = await send(method, path, { ...asAlice, origin })
      expect([origin, answer.status]).toEqual([origin, 403])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      await answer.text()
    }
    expect(whole.gateway.gear.getCircuitState({ name: 'one', model: 'ok' })).toBe('closed')
  })

  it('nobody at the door of the clients, where operators have one of their own', async () => {
    for (const path of ['/admin/circuits', '/admin', '/metrics', '/status', '/', '/assets/x.js']) {
      const answer = await fetch(`${whole.url}${path}`, { headers: { ...asAlice, ...asTeam } })
      expect([path, answer.status]).toEqual([path, 404])
      await answer.text()
    }
    for (const path of ['/v1/models', '/v1/chat/completions']) {
      const answer = await fetch(`${operators()}${path}`, { headers: { ...asAlice, ...asTeam } })
      expect([path, answer.status]).toEqual([path, 404])
      await answer.text()
    }
  })

  it('an admin token is no client key, not even in another’s name', async () => {
    for (const headers of [
      asAlice,
      { 'x-api-key': TOKEN },
      { 'x-switchgear-target': 'one' },
      { cookie: 'key-of-the-team' },
    ]) {
      const answer = await ask(whole, {}, { headers })
      expect(answer.status).toBe(401)
      expect(await answer.text()).not.toContain(TOKEN)
    }
  })

  it('a page is in no frame, and runs nothing but its own', async () => {
    const page = await fetch(`${operators()}/`)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    await page.text()
    const { log } = whole
    await until(() => log.some((line) => line.includes('refused to nobody known')))
  })
})
