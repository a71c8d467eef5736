import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'

import { describe, expect, it } from 'vitest'

import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import { ALICE, BOB, fakeTarget, json, startAdmin } from './admin-support.ts'
import type { Admin } from './admin-support.ts'

const ROUTES = [
  ['GET', '/admin/circuits'],
  ['GET', '/admin/circuits/openai'],
  ['POST', '/admin/circuits/openai/open'],
  ['POST', '/admin/circuits/openai/close'],
  ['GET', '/admin/journal'],
  ['POST', '/admin/reload'],
  ['GET', '/admin/events'],
  ['GET', '/admin/inspect'],
  ['GET', '/admin/chart'],
  ['GET', '/admin/nothing'],
  ['GET', '/admin'],
  ['OPTIONS', '/admin/circuits'],
  ['HEAD', '/admin/circuits'],
  ['DELETE', '/admin/circuits/openai'],
] as const

const start = (...names: string[]) =>
  startAdmin((names.length ? names : ['openai']).map((name) => fakeTarget(name).target))

/** A request as no well-behaved client would send it. */
function raw(admin: Admin, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const sent = httpRequest(new URL(admin.url), { path, method, headers }, (response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
        )
      })
      sent.on('error', reject)
      sent.end()
    },
  )
}

const auth = { authorization: `Bearer ${ALICE}` }

describe('nobody gets in', () => {
  it.each(ROUTES)('without a token: %s %s', async (method, path) => {
    await using admin = await start()
    const { status, headers } = await raw(admin, path, {}, method)
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="switchgear admin"'])
    expect(admin.gear.getCircuitState()).toBe('closed')
  })

  it.each(ROUTES)('with a wrong token: %s %s', async (method, path) => {
    await using admin = await start()
    const response = await admin.send(path, { method }, 'wrong-token-wrong-token-wrong-token-wrong')
    expect(response.status).toBe(401)
    expect(admin.gear.getCircuitState()).toBe('closed')
    if (method !== 'HEAD') expect((await json(response)).error.code).toBe('unauthorized')
  })

  it.each([
    ['Basic', `Basic ${Buffer.from(`alice:${ALICE}`).toString('base64')}`],
    ['no scheme', ALICE],
    ['two tokens', `Bearer ${ALICE} ${ALICE}`],
    ['an empty one', 'Bearer '],
    ['a prefix of one', `Bearer ${ALICE.slice(0, -1)}`],
    ['a name', 'Bearer alice'],
  ])('with %s', async (_what, authorization) => {
    await using admin = await start()
    expect((await raw(admin, '/admin/circuits', { authorization })).status).toBe(401)
  })

  it('with a cookie', async () => {
    await using admin = await start()
    const { status } = await raw(admin, '/admin/circuits', {
      cookie: `token=${ALICE}; authorization=${ALICE}`,
    })
    expect(status).toBe(401)
  })

  it.each(['token', 'access_token', 'Authorization', 'api_key'])(
    'with a token in the URL as %s, whatever stands in the header',
    async (key) => {
      await using admin = await start()
      const response = await admin.get(`/admin/circuits?${key}=${ALICE}`)
      expect(response.status).toBe(400)
      const text = await response.text()
      expect(text).toMatch(/never stands in a URL/)
      expect(text).not.toContain(ALICE)
    },
  )

  it('through another spelling of the path', async () => {
    await using admin = await start()
    for (const path of [
      '/%61dmin/circuits',
      '/admin//circuits',
      '/admin/./circuits',
      '/livez/../admin/circuits',
      '/ADMIN/circuits',
      '/admin%2Fcircuits',
      '/admin/circuits/',
    ]) {
      const { status, body } = await raw(admin, path, {})
      expect([path, [401, 404].includes(status)]).toEqual([path, true])
      expect(body).not.toContain('openai')
    }
  })

  it('with a token that was taken out of use by a reload', async () => {
    const tokens = { now: adminTokens({ configured: { alice: ALICE }, file: undefined }) }
    const openai = fakeTarget('openai').target
    await using other = await startAdmin([openai])
    await using admin = await startAdmin([openai], {
      present: () => ({ gear: other.gear, targets: [openai], tokens: tokens.now }),
    })
    expect((await admin.get('/admin/circuits')).status).toBe(200)
    tokens.now = adminTokens({ configured: { bob: BOB }, file: undefined })
    expect((await admin.get('/admin/circuits')).status).toBe(401)
  })
})

describe('guessing', () => {
  it('ends after ten wrong tokens, for every token that could be guessed', async () => {
    await using admin = await start()
    for (let i = 0; i < 10; i++)
      expect((await admin.send('/admin/circuits', {}, `guess-${i}`)).status).toBe(401)
    const refused = await admin.send('/admin/circuits', {}, 'guess-11')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6'])
    expect((await json(refused)).error.message).toBe('Too many wrong tokens. Try again in 6 s.')
    // the right one is not looked at either: a guess must not come faster by being right
    expect((await admin.send('/admin/circuits', {}, BOB)).status).toBe(429)
    admin.clock.advance(6000)
    expect((await admin.send('/admin/circuits', {}, BOB)).status).toBe(200)
  })

  it('locks nobody out whose token cannot be guessed', async () => {
    await using admin = await start()
    for (let i = 0; i < 50; i++) await admin.send('/admin/circuits', {}, `guess-${i}`)
    expect((await admin.get('/admin/circuits')).status).toBe(200)
  })

  it('is not used up by a page of another origin, nor by requests without a token', async () => {
    await using admin = await start()
    for (let i = 0; i < 30; i++) {
      await raw(admin, '/admin/circuits', {
        authorization: `Bearer guess-${i}`,
        origin: 'http://evil.example',
      })
      await raw(admin, '/admin/circuits', {})
    }
    expect((await admin.send('/admin/circuits', {}, BOB)).status).toBe(200)
  })
})

describe('a page of another origin', () => {
  const open = '/admin/circuits/openai/open'

  it.each([
    'http://evil.example',
    'null',
    'http://127.0.0.1:1',
    'https://127.0.0.1.evil.example',
    'file://',
    'chrome-extension://abc',
    'nonsense',
    '',
  ])('may nothing, even with the right token: %s', async (origin) => {
    await using admin = await start()
    const { status, headers, body } = await raw(admin, open, { ...auth, origin }, 'POST')
    expect([status, JSON.parse(body).error.code]).toEqual([403, 'foreign_origin'])
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(admin.gear.getCircuitState()).toBe('closed')
  })

  it('is one of another scheme at the same address, too', async () => {
    await using admin = await start()
    const origin = `chrome-extension://${new URL(admin.url).host}`
    expect((await raw(admin, open, { ...auth, origin }, 'POST')).status).toBe(403)
  })

  it('gets no leave from a preflight request', async () => {
    await using admin = await start()
    const { status, headers } = await raw(
      admin,
      open,
      {
        origin: 'http://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
      'OPTIONS',
    )
    expect(status).toBe(403)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('is none of the server itself, behind a proxy that ends TLS, too', async () => {
    await using admin = await start()
    const { host } = new URL(admin.url)
    expect((await raw(admin, open, { ...auth, origin: admin.url }, 'POST')).status).toBe(200)
    expect((await raw(admin, open, { ...auth, origin: `https://${host}` }, 'POST')).status).toBe(200)
    const behind = { ...auth, host: 'ops.example', origin: 'https://ops.example' }
    expect((await raw(admin, open, behind, 'POST')).status).toBe(200)
  })
})

describe('what is sent', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('must be JSON, not %s', async (type) => {
    await using admin = await start()
    const response = await admin.send('/admin/circuits/openai/open', {
      method: 'POST',
      headers: { 'content-type': type },
      body: '{"reason": "x"}',
    })
    expect([response.status, (await json(response)).error.code]).toEqual([415, 'not_json'])
    expect(admin.gear.getCircuitState()).toBe('closed')
  })

  it('may be JSON with a character set, or nothing at all', async () => {
    await using admin = await start()
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const send = (init: RequestInit) => admin.send('/admin/circuits/openai/open', { method: 'POST', ...init })
    expect((await send({ headers, body: '{"reason": "x"}' })).status).toBe(200)
    expect((await send({ headers })).status).toBe(200)
    expect((await send({})).status).toBe(200)
  })

  it('may have 4096 bytes', async () => {
    await using admin = await start()
    const response = await admin.post('/admin/circuits/openai/open', { reason: 'x'.repeat(5000) })
    expect([response.status, (await json(response)).error.code]).toEqual([413, 'too_large'])
    expect((await admin.post('/admin/circuits/openai/open', { reason: 'x'.repeat(3000) })).status).toBe(200)
  })

  it('is not read at all from whoever has no token', async () => {
    await using admin = await start()
    const { port } = new URL(admin.url)
    const socket = connect(Number(port), '127.0.0.1')
    // a hundred megabytes are announced and never come
    socket.write(
      'POST /admin/circuits/openai/open HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n',
    )
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    )
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
  })

  it('may be deep', async () => {
    await using admin = await start()
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`
    expect((await admin.post('/admin/circuits/openai/open', `{"reason": ${deep}}`)).status).toBe(400)
  })

  it.each(['%E0%A4%A', '%', '%zz'])('must be percent-encoded as it should be: %s', async (name) => {
    await using admin = await start()
    const { status } = await raw(admin, `/admin/circuits/${name}`, auth)
    expect(status).toBe(400)
  })

  it('may name a circuit with slashes, dots and anything else in it', async () => {
    const names = [
      'openai/gpt-5',
      '../../etc/passwd',
      'a b?c#d',
      '<script>alert(1)</script>',
      'naïve ☂',
      'x'.repeat(300),
    ]
    await using admin = await startAdmin(
      names.map((name, i) => fakeTarget(`target-${i}`, { bucket: name }).target),
    )
    for (const name of names) {
      const response = await raw(admin, `/admin/circuits/${encodeURIComponent(name)}`, auth)
      expect([response.status, JSON.parse(response.body).circuit]).toEqual([200, name])
    }
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'finds nothing under the name %s',
    async (name) => {
      await using admin = await start()
      expect((await admin.get(`/admin/circuits/${name}`)).status).toBe(404)
      expect((await admin.post(`/admin/circuits/${name}/open`)).status).toBe(404)
      expect(Object.prototype).not.toHaveProperty('openai')
    },
  )

  it('is no stream for HEAD', async () => {
    await using admin = await start()
    expect((await admin.send('/admin/events', { method: 'HEAD' })).status).toBe(404)
    expect(admin.clock.pending).toBe(0)
  })

  it('is refused politely where the method or the path is wrong', async () => {
    await using admin = await start()
    for (const [method, path] of [
      ['OPTIONS', '/admin/circuits'],
      ['PUT', '/admin/circuits/openai'],
      ['POST', '/admin/circuits'],
      ['POST', '/admin/circuits/openai'],
      ['POST', '/admin/circuits/openai/hold'],
      ['GET', '/admin'],
      ['GET', '/admin/x'],
    ]) {
      const response = await admin.send(path ?? '', { method: method ?? '' })
      expect([method, path, response.status]).toEqual([method, path, 404])
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
  })
})

describe('what is answered', () => {
  const html = '<img src=x onerror=alert(1)>'

  it('is data, whatever a model is called and whatever a reason says', async () => {
    const { target } = fakeTarget(html, { circuitBreaker: { isolateByModel: true } })
    await using admin = await startAdmin([target])
    await admin.call(`${html}\u2028</script>`)
    const circuit = encodeURIComponent(`${html}/${html}\u2028</script>`)
    await admin.post(`/admin/circuits/${circuit}/open`, { reason: html })
    const response = await admin.get('/admin/circuits')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await json(response)).circuits[0]).toMatchObject({
      model: `${html}\u2028</script>`,
      why: `by hand, by alice ("${html}")`,
    })
  })

  it.each(ROUTES)('is never kept on the way: %s %s', async (method, path) => {
    await using admin = await start()
    const stop = new AbortController()
    for (const token of [ALICE, 'wrong-wrong-wrong']) {
      const response = await admin.send(path, { method, signal: stop.signal }, token)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('set-cookie')).toBeNull()
    }
    stop.abort()
  })

  it('shows no token, neither in an answer nor in a line of the log', async () => {
    await using admin = await start()
    const texts = [
      await (await admin.get('/admin/circuits')).text(),
      await (await admin.post('/admin/circuits/openai/open', { reason: 'x' })).text(),
      await (await admin.send('/admin/circuits', {}, 'wrong-wrong-wrong')).text(),
      await (await admin.get('/admin/journal')).text(),
      JSON.stringify(admin.lines),
    ]
    for (const secret of [ALICE, BOB, 'wrong-wrong-wrong']) expect(texts.join('\n')).not.toContain(secret)
  })

  it('has words of operators at their limit, without what a terminal would obey', async () => {
    await using admin = await start()
    const reason = `\u001b[31mred\r\nnext line ${'x'.repeat(300)}`
    const { why } = await json(await admin.post('/admin/circuits/openai/open', { reason }))
    expect(why).toMatch(/^by hand, by alice \("\[31mred next line x+…"\)$/)
    const { rows } = await json(await admin.get('/admin/journal?limit=1'))
    expect(rows[0]?.reason).toHaveLength(200)
  })
})

describe('the log', () => {
  it('tells of each command who gave it and why, and of refused ones why not', async () => {
    await using admin = await start()
    await admin.post('/admin/circuits/openai/open', { reason: 'invoice is late', hold: true, ttlMs: 1000 })
    await admin.post('/admin/circuits/opnai/close', { reason: 'all is well' })
    await admin.post('/admin/circuits/openai/close', '{"reason": 7}')
    await admin.post('/admin/circuits/openai/close', {}, 'wrong-wrong-wrong')
    await raw(admin, '/admin/circuits/openai/close', { ...auth, origin: 'http://evil.example' }, 'POST')
    await expect.poll(() => admin.lines.length).toBe(5)
    expect(admin.lines.map(({ level, fields }) => ({ level, ...fields }))).toMatchObject([
      {
        level: 'info',
        by: 'alice',
        reason: 'invoice is late',
        hold: true,
        ttlMs: 1000,
        status: 200,
        address: '127.0.0.1',
      },
      {
        level: 'warn',
        by: 'alice',
        reason: 'all is well',
        status: 404,
        refusal: expect.stringContaining("Did you mean 'openai'?"),
      },
      { level: 'warn', by: 'alice', status: 400, refusal: 'reason must be a text.' },
      { level: 'warn', by: undefined, status: 401 },
      { level: 'warn', by: undefined, status: 403 },
    ])
    expect(admin.lines[0]?.message).toBe('admin: alice: POST /admin/circuits/openai/open: "invoice is late"')
    expect(admin.lines[1]?.message).toMatch(
      /^admin: refused to alice: POST \/admin\/circuits\/opnai\/close: "all is well" \(404: /,
    )
  })

  it('is not flooded by strangers, and says how much it left out', async () => {
    await using admin = await start()
    for (let i = 0; i < 60; i++) await raw(admin, '/admin/circuits/openai/open', {}, 'POST')
    expect(admin.lines).toHaveLength(30)
    admin.clock.advance(2000)
    await raw(admin, '/admin/circuits/openai/open', {}, 'POST')
    await expect.poll(() => admin.lines.at(-1)?.fields['untold']).toBe(30)
  })

  it('does not tell of who merely looks', async () => {
    await using admin = await start()
    await admin.get('/admin/circuits')
    await admin.post('/admin/circuits/openai/open')
    await expect.poll(() => admin.lines.length).toBe(1)
  })
})
