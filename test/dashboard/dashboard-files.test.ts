import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { registerDashboard } from '../../src/gateway/dashboard-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
const script = `// ${'x'.repeat(2000)}`

beforeAll(() => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Switchgear</title>')
  writeFileSync(join(folder, 'inspect.html'), '<!doctype html><title>Live statecharts</title>')
  writeFileSync(join(folder, 'assets/index-a1b2.js'), script)
  writeFileSync(join(folder, 'assets/page-c3d4.css'), 'p {}')
  writeFileSync(join(folder, 'assets/closed-e5f6.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets/notes.txt'), 'not of the page')
})
afterAll(() => rmSync(folder, { recursive: true }))

const serve = (from = folder) => {
  const server = Fastify()
  registerDashboard(server, from)
  return (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })
}

describe('the files of the dashboard', () => {
  it('are sent with their types', async () => {
    const get = serve()
    const types = ['/', '/assets/index-a1b2.js', '/assets/page-c3d4.css', '/assets/closed-e5f6.svg'].map(
      async (url) => (await get(url)).headers['content-type'],
    )
    expect(await Promise.all(types)).toEqual([
      'text/html; charset=utf-8',
      'text/javascript; charset=utf-8',
      'text/css; charset=utf-8',
      'image/svg+xml',
    ])
  })

  it('are kept for ever where their name changes with them, and asked for anew where it does not', async () => {
    const get = serve()
    expect((await get('/assets/index-a1b2.js')).headers['cache-control']).toMatch(
      /max-age=31536000, immutable/,
    )
    const page = await get('/')
    expect(page.headers['cache-control']).toBe('no-cache')
    const again = await get('/', { 'if-none-match': String(page.headers['etag']) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    expect((await get('/', { 'if-none-match': '"another"' })).statusCode).toBe(200)
  })

  it('are zipped for those who can read it', async () => {
    const get = serve()
    const zipped = await get('/assets/index-a1b2.js', { 'accept-encoding': 'br, gzip;q=0.8' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(script)
    for (const encoding of ['identity', 'gzip;q=0', 'gzip; q=0.0, br']) {
      expect((await get('/assets/index-a1b2.js', { 'accept-encoding': encoding })).body).toBe(script)
    }
    expect(zipped.headers['vary']).toBe('accept-encoding')
  })

  it('run nothing but themselves, in no frame, and tell nobody where they were', async () => {
    const get = serve()
    for (const url of ['/', '/assets/index-a1b2.js']) {
      const { headers } = await get(url)
      const policy = String(headers['content-security-policy'])
      expect(policy).toMatch(/^default-src 'none'/)
      expect(policy).toContain("script-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|http|data:|\*/)
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    }
  })

  it('frame the Stately inspector on the page of the live statecharts, and nobody else', async () => {
    const { statusCode, headers, body } = await serve()('/inspect')
    expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(body).toContain('Live statecharts')
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(policy).toContain('frame-src https://stately.ai;')
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|data:|\*/)
    expect(headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })

  it('are those of the page only', async () => {
    const get = serve()
    for (const url of [
      '/assets/notes.txt',
      '/assets/',
      '/assets/..%2findex.html',
      '/inspect.html',
      '/index.html',
      '/package.json',
    ]) {
      expect((await get(url)).statusCode, url).toBe(404)
    }
  })

  it('are said to be missing where nobody built them, with the command that does', async () => {
    const page = await serve(join(folder, 'nowhere'))('/')
    expect(page.statusCode).toBe(503)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'/)
    expect(page.body).toContain('npx vite build visualizations/dashboard')
  })
})
