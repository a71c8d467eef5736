import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { systemClock } from '../../src/core/clock.ts'
import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask } from '../gateway/support.ts'
import { complaints, hasBrowser, useBrowser } from './browser.ts'
import { TOKEN } from './fake-admin.ts'

const folder = mkdtempSync(join(tmpdir(), 'outage-'))
let primary: ScriptedProvider
let backup: ScriptedProvider
let file = 0

beforeAll(async () => {
  primary = await startScriptedProvider({ name: 'primary' })
  backup = await startScriptedProvider({ name: 'backup' })
})
afterAll(async () => {
  await Promise.all([primary.close(), backup.close()])
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  primary.reset()
  backup.reset()
})

/** A gateway in front of two providers, with a journal of its own. */
const start = (circuitBreaker: object, rules: Partial<GatewayConfig> = {}) =>
  createGateway({
    server: { port: 0 },
    admin: { tokens: { alice: TOKEN } },
    journal: { file: join(folder, `${file++}.db`) },
    defaults: { maxRetries: 0, circuitBreaker },
    targets: [
      { name: 'primary', baseUrl: primary.baseURL },
      { name: 'backup', baseUrl: backup.baseURL },
    ],
    ...rules,
  })

describe.skipIf(!hasBrowser)('an outage, as a person sees it', () => {
  const visit = useBrowser()

  it('opens a circuit, says why and until when, and closes it again', async () => {
    await using gateway = await start({ threshold: 3, cooldownMs: 4000 })
    await using person = await visit(gateway.adminUrl, { reducedMotion: 'reduce' })
    const { page } = person
    const module = person.module('primary')
    const says = (words: string | RegExp) => module.getByText(words).first().waitFor()
    await ask(gateway)
    await page.getByRole('heading', { level: 1, name: 'All 2 circuits are closed: calls flow.' }).waitFor()

    primary.setOutage(true)
    for (let i = 0; i < 3; i++) expect((await ask(gateway)).status).toBe(200)
    await module.getByText('open', { exact: true }).waitFor()
    await says(/3 failures in a row, the last of kind server_error/)
    await says(/next probe in \d s/)
    await page
      .getByRole('status', { name: 'Transitions' })
      .getByText(/primary: closed to open, 3 failures/)
      .waitFor()
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('backup')
    await module
      .getByText('saved', { exact: true })
      .locator('xpath=..')
      .getByText('1', { exact: true })
      .waitFor()
    await module
      .getByText('fallback', { exact: true })
      .locator('xpath=..')
      .getByText('4', { exact: true })
      .waitFor()
    expect(await complaints(page)).toEqual([])

    primary.setOutage(false)
    await module.getByText('half-open', { exact: true }).waitFor()
    await says(/0 under way, 0 passed, 0 failed/)
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('primary')
    await module.getByText('closed', { exact: true }).waitFor()

    await person.open('primary')
    await page.locator('[id="way:breaker.halfOpen/breaker.closed.healthy"].lit').waitFor()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('the trial succeeded: 1 of 1 probe succeeded').waitFor()
    expect(await timeline.locator('.event-change').allInnerTexts()).toEqual([
      'half-open → closed',
      'open → half-open',
      'closed → open',
    ])
    expect(await complaints(page)).toEqual([])
    expect([person.faults, person.foreign(gateway.adminUrl)]).toEqual([[], []])
  })

  it('is answered by an operator, whose name and reason everybody sees', async () => {
    await using gateway = await start({ threshold: 3, cooldownMs: 60_000 })
    await using alice = await visit(gateway.adminUrl)
    await using other = await visit(gateway.adminUrl)
    await ask(gateway)
    await alice.open('primary')
    await alice.page.getByRole('button', { name: 'Hold …' }).click()
    const dialog = alice.page.getByRole('dialog', { name: 'Hold primary' })
    await dialog.getByRole('radio', { name: /open/ }).check()
    await dialog.getByRole('combobox').selectOption('15 minutes')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('<b>OPS-1432</b>')
    await dialog.getByRole('button', { name: 'Hold open' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('backup')

    await other
      .module('primary')
      .getByText(/held by alice until \d\d:\d\d/)
      .waitFor()
    await other.module('primary').getByText('“<b>OPS-1432</b>”').waitFor()
    await other
      .module('primary')
      .getByText(/hold ends in 15 min/)
      .waitFor()
    const timeline = other.page.getByRole('complementary')
    await timeline.getByText(/by alice “<b>OPS-1432<\/b>”, held until \d\d:\d\d:\d\d/).waitFor()

    await alice.page.getByRole('button', { name: 'Close, ending the hold …' }).click()
    await alice.page.getByRole('dialog', { name: 'Close primary' }).waitFor()
    await alice.page.keyboard.type('provider is back')
    await alice.page.keyboard.press('Enter')
    await other.module('primary').getByText('closed', { exact: true }).waitFor()
    await timeline.getByText('by alice “provider is back”').waitFor()
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('primary')
    expect([alice.faults, other.faults]).toEqual([[], []])
  })

  it('is told anew to who comes later, from the journal', async () => {
    await using gateway = await start({ threshold: 2, cooldownMs: 60_000 })
    primary.setOutage(true)
    for (let i = 0; i < 2; i++) await ask(gateway)
    await using late = await visit(gateway.adminUrl)
    await late
      .module('primary')
      .getByText(/2 failures in a row/)
      .waitFor()
    await late.page.getByRole('complementary').getByText('closed → open').waitFor()
  })

  it('finds 200 circuits on the board within a moment', async () => {
    const circuitBreaker = { threshold: 1, isolateByModel: true }
    const targets = [{ name: 'primary', baseUrl: primary.baseURL, circuitBreaker, maxRetries: 0 }] as const
    await using gateway = await start({}, { targets })
    const models = Array.from({ length: 200 }, (_, i) => (i % 10 === 0 ? `503-${i}` : `ok-${i}`))
    await Promise.all(models.map(async (model) => (await ask(gateway, { model })).text()))
    const begun = systemClock.now()
    await using person = await visit(gateway.adminUrl)
    await person.module('primary/ok-199').waitFor()
    expect(systemClock.now() - begun).toBeLessThan(5000)
    await person.page.getByRole('radio', { name: 'all 200' }).waitFor()
    expect(person.faults).toEqual([])
  })
})
