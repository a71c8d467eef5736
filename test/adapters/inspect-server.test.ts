import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { inspect } from '../../src/adapters/inspect/index.ts'
import type { InspectOptions } from '../../src/adapters/inspect/index.ts'
import { createBreakerRegistry } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { answer, rig } from '../support/rig.ts'
import { Watcher, askFeed, partsOf } from './inspect-support.ts'

const target = { name: 'openai', invoke: answer('fine'), circuitBreaker: true }

async function start(options: InspectOptions = {}) {
  const { gear } = rig([target])
  const inspection = await inspect(gear, options)
  return { gear, inspection, ...partsOf(inspection.url), [Symbol.asyncDispose]: () => inspection.close() }
}

/** A request with headers that fetch would not let through. */
function ask(origin: string, headers: Record<string, string>, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${origin}/`, { headers, method }, (answer) => resolve(answer.resume()))
      .on('error', reject)
      .end()
  })
}

describe('the feed', () => {
  it('begins with a picture, goes on with news, and ends when the inspection does', async () => {
    await using server = await start()
    const { gear, inspection } = server
    await using early = await Watcher.begin(inspection.url)
    expect((await early.picture()).actors.map(({ name }) => name)).toEqual(['supervisor', 'openai'])
    gear.openCircuit()
    expect(await early.until('operator.opened')).toEqual(['operator.commanded', 'operator.opened'])
    await using late = await Watcher.begin(inspection.url)
    const picture = await late.picture()
    expect(picture.actors.at(-1)?.snapshot.value).toEqual({ open: 'cooling' })
    expect(Object.keys(picture.definitions).sort()).toEqual(['breaker', 'chain', 'supervisor'])
    await inspection.close()
    await expect(early.next().catch(() => undefined)).resolves.toBeUndefined()
    await inspection.close()
  })

  it('goes on for others when one leaves', async () => {
    await using server = await start()
    const { gear, inspection } = server
    const one = await Watcher.begin(inspection.url)
    await using other = await Watcher.begin(inspection.url)
    await one.picture()
    await one[Symbol.asyncDispose]()
    gear.openCircuit()
    expect(await other.until('operator.opened')).toContain('operator.opened')
  })

  it('goes on for whoever reads, however long it lasts', async () => {
    const clock = new VirtualClock()
    await using server = await start({ clock })
    const { gear, inspection } = server
    await using watcher = await Watcher.begin(inspection.url)
    await watcher.picture()
    for (let seconds = 0; seconds < 60; seconds += 0.1) {
      gear.openCircuit()
      clock.advance(100)
      await watcher.next()
    }
  })

  it('is cut off where nobody reads it', async () => {
    const clock = new VirtualClock()
    await using server = await start({ clock })
    const { origin, token, gear } = server
    const answer = await new Promise<IncomingMessage>((resolve) =>
      request(`${origin}/feed`, { headers: { authorization: `Bearer ${token}` } }, resolve).end(),
    )
    answer.pause()
    const cutOff = once(answer, 'error')
    // what the system holds for a reader comes on top of what we do
    for (let i = 0; i < 300; i++) {
      for (let each = 0; each < 100; each++) gear.openCircuit({}, { hold: true, reason: 'x'.repeat(200) })
      clock.advance(100)
      await turn()
    }
    answer.resume()
    expect(await cutOff).toMatchObject([{ code: 'ECONNRESET' }])
  })

  it('shows the breakers of a registry, too', async () => {
    const registry = createBreakerRegistry({})
    registry.get('search')
    await using inspection = await inspect(registry)
    await using watcher = await Watcher.begin(inspection.url)
    expect((await watcher.picture()).actors.at(-1)?.name).toBe('search')
  })

  it('is for so many pages', async () => {
    await using server = await start()
    const { inspection } = server
    const watchers = await Promise.all(Array.from({ length: 16 }, () => Watcher.begin(inspection.url)))
    const refused = await askFeed(inspection.url)
    expect([refused.status, await refused.text()]).toEqual([503, '16 pages watch already. Close one.\n'])
    await watchers[0]?.[Symbol.asyncDispose]()
    await expect.poll(async () => await statusAlone(inspection.url)).toBe(200)
  })
})

/** The status of the feed, which is not read. */
async function statusAlone(url: string): Promise<number> {
  const { status, body } = await askFeed(url)
  await body?.cancel()
  return status
}

describe('who is let in', () => {
  it('is who has the token', async () => {
    await using server = await start()
    const { inspection, origin, token } = server
    expect(token).toMatch(/^[\w-]{43}$/)
    const wrong = ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]
    for (const authorization of wrong) {
      const refused = await askFeed(inspection.url, { authorization })
      expect([refused.status, await refused.text()], authorization).toEqual([
        401,
        expect.not.stringContaining('openai'),
      ])
    }
    expect((await fetch(`${origin}/feed?token=${token}`)).status).toBe(401)
    expect(await statusAlone(inspection.url)).toBe(200)
  })

  it('is who asks on this machine, for this machine', async () => {
    await using server = await start()
    const { origin, inspection } = server
    const port = new URL(origin).port
    const status = async (host: string) => (await ask(origin, { host })).statusCode
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'localhost:8080'])
      expect(await status(host), host).toBe(200)
    for (const host of [`evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1', ' ', 'a b'])
      expect(await status(host), host).toBe(403)
    for (const foreign of ['https://evil.example', 'null', `http://127.0.0.1:1`])
      expect((await askFeed(inspection.url, { origin: foreign })).status, foreign).toBe(403)
  })

  it('only reads', async () => {
    await using server = await start()
    const { origin } = server
    const status = async (method: string) => (await ask(origin, {}, method)).statusCode
    expect([await status('HEAD'), await status('POST'), await status('OPTIONS')]).toEqual([200, 405, 405])
    expect((await fetch(`${origin}/package.json`)).status).toBe(404)
    expect((await fetch(`${origin}/assets/../index.html`)).status).toBe(404)
  })

  it('runs nothing but the page itself, and frames nothing but the Stately inspector', async () => {
    await using server = await start({ inspectorUrl: 'https://inspector.example/some/page?x' })
    for (const path of ['/', '/feed', '/nothing']) {
      const { headers } = await fetch(`${server.origin}${path}`)
      const policy = String(headers.get('content-security-policy'))
      expect(policy).toMatch(/^default-src 'none'/)
      expect(policy).toContain('frame-src https://inspector.example;')
      expect(policy).not.toMatch(/unsafe|data:|\*/)
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin-allow-popups')
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('options', () => {
  it.each<[string, InspectOptions, RegExp]>([
    ['a misspelt one', { ports: 1 } as InspectOptions, /Unknown option inspect.ports.*port/],
    ['a token that could be guessed', { token: 'secret' }, /32 characters or more/],
    ['a token that is no word', { token: 'ä'.repeat(40) }, /32 characters or more/],
    ['an address that is none', { inspectorUrl: 'stately.ai' }, /inspectorUrl is 'stately.ai'/],
    ['an address that others could answer', { inspectorUrl: 'http://stately.ai' }, /https address/],
    ['an address that is run', { inspectorUrl: 'javascript:alert(1)' }, /https address/],
    ['a port that is none', { port: 70_000 }, /port is 70000; it must be an integer/],
  ])('refuse %s', async (_what, options, words) => {
    await expect(start(options)).rejects.toThrow(words)
  })

  it('say that a port is in use, and keep nothing then', async () => {
    await using server = await start()
    const port = Number(new URL(server.origin).port)
    await expect(start({ port })).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      path: 'port',
      message: expect.stringMatching(/^Port \d+ on 127.0.0.1 is in use. Give another one/) as string,
    })
  })

  it('may give the token', async () => {
    const token = 'a-token-of-the-operators-own-choice'
    await using server = await start({ token })
    expect(server.inspection.url).toBe(`${server.origin}/#token=${token}`)
  })
})

describe('a process with nothing else to do', () => {
  it('is not kept alive by it, even while somebody watches', async () => {
    const source = (path: string) => new URL(`../../src/${path}`, import.meta.url).href
    const program = `
      import { createSwitchgear } from '${source('index.ts')}'
      import { inspect } from '${source('adapters/inspect/index.ts')}'
      const gear = createSwitchgear({ targets: [{ invoke: async () => 'fine' }] })
      console.log((await inspect(gear)).url)
      process.stdin.once('data', () => process.stdin.destroy())`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program])
    const ended = once(child, 'exit')
    const [url] = (await once(child.stdout, 'data')) as [Buffer]
    await using watcher = await Watcher.begin(String(url).trim())
    await watcher.picture()
    child.stdin.write('nothing else to do')
    expect(await ended).toEqual([0, null])
  })
})
