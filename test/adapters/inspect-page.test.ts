import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'

import { build } from 'vite'
import type { Rollup } from 'vite'
import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'

import { inspect } from '../../src/adapters/inspect/index.ts'
import type { InspectOptions } from '../../src/adapters/inspect/index.ts'
import { createSwitchgear } from '../../src/index.ts'
import { complaints, hasBrowser, useBrowser } from '../dashboard/browser.ts'
import { never, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'
import { partsOf } from './inspect-support.ts'

interface Message {
  readonly type: string
  readonly name?: string
  readonly sessionId: string
  readonly definition?: string
  readonly event?: { readonly type: string }
  readonly snapshot?: { readonly value: unknown; readonly status: string }
}

const failing = () => Promise.reject(status(503))
const pair: readonly Target[] = [
  { name: 'fails', circuitBreaker: { threshold: 1 }, maxRetries: 0, invoke: failing },
  { name: 'hangs', circuitBreaker: true, invoke: never },
]

async function start(targets: readonly Target[] = pair, options: InspectOptions = {}) {
  const gear = createSwitchgear<string, string>({ targets })
  const inspection = await inspect(gear, options)
  const { origin, token } = partsOf(inspection.url)
  return { gear, origin, path: `/#token=${token}`, [Symbol.asyncDispose]: () => inspection.close() }
}

/** A page of its own origin with the package's receiver in it, in place of the one on the internet. */
async function startReceiver() {
  const built = (await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      lib: { entry: resolve(import.meta.dirname, 'stately-receiver.ts'), formats: ['es'] },
    },
  })) as Rollup.RollupOutput[]
  const script = built[0]?.output[0].code ?? ''
  const server = createServer((request, response) => {
    const isScript = request.url === '/receiver.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(
      isScript
        ? script
        : '<!doctype html><title>receiver</title><script type=module src=/receiver.js></script>',
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise<void>((done) => server.close(() => done()).closeAllConnections())
  return { url: `http://127.0.0.1:${port}/inspect`, close }
}

const toldTo = (frame: Frame | Page) => frame.evaluate('globalThis.told ?? []') as Promise<Message[]>
const lit = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('.chart .lit')].map(({ id }) => id).filter((id) => id.startsWith('state:'))",
  ) as Promise<string[]>

describe.skipIf(!hasBrowser)('the page of the actors', () => {
  const visit = useBrowser('inspector')

  it('lights the state of an actor on the chart of its machine, and lists its events, without the internet', async () => {
    await using server = await start()
    const { gear, origin, path } = server
    await using person = await visit(origin, { path })
    const { page } = person
    await page.getByRole('button', { name: 'fails closed.healthy' }).click()
    expect(await lit(page)).toEqual(['state:breaker.closed', 'state:breaker.closed.healthy'])
    void gear.call('request').catch(() => {})
    await page.getByRole('heading', { name: /fails breaker, open.cooling/ }).waitFor()
    await expect.poll(() => lit(page)).toEqual(['state:breaker.open', 'state:breaker.open.cooling'])
    expect(await page.locator('[id="way:breaker.closed/breaker.open.cooling"].lit').count()).toBe(1)
    const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    expect(await events.allTextContents()).toEqual([
      expect.stringMatching(/call\.failed → open\.cooling.*"failure": "server_error"/),
    ])
    expect(await page.getByText(/"why": "tripped"/).count()).toBe(1)
    // a chain that came while the page was open
    await page.getByRole('button', { name: /call-1/ }).click()
    await expect.poll(() => lit(page)).toEqual(['state:chain.visiting', 'state:chain.visiting.attempting'])
    await page.getByRole('button', { name: 'supervisor' }).click()
    await expect.poll(() => lit(page)).toEqual(['state:supervisor.running'])
    expect(person.foreign(origin)).toEqual([])
    expect(page.url()).toBe(`${origin}/`)
    expect(person.faults).toEqual([])
  })

  it('finds actors by name or state', async () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ ...pair[1]!, name: `target-${i}` }))
    await using server = await start(many)
    await using person = await visit(server.origin, { path: server.path })
    const { page } = person
    const list = page.getByRole('list', { name: 'Supervisor and breakers' }).getByRole('listitem')
    await expect.poll(() => list.count()).toBe(31)
    await page.getByRole('searchbox').fill('target-2')
    await expect.poll(() => list.count()).toBe(11)
    await page.getByRole('searchbox').fill('OPEN')
    await expect.poll(() => list.count()).toBe(0)
    server.gear.openCircuit({ name: 'target-7' })
    await expect.poll(() => list.allTextContents()).toEqual(['target-7open.cooling'])
  })

  it('can be read by everybody, as axe sees it, also on a phone', async () => {
    await using server = await start()
    await using person = await visit(server.origin, { path: server.path, reducedMotion: 'reduce' })
    const { page } = person
    await page.getByRole('button', { name: /fails/ }).click()
    server.gear.openCircuit()
    await page.getByRole('heading', { name: /open.cooling/ }).waitFor()
    expect(await complaints(page)).toEqual([])
    await page.getByRole('button', { name: 'Stately inspector' }).click()
    expect(await complaints(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 720 })
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  })

  it('says so where the token is not the right one, and where the service has ended', async () => {
    const server = await start()
    await using stranger = await visit(server.origin, { path: '/#token=wrong' })
    await stranger.page.getByText(/This needs the token/).waitFor()
    await using person = await visit(server.origin, { path: server.path })
    await person.page.getByText('live', { exact: true }).waitFor()
    await server[Symbol.asyncDispose]()
    await person.page.getByText('not connected').waitFor()
    // the last that was known is still there
    expect(await person.page.getByRole('button', { name: /fails/ }).count()).toBe(1)
  })

  it('follows 500 breakers that all change without freezing', async () => {
    const many = Array.from({ length: 500 }, (_, i) => ({ ...pair[1]!, name: `target-${i}` }))
    await using server = await start(many)
    const { gear, origin, path } = server
    await using person = await visit(origin, { path })
    const { page } = person
    await page.getByRole('button', { name: 'target-7 closed.healthy' }).click()
    await page.evaluate(`
      globalThis.longest = 0
      let last = performance.now()
      const watch = () => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
        requestAnimationFrame(watch)
      }
      requestAnimationFrame(watch)`)
    let hold = false
    for (let round = 0; round < 20; round++) {
      hold = !hold
      for (const { name } of many) gear[hold ? 'openCircuit' : 'closeCircuit']({ name: name! }, { hold })
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => done()))')
    }
    gear.openCircuit({ name: 'target-7' }, { hold: true, reason: 'the last word' })
    await page
      .getByText(/the last word/)
      .first()
      .waitFor()
    const longest = (await page.evaluate('longest')) as number
    expect(longest).toBeLessThan(1500)
  })
})

describe.skipIf(!hasBrowser)('the Stately inspector', () => {
  const visit = useBrowser('inspector')
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => {
    if (hasBrowser) receiver = await startReceiver()
  })
  afterAll(() => receiver?.close())

  const begin = async () => {
    const server = await start(pair, { inspectorUrl: receiver.url })
    // before anybody looks
    void server.gear.call('request').catch(() => {})
    const person = await visit(server.origin, { path: server.path })
    await person.page.getByRole('button', { name: /call-1/ }).waitFor()
    await person.page.getByRole('button', { name: 'Stately inspector' }).click()
    return {
      ...server,
      person,
      page: person.page,
      async [Symbol.asyncDispose]() {
        await person[Symbol.asyncDispose]()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  const states = (messages: readonly Message[]) =>
    messages
      .filter(({ type }) => type === '@xstate.actor')
      .map(({ name, snapshot }) => [name, snapshot?.value] as const)
  const everybody = [
    ['supervisor', 'running'],
    ['fails', { open: 'cooling' }],
    ['hangs', { closed: 'healthy' }],
    ['call-1', { visiting: 'attempting' }],
  ]

  it('is asked for only when somebody wants it; in a frame it is told of every live actor, then of what they do', async () => {
    await using scene = await begin()
    const { page, person, gear, origin } = scene
    expect(person.foreign(origin)).toEqual([])
    await page.getByRole('button', { name: 'Show it here' }).click()
    await page.getByText(/Connected, \d+ messages/).waitFor()
    const frame = page.frames().find((each) => each.url() === receiver.url)!
    await expect.poll(async () => states(await toldTo(frame))).toEqual(everybody)
    gear.closeCircuit({ name: 'fails' }, { hold: true })
    await expect
      .poll(async () => (await toldTo(frame)).slice(4).map(({ type, event }) => [type, event?.type]))
      .toEqual([
        ['@xstate.event', 'operator.commanded'],
        ['@xstate.event', 'operator.closed'],
        ['@xstate.snapshot', 'operator.closed'],
      ])
    const told = await toldTo(frame)
    expect(told.at(-1)).toMatchObject({
      sessionId: told[1]?.sessionId,
      snapshot: { value: { closed: 'held' }, status: 'active' },
    })
    // what it has been given makes a machine that can be in the state it was told
    const machine = createMachine(JSON.parse(told[1]?.definition ?? '') as object)
    expect(machine.resolveState({ value: told.at(-1)?.snapshot?.value as never }).value).toEqual({
      closed: 'held',
    })
    // a new chain is told of before its events
    void gear.call('request', { targets: ['fails', 'hangs'] }).catch(() => {})
    await expect
      .poll(async () => (await toldTo(frame)).filter(({ name }) => name === 'call-2').length)
      .toBe(1)
    const all = await toldTo(frame)
    const second = all.filter(
      ({ sessionId }) => sessionId === all.find(({ name }) => name === 'call-2')?.sessionId,
    )
    expect(second[0]).toMatchObject({ type: '@xstate.actor', snapshot: { value: 'choosing' } })
    await page.getByRole('button', { name: 'Stop' }).click()
    expect(await page.locator('iframe').count()).toBe(0)
    expect(person.faults).toEqual([])
  })

  it('is told the same in a window of its own', async () => {
    await using scene = await begin()
    const { page, gear } = scene
    const opening = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Open it in a window' }).click()
    const window = await opening
    await expect.poll(async () => states(await toldTo(window))).toEqual(everybody)
    gear.openCircuit({ name: 'hangs' })
    await expect
      .poll(async () => (await toldTo(window)).at(-1))
      .toMatchObject({ type: '@xstate.snapshot', event: { type: 'operator.opened' } })
    // loaded anew it knows nothing, and is told again
    await window.reload()
    await expect.poll(async () => states(await toldTo(window)).length).toBe(4)
  })

  it('is told only of those that are looked for, and of the others once they are', async () => {
    await using scene = await begin()
    const { page, gear } = scene
    await page.getByRole('searchbox').fill('fails')
    await page.getByRole('button', { name: 'Show it here' }).click()
    await page.getByText(/Connected, 1 messages/).waitFor()
    const frame = page.frames().find((each) => each.url() === receiver.url)!
    gear.openCircuit({ name: 'hangs' })
    gear.openCircuit({ name: 'fails' })
    await expect
      .poll(async () => (await toldTo(frame)).map(({ type }) => type))
      .toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot'])
    await page.getByRole('searchbox').fill('')
    await expect.poll(async () => states(await toldTo(frame)).length).toBe(4)
  })

  it('is nobody but the page at its address', async () => {
    await using scene = await begin()
    const { page } = scene
    await page.getByRole('button', { name: 'Show it here' }).click()
    await page.getByText(/Connected/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.evaluate("postMessage({ type: '@statelyai.connected' }, '*')")
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => done()))')
    expect(await page.getByText(/Connected/).count()).toBe(0)
  })
})
