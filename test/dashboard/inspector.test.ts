import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { Page } from 'playwright-core'

import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask } from '../gateway/support.ts'
import { complaints, hasBrowser, useBrowser } from './browser.ts'
import type { Visit } from './browser.ts'
import { TOKEN } from './fake-admin.ts'

let primary: ScriptedProvider
let backup: ScriptedProvider

beforeAll(async () => {
  primary = await startScriptedProvider({ name: 'primary' })
  backup = await startScriptedProvider({ name: 'backup' })
})
afterAll(() => Promise.all([primary.close(), backup.close()]))
beforeEach(() => {
  primary.reset()
  backup.reset()
})

const config = (tokens: Record<string, string> = { alice: TOKEN }): GatewayConfig => ({
  server: { port: 0 },
  admin: { tokens },
  journal: false,
  defaults: { maxRetries: 0, circuitBreaker: { threshold: 2, cooldownMs: 60_000 } },
  targets: [
    { name: 'primary', baseUrl: primary.baseURL },
    { name: 'backup', baseUrl: backup.baseURL },
  ],
})

/** The states that are lit on the chart. */
const lit = (page: Page) =>
  page.locator('.chart .lit[id^="state:"]').evaluateAll((parts) => parts.map(({ id }: { id: string }) => id))

/** Follows a link of the dashboard to the page of the live actors. */
const watchLive = (person: Visit, name: string) =>
  person.newTab(() => person.page.getByRole('link', { name }).click())

describe.skipIf(!hasBrowser)('the live statecharts, from the dashboard', () => {
  const visit = useBrowser()

  it('show the breaker that was looked at, and follow it as it opens', async () => {
    await using gateway = await createGateway(config())
    await using person = await visit(gateway.adminUrl)
    await person.open('primary')
    const live = await watchLive(person, 'Watch it live')
    await live.getByRole('heading', { level: 1, name: 'primary breaker, closed.healthy' }).waitFor()
    await expect.poll(() => lit(live)).toEqual(['state:breaker.closed', 'state:breaker.closed.healthy'])
    primary.setOutage(true)
    for (let i = 0; i < 2; i++) await (await ask(gateway)).text()
    await live.getByRole('heading', { level: 1, name: 'primary breaker, open.cooling' }).waitFor()
    await expect.poll(() => lit(live)).toEqual(['state:breaker.open', 'state:breaker.open.cooling'])
    await live.locator('[id="way:breaker.closed/breaker.open.cooling"].lit').waitFor()
    // the numbers are those of this circuit, and the line is that of what happened
    await live.locator('[id="edge:breaker.closed/call.failed/0"].lit').waitFor()
    const chart = live.getByRole('region', { name: 'Statechart of the breaker, scrollable' })
    const words = (await chart.locator('text').allTextContents()).join(' ')
    expect(words).toContain('2 failures in a row')
    expect(words).not.toMatch(/5 failures|\(30 s\)/)
    await live
      .getByText('the way that led there (call.failed). The numbers are those of this circuit.')
      .waitFor()
    await live
      .getByRole('list', { name: 'Events, newest first' })
      .getByText(/call\.failed → open\.cooling/)
      .waitFor()
    // the token is in no address, and nothing of it leaves the gateway
    expect(live.url()).toBe(`${gateway.adminUrl}/inspect#breaker=primary`)
    expect(person.requests.filter((request) => request.includes(TOKEN))).toEqual([])
    expect([person.faults, person.foreign(gateway.adminUrl)]).toEqual([[], []])
  })

  it('show everybody who lives, a call that hangs since before, too', async () => {
    const [first, second] = config().targets
    const targets = [
      { ...first, model: '503' },
      { ...second!, model: 'hang' },
    ] as const
    await using gateway = await createGateway({ ...config(), targets })
    await using person = await visit(gateway.adminUrl)
    await person.module('primary').waitFor()
    const gone = new AbortController()
    const hanging = ask(gateway, {}, { signal: gone.signal }).catch(() => 'gone')
    await expect.poll(() => gateway.gear.supervisor.getSnapshot().context.chains).toBe(1)
    const live = await watchLive(person, 'Live statecharts')
    const chains = live.getByRole('list', { name: 'Chains' }).getByRole('listitem')
    await chains.filter({ hasText: 'visiting.attempting' }).waitFor()
    const actors = live.getByRole('list', { name: 'Supervisor and breakers' }).getByRole('listitem')
    expect(await actors.allTextContents()).toEqual([
      'supervisorrunning',
      'backupclosed.healthy',
      'primaryclosed.healthy',
    ])
    gone.abort()
    expect(await hanging).toBe('gone')
    await chains.filter({ hasText: 'visiting.attempting' }).waitFor({ state: 'detached' })
    await live.getByRole('link', { name: 'Switchgear' }).click()
    await live.getByRole('heading', { level: 1, name: /circuits/ }).waitFor()
  })

  it('ask for the token where the tab has none, and tell nothing without it', async () => {
    await using gateway = await createGateway(config())
    await using person = await visit(gateway.adminUrl, { path: '/inspect#breaker=backup' })
    const { page } = person
    await page.getByLabel('Admin token').fill('a-wrong-token')
    await page.getByRole('button', { name: 'Watch the statecharts' }).click()
    await page
      .getByRole('alert')
      .getByText(/This is not a token of this gateway/)
      .waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await page.getByLabel('Admin token').fill('zwei wörter')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/A token is one word/)
      .waitFor()
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'backup breaker, closed.healthy' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin token').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  it('say why they cannot be shown, and are as soon as they can', async () => {
    await using gateway = await createGateway(config())
    const others = Array.from({ length: 16 }, () => new AbortController())
    const headers = { authorization: `Bearer ${TOKEN}` }
    const feed = ({ signal }: AbortController) =>
      fetch(`${gateway.adminUrl}/admin/inspect`, { headers, signal })
    await Promise.all(others.map(feed))
    await using person = await visit(gateway.adminUrl, { path: `/inspect#token=${TOKEN}` })
    await person.page.getByText('not connected: 16 pages watch already. Close one.').waitFor()
    for (const other of others) other.abort()
    await person.page.getByText('live', { exact: true }).waitFor()
  })

  it('end where the token is taken out of use', async () => {
    await using gateway = await createGateway(config())
    await using person = await visit(gateway.adminUrl, { path: `/inspect#token=${TOKEN}` })
    const { page } = person
    await page.getByText('live', { exact: true }).waitFor()
    expect(page.url()).toBe(`${gateway.adminUrl}/inspect`)
    gateway.reload(config({ bob: 'another-token-of-bob' }))
    await page
      .getByRole('alert')
      .getByText(/This is not a token of this gateway/)
      .waitFor()
  })

  it('can be opened by the keyboard, and read by everybody, as axe sees it', async () => {
    await using gateway = await createGateway(config())
    await using person = await visit(gateway.adminUrl, { reducedMotion: 'reduce' })
    const { page } = person
    await person.open('primary')
    await page.locator('.chart .lit').first().waitFor()
    expect(await complaints(page)).toEqual([])
    await page.getByRole('link', { name: 'Watch it live (new tab)' }).focus()
    const live = await person.newTab(() => page.keyboard.press('Enter'))
    await live.getByRole('heading', { level: 1, name: /primary breaker/ }).waitFor()
    await live.emulateMedia({ reducedMotion: 'reduce' })
    expect(await complaints(live)).toEqual([])
    await live.setViewportSize({ width: 360, height: 720 })
    expect(await live.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await complaints(live)).toEqual([])
    await live.getByRole('button', { name: 'Sign out' }).click()
    await live.getByLabel('Admin token').waitFor()
    expect(await complaints(live)).toEqual([])
  })

  it('fit on a phone: the chart is scrolled, and says so, and the lists are as long as what is in them', async () => {
    await using gateway = await createGateway(config())
    const viewport = { width: 420, height: 900 }
    await using person = await visit(gateway.adminUrl, { path: `/inspect#token=${TOKEN}`, viewport })
    const { page } = person
    await page.getByRole('button', { name: /primary/ }).click()
    await page.locator('.chart .lit').first().waitFor()
    const hint = page.getByText('scroll it sideways')
    expect(await hint.isVisible()).toBe(true)
    const reach = `(() => {
      const frame = document.querySelector('.chart-frame')
      frame.scrollLeft = 1e6
      return frame.querySelector('svg').getBoundingClientRect().right - frame.getBoundingClientRect().right
    })()`
    expect(await page.evaluate(reach)).toBeLessThanOrEqual(1)
    const last = await page.getByRole('button', { name: /primary/ }).boundingBox()
    const chains = await page.getByRole('heading', { name: 'Chains' }).boundingBox()
    expect(chains!.y - last!.y - last!.height).toBeLessThan(40)
    await page.setViewportSize({ width: 1400, height: 900 })
    expect(await hint.isVisible()).toBe(false)
  })

  it('wear the theme that was chosen on the dashboard', async () => {
    await using gateway = await createGateway(config())
    await using person = await visit(gateway.adminUrl, { colorScheme: 'light' })
    await person.page.getByRole('combobox', { name: 'Theme' }).selectOption('theme: dark')
    const live = await watchLive(person, 'Live statecharts')
    await live.getByText('live', { exact: true }).waitFor()
    const paper = (of: Page) => of.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    expect(await paper(live)).toBe(await paper(person.page))
  })
})
