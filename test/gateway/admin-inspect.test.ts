import { request } from 'node:http'

import { describe, expect, it, vi } from 'vitest'
import type { InspectionEvent } from 'xstate'

import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import { Watcher } from '../adapters/inspect-support.ts'
import { ALICE, BOB, fakeTarget, json, startAdmin } from './admin-support.ts'
import type { Admin } from './admin-support.ts'

const start = () => startAdmin([fakeTarget('openai').target])
const watch = async (admin: Admin, token?: string) =>
  Watcher.of(await admin.send('/admin/inspect', {}, token))

/** How many observe the actors. */
function observersOf({ gear }: Admin) {
  const count = { now: 0 }
  const { system } = gear.supervisor
  const inspect = system.inspect.bind(system)
  vi.spyOn(system, 'inspect').mockImplementation((observer) => {
    const subscription = inspect(observer as (event: InspectionEvent) => void)
    count.now++
    return {
      unsubscribe() {
        count.now--
        subscription.unsubscribe()
      },
    }
  })
  return count
}

/** The status of the feed for headers that fetch would not let through. */
function statusFor(admin: Admin, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${admin.url}/admin/inspect`, { headers }, (answer) => {
      resolve(answer.statusCode)
      answer.destroy()
    })
      .on('error', reject)
      .end()
  })
}

describe('the live actors', () => {
  it('are told as they stand, and by which replica, then as they move', async () => {
    await using admin = await start()
    await using watcher = await watch(admin)
    const { replica, inspector, actors } = await watcher.picture()
    expect([replica, inspector]).toEqual(['gateway-1', 'https://stately.ai/inspect'])
    expect(actors.map(({ name, snapshot }) => [name, snapshot.value])).toEqual([
      ['supervisor', 'running'],
      ['openai', { closed: 'healthy' }],
    ])
    await admin.post('/admin/circuits/openai/open', { reason: 'invoice is late' })
    admin.clock.advance(100)
    expect(await watcher.until('operator.opened')).toEqual(['operator.commanded', 'operator.opened'])
  })

  it('are observed while somebody watches, and not otherwise', async () => {
    await using admin = await start()
    const observers = observersOf(admin)
    expect([observers.now, admin.clock.pending]).toEqual([0, 0])
    const one = await watch(admin)
    const other = await watch(admin, BOB)
    await Promise.all([one.picture(), other.picture()])
    expect([observers.now, admin.clock.pending]).toEqual([1, 1])
    await one[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
    await expect.poll(() => [observers.now, admin.clock.pending]).toEqual([0, 0])
  })

  it('show nothing of what providers say, nor of tokens', async () => {
    const { target, state } = fakeTarget('openai')
    await using admin = await startAdmin([target])
    await using watcher = await watch(admin)
    const told = [JSON.stringify(await watcher.picture())]
    state.down = true
    for (let i = 0; i < 2; i++) await admin.call()
    admin.clock.advance(100)
    for (let part = await watcher.next(); part !== undefined; part = await watcher.next()) {
      told.push(JSON.stringify(part))
      if (told.at(-1)?.includes('call.failed') === true) break
    }
    expect(told.join()).toContain('server_error')
    expect(told.join()).not.toMatch(/provider says|sk-secret|hello/)
    for (const secret of [ALICE, BOB]) expect(told.join()).not.toContain(secret)
  })

  it('are for so many pages', async () => {
    await using admin = await start()
    const watchers = await Promise.all(Array.from({ length: 16 }, () => watch(admin)))
    const refused = await admin.get('/admin/inspect')
    const { code, message } = (await json(refused)).error
    expect([refused.status, code, message]).toEqual([
      503,
      'too_many_viewers',
      '16 pages watch already. Close one.',
    ])
    await Promise.all(watchers.map((watcher) => watcher[Symbol.asyncDispose]()))
  })

  it('keep the server open for nobody', async () => {
    const admin = await start()
    await using watcher = await watch(admin)
    await watcher.picture()
    await admin[Symbol.asyncDispose]()
    await expect(watcher.next().catch(() => undefined)).resolves.toBeUndefined()
  })

  it('are cut off from whoever has a token that is out of use', async () => {
    const { target } = fakeTarget('openai')
    await using other = await startAdmin([target])
    let tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
    await using admin = await startAdmin([target], {
      present: () => ({ gear: other.gear, targets: [target], tokens }),
    })
    await using watcher = await watch(admin)
    await watcher.picture()
    admin.clock.advance(100)
    tokens = adminTokens({ configured: { bob: BOB }, file: undefined })
    admin.clock.advance(100)
    await expect(watcher.next()).rejects.toThrow(/terminated/)
  })

  it('stand in the log with who watches them, from when to when', async () => {
    await using admin = await start()
    const watcher = await watch(admin)
    await watcher[Symbol.asyncDispose]()
    await expect
      .poll(() => admin.lines.map(({ level, message }) => `${level}: ${message}`))
      .toEqual([
        'warn: admin: alice watches the live actors',
        'info: admin: alice watches the live actors no more',
      ])
    expect(JSON.stringify(admin.lines)).not.toContain(ALICE)
  })
})

describe('who may watch', () => {
  it('is nobody from a page of another origin, even with the right token', async () => {
    await using admin = await start()
    const { host } = new URL(admin.url)
    const auth = { authorization: `Bearer ${ALICE}` }
    for (const origin of ['http://evil.example', 'null', 'https://stately.ai', `chrome-extension://${host}`])
      expect(await statusFor(admin, { ...auth, origin }), origin).toBe(403)
    expect(await statusFor(admin, { ...auth, origin: admin.url })).toBe(200)
  })

  it('is nobody from a page that let its own name lead here: it has no token', async () => {
    await using admin = await start()
    const rebound = { host: 'evil.example', origin: 'http://evil.example' }
    expect(await statusFor(admin, rebound)).toBe(401)
    expect(await statusFor(admin, { ...rebound, authorization: 'Bearer ' })).toBe(401)
    expect(await statusFor(admin, { ...rebound, cookie: `token=${ALICE}` })).toBe(401)
    // right for another name of this machine
    expect(await statusFor(admin, { ...rebound, host: '127.0.0.1' })).toBe(403)
  })

  it('is nobody with a token in the address', async () => {
    await using admin = await start()
    const observers = observersOf(admin)
    const refused = await admin.get(`/admin/inspect?token=${ALICE}`)
    expect([refused.status, (await json(refused)).error.code]).toEqual([400, 'token_in_url'])
    expect(observers.now).toBe(0)
  })

  it('only reads', async () => {
    await using admin = await start()
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await admin.send('/admin/inspect', { method })).status, method).toBe(404)
  })
})
