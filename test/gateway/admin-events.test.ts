import { connect } from 'node:net'

import { describe, expect, it } from 'vitest'

import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import type { CircuitView, TransitionView } from '../../src/gateway/admin/wire.ts'
import { ALICE, START, fakeTarget, startAdmin } from './admin-support.ts'
import type { Admin } from './admin-support.ts'

interface Told {
  readonly event: string
  readonly data: { readonly circuits: readonly CircuitView[]; readonly now: number } & TransitionView
}

/** Reads the live events until told to leave. */
async function watch(admin: Admin, token = ALICE) {
  const leave = new AbortController()
  const response = await admin.send('/admin/events', { signal: leave.signal }, token)
  const told: Told[] = []
  const seen = { comments: 0, ended: false }
  const read = async () => {
    let rest = ''
    try {
      for await (const chunk of response.body ?? []) {
        rest += new TextDecoder().decode(chunk)
        const parts = rest.split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) {
          const [, event, data] = /^event: (.*)\ndata: (.*)$/s.exec(part) ?? []
          if (event !== undefined) told.push({ event, data: JSON.parse(data ?? '') })
          else if (part.startsWith(':')) seen.comments++
        }
      }
    } catch {
      // it was cut off, or has left
    }
    seen.ended = true
  }
  void read()
  await expect.poll(() => told.length).toBe(1)
  const count = (event: string) => told.filter((one) => one.event === event).length
  return { response, told, seen, count, leave: () => leave.abort() }
}

async function start(...names: string[]) {
  // without limits a call leaves no timer on the clock
  const limits = { timeoutMs: Infinity, firstContentTimeoutMs: Infinity, idleTimeoutMs: Infinity }
  const fakes = (names.length ? names : ['openai']).map((name) => fakeTarget(name, limits))
  return Object.assign(await startAdmin(fakes.map(({ target }) => target)), { state: fakes[0]!.state })
}

/** How many listen to the transitions. */
function listeners({ gear }: Admin) {
  const on = gear.on.bind(gear)
  const listening = { now: 0, most: 0 }
  gear.on = (event, listener) => {
    const stop = on(event, listener)
    listening.most = Math.max(listening.most, ++listening.now)
    return () => {
      listening.now--
      return stop()
    }
  }
  return listening
}

/** Connects, asks for the events, and never reads. */
function sleep(admin: Admin) {
  const socket = connect({ port: Number(new URL(admin.url).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET /admin/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ALICE}\r\n\r\n`)
  return socket
}

describe('the live events', () => {
  it('begin with all circuits, at once', async () => {
    await using admin = await start('openai', 'backup')
    const viewer = await watch(admin)
    expect(viewer.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(viewer.response.headers.get('cache-control')).toBe('no-store')
    expect(viewer.told[0]).toMatchObject({
      event: 'circuits',
      data: { replica: 'gateway-1', now: START, circuits: [{ circuit: 'openai' }, { circuit: 'backup' }] },
    })
    viewer.leave()
  })

  it('tell a transition as it happens, with its reason', async () => {
    await using admin = await start()
    const viewer = await watch(admin)
    admin.state.down = true
    for (let i = 0; i < 2; i++) await admin.call()
    await expect.poll(() => viewer.count('transition')).toBe(1)
    expect(viewer.told.at(-1)?.data).toEqual({
      circuit: 'openai',
      from: 'closed',
      to: 'open',
      at: START,
      why: '2 failures in a row, the last of kind server_error',
      told: '2 failures in a row, the last of kind server_error; next try in 30 s',
      openUntil: START + 30_000,
    })
    await admin.post('/admin/circuits/openai/close', { reason: 'it was the proxy' })
    await expect.poll(() => viewer.count('transition')).toBe(2)
    expect(viewer.told.at(-1)?.data).toMatchObject({
      to: 'closed',
      by: 'alice',
      reason: 'it was the proxy',
      openUntil: null,
    })
    viewer.leave()
  })

  it('mark a transition of a circuit that is only observed', async () => {
    const { target, state } = fakeTarget('openai', { circuitBreaker: { mode: 'observe', threshold: 1 } })
    await using admin = await startAdmin([target])
    const viewer = await watch(admin)
    state.down = true
    await admin.call()
    await expect.poll(() => viewer.count('transition')).toBe(1)
    expect(viewer.told.at(-1)?.data).toMatchObject({
      to: 'open',
      observed: true,
      told: '1 failure in a row, the last of kind server_error',
    })
    viewer.leave()
  })

  it('show all circuits once a second while something changes, and every five seconds otherwise', async () => {
    await using admin = await start()
    const viewer = await watch(admin)
    const frames = async () => {
      const comments = viewer.seen.comments
      const before = viewer.count('circuits')
      admin.clock.advance(1000)
      await expect
        .poll(() => viewer.count('circuits') + viewer.seen.comments)
        .toBeGreaterThan(before + comments)
      return viewer.count('circuits') - before
    }
    for (let i = 0; i < 3; i++) {
      await admin.call()
      await admin.call()
      expect(await frames()).toBe(1)
    }
    const quiet = []
    for (let i = 0; i < 10; i++) quiet.push(await frames())
    expect(quiet).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    expect(viewer.told.at(-1)?.data.now).toBe(START + 13_000)
    viewer.leave()
  })

  it('come from one ticker for all viewers, and leave nothing behind', async () => {
    await using admin = await start()
    const listening = listeners(admin)
    expect(admin.clock.pending).toBe(0)
    const viewers = await Promise.all([watch(admin), watch(admin), watch(admin)])
    expect([admin.clock.pending, listening]).toEqual([1, { now: 1, most: 1 }])
    viewers[0]?.leave()
    viewers[1]?.leave()
    await admin.call()
    admin.clock.advance(1000)
    await expect.poll(() => viewers[2]?.count('circuits')).toBe(2)
    expect([admin.clock.pending, listening.now]).toEqual([1, 1])
    viewers[2]?.leave()
    await expect.poll(() => [admin.clock.pending, listening.now]).toEqual([0, 0])
    const again = await watch(admin)
    expect([admin.clock.pending, listening]).toEqual([1, { now: 1, most: 1 }])
    again.leave()
    await expect.poll(() => [admin.clock.pending, listening.now]).toEqual([0, 0])
  })

  it('end when the server closes, and do not keep it open', async () => {
    await using admin = await start()
    const viewer = await watch(admin)
    await admin.server.close()
    await expect.poll(() => viewer.seen.ended).toBe(true)
    expect(admin.clock.pending).toBe(0)
  })

  it('end for a token that was taken out of use', async () => {
    const tokens = { now: adminTokens({ configured: { alice: ALICE }, file: undefined }) }
    const { target } = fakeTarget('openai')
    await using gear = await startAdmin([target])
    await using admin = await startAdmin([target], {
      present: () => ({ gear: gear.gear, targets: [target], tokens: tokens.now }),
    })
    const viewer = await watch(admin)
    tokens.now = adminTokens({ configured: { bob: `${ALICE}-other` }, file: undefined })
    admin.clock.advance(1000)
    await expect.poll(() => viewer.seen.ended).toBe(true)
    expect(admin.clock.pending).toBe(0)
    expect(admin.lines.at(-1)?.message).toBe(
      'admin: the live events of alice are cut off: the token is out of use',
    )
  })

  it('go on with another switchgear that a reload put in place', async () => {
    const { target } = fakeTarget('openai')
    const other = fakeTarget('another')
    await using one = await startAdmin([target])
    await using two = await startAdmin([other.target])
    const tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
    let present = { gear: one.gear, targets: [target], tokens }
    await using admin = await startAdmin([target], { present: () => present })
    const viewer = await watch(admin)
    present = { gear: two.gear, targets: [other.target], tokens }
    admin.clock.advance(1000)
    await expect.poll(() => viewer.told.at(-1)?.data.circuits?.[0]?.circuit).toBe('another')
    two.gear.openCircuit()
    await expect.poll(() => viewer.count('transition')).toBe(1)
    one.gear.openCircuit()
    two.gear.closeCircuit()
    await expect.poll(() => viewer.count('transition')).toBe(2)
    viewer.leave()
  })

  it('survive circuits that cannot be shown for a while', async () => {
    await using admin = await start()
    const viewer = await watch(admin)
    const explain = admin.gear.explain.bind(admin.gear)
    admin.gear.explain = () => {
      throw new Error('broken')
    }
    admin.clock.advance(6000)
    expect(admin.lines.at(-1)).toMatchObject({
      level: 'error',
      message: 'admin: the circuits cannot be shown',
    })
    admin.gear.explain = explain
    admin.clock.advance(6000)
    await expect.poll(() => viewer.count('circuits')).toBeGreaterThan(1)
    viewer.leave()
  })

  it('are for sixty-four viewers at a time', async () => {
    await using admin = await start()
    const sockets = Array.from({ length: 64 }, () => sleep(admin))
    const refused = async () => {
      const stop = new AbortController()
      const response = await admin.send('/admin/events', { signal: stop.signal })
      const text = response.status === 503 ? await response.text() : ''
      stop.abort()
      return text
    }
    await expect.poll(refused).toContain('too_many_viewers')
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => admin.clock.pending).toBe(0)
    expect(await refused()).toBe('')
  })
})

describe('a viewer who does not read', () => {
  const many = () => Array.from({ length: 300 }, (_, i) => `target-${i}-${'x'.repeat(300)}`)
  const dropped = (admin: Admin) => admin.lines.some(({ message }) => message.includes('nobody reads them'))
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('gets no second state while the first one is under way, and is dropped after a while', async () => {
    await using admin = await start(...many())
    const listening = listeners(admin)
    const socket = sleep(admin)
    await expect.poll(() => listening.now).toBe(1)
    const held = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    const before = held()
    let seconds = 0
    for (; seconds < 200 && !dropped(admin); seconds++) {
      await admin.call()
      admin.clock.advance(1000)
      await turn()
    }
    expect(dropped(admin)).toBe(true)
    expect(seconds).toBeGreaterThanOrEqual(15)
    expect(held() - before).toBeLessThan(50_000_000)
    expect(listening.now).toBe(0)
    socket.destroy()
  })

  it('is dropped at once when too much is missed', async () => {
    await using admin = await start(...many())
    const listening = listeners(admin)
    const socket = sleep(admin)
    await expect.poll(() => listening.now).toBe(1)
    // until the connection is full
    for (let i = 0; i < 60; i++) {
      await admin.call()
      admin.clock.advance(100)
      await turn()
    }
    for (let i = 0; i < 20_000 && !dropped(admin); i++) {
      admin.gear.openCircuit()
      admin.gear.closeCircuit()
      if (i % 100 === 0) await turn()
    }
    expect(dropped(admin)).toBe(true)
    expect(listening.now).toBe(0)
    socket.destroy()
  })

  it('keeps nobody else waiting', async () => {
    await using admin = await start(...many())
    const listening = listeners(admin)
    const socket = sleep(admin)
    await expect.poll(() => listening.now).toBe(1)
    const viewer = await watch(admin)
    for (let i = 0; i < 30; i++) {
      await admin.call()
      admin.clock.advance(1000)
      await expect.poll(() => viewer.count('circuits'), { interval: 1 }).toBe(i + 2)
    }
    expect(dropped(admin)).toBe(true)
    viewer.leave()
    socket.destroy()
  })
})
