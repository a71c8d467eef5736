import { describe, expect, it } from 'vitest'

import { systemClock } from '../../src/core/clock.ts'
import { hasBrowser, useBrowser } from './browser.ts'
import type { Visit } from './browser.ts'
import { FakeAdmin, TOKEN, circuit } from './fake-admin.ts'

const now = systemClock.wall

const lit = ({ page }: Visit) =>
  page.locator('.chart .lit').evaluateAll((parts) => parts.map(({ id }: { id: string }) => id).toSorted())

describe.skipIf(!hasBrowser)('the page of one circuit', () => {
  const visit = useBrowser()

  it('tells everything that is known of it', async () => {
    await using admin = await FakeAdmin.start([
      circuit('openai/gpt-5', {
        targets: ['openai', 'openai-eu'],
        model: 'gpt-5',
        state: 'open',
        openUntil: now() + 60_000,
        explain:
          "Circuit 'openai/gpt-5' is open (calls refused) since 2026-11-30T09:12:00.000Z: 5 failures in a row.",
        failures: { timeout: 12_345, network: 1 },
        calls: { success: 1000, failure: 12_346, neutral: 7 },
        failureRatio: 0.925,
        late: 4,
        reopenCount: 2,
      }),
    ])
    await using person = await visit(admin.url, { timezoneId: 'Europe/Berlin' })
    await person.open('openai/gpt-5')
    const words = (await person.page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
    for (const word of [
      'openai, openai-eu',
      'timeout 12,345',
      '1,000 / 12,346 / 7',
      '92.5 %',
      'Opens on 5 failures in a row.',
    ])
      expect(words).toContain(word)
    // the gateway's sentence, with the time where the reader is
    expect(words).toMatch(/open \(calls refused\) since (30 Nov 2026, )?10:12:00: 5 failures in a row\./)
    expect(await person.page.title()).toBe('(1 open) openai/gpt-5 · Switchgear')
    expect(person.faults).toEqual([])
  })

  it('lights its state and the way there on the chart, and follows it', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.open('a')
    await person.page.locator('[id="state:breaker.closed.healthy"].lit').waitFor()
    admin.change('a', { to: 'open', why: '5 failures in a row' })
    await person.page.locator('[id="way:breaker.closed/breaker.open.cooling"].lit').waitFor()
    expect(await lit(person)).toEqual([
      'edge:breaker.closed/call.failed/0',
      'in:breaker.closed/breaker.open.cooling',
      'out:breaker.closed/breaker.open.cooling',
      'state:breaker.open',
      'state:breaker.open.cooling',
      'way:breaker.closed/breaker.open.cooling',
    ])
    await person.page
      .getByText('Lit: open, cooling, and the way by which the circuit came there (call.failed). The')
      .waitFor()
    const shaded = person.page.locator('.way.lit text.dim')
    const shade = async () => (await shaded.allTextContents()).join(' ')
    // the rule that both kinds of answers may meet stays lit
    expect(await shade()).toBe('call.succeeded operator.opened nobody holds the circuit')
    admin.change('a', { to: 'closed', why: 'by hand', type: 'operator.closed', by: 'alice' })
    await person.page.locator('[id="state:breaker.closed.healthy"].lit').waitFor()
    admin.change('a', { to: 'open', why: 'by hand', type: 'operator.opened', by: 'alice' })
    await person.page.locator('[id="edge:breaker.closed/operator.opened/1"].lit').waitFor()
    expect(await shade()).toMatch(/^call.failed or call.succeeded not held .* in a row$/)
    expect(admin.chartsAsked).toEqual([{ circuit: 'a' }])
    admin.change('a', { to: 'half-open', why: 'the cooldown is over', type: 'cooldown.elapsed' })
    await person.page.locator('[id="state:breaker.halfOpen"].lit').waitFor()
    expect(await lit(person)).not.toContain('state:breaker.open.cooling')
  })

  it('lights the way there, too, where nothing is told of this circuit alone', async () => {
    await using admin = await FakeAdmin.start([circuit('a', { state: 'open', openUntil: now() + 60_000 })])
    admin.hidesDetails = true
    admin.isPaused = true
    await using person = await visit(admin.url)
    await person.open('a')
    await person.page.locator('[id="state:breaker.open.cooling"].lit').waitFor()
    // as the gateway does: the transition at once, all circuits with the next tick
    admin.change('a', { to: 'half-open', why: 'the cooldown is over', type: 'cooldown.elapsed' })
    await person.page.getByText('open → half-open').waitFor()
    admin.tellCircuits()
    await person.page.locator('[id="state:breaker.halfOpen"].lit').waitFor()
    await expect
      .poll(() => lit(person))
      .toEqual([
        'in:breaker.open.cooling/breaker.halfOpen',
        'out:breaker.open.cooling/breaker.halfOpen',
        'state:breaker.halfOpen',
        'way:breaker.open.cooling/breaker.halfOpen',
      ])
  })

  it('says since when it is in its state the moment it is in it', async () => {
    const at = (time: string) => Date.parse(`2030-01-02T${time}Z`)
    await using admin = await FakeAdmin.start([circuit('a', { since: at('10:00:00') })])
    admin.isPaused = true
    await using person = await visit('about:blank', { path: '', timezoneId: 'UTC' })
    const { page } = person
    await page.clock.install()
    await page.goto(`${admin.url}/#token=${TOKEN}`)
    await person.open('a')
    await page.getByText('since 2 Jan 2030, 10:00:00').waitFor()
    await page.clock.pauseAt(now() + 1000)
    admin.circuits.set('a', circuit('a', { state: 'open', since: at('11:22:33'), openUntil: at('12:00:00') }))
    admin.tellCircuits()
    const plate = page.getByRole('region', { name: 'State and commands' })
    await plate.getByText('open', { exact: true }).waitFor()
    expect(await plate.innerText()).toContain('since 2 Jan 2030, 11:22:33')
  })

  it('takes shapes and words from the chart, and nothing that could act', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    admin.chart = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="document.title='stolen'">
      <script>document.title = 'stolen'</script><foreignObject><b xmlns="http://www.w3.org/1999/xhtml">b</b></foreignObject>
      <a href="https://example.com"><text>link</text></a><image href="https://example.com/x.png"/>
      <g id="state:breaker.closed.healthy" class="node" style="fill:red" onclick="alert(1)"><text>healthy</text></g></svg>`
    await using person = await visit(admin.url)
    await person.open('a')
    await person.page.locator('[id="state:breaker.closed.healthy"].lit').waitFor()
    expect(await person.page.locator('.chart-frame').innerHTML()).not.toMatch(
      /script|foreign|href|image|style=|on\w+=/,
    )
    expect(await person.page.title()).toBe('a · Switchgear')
    expect(person.faults.filter((fault) => !fault.includes('The action has been blocked'))).toEqual([])
    expect(person.foreign(admin.url)).toEqual([])
  })

  it('opens with a reason, which the timeline then shows with who gave it', async () => {
    await using admin = await FakeAdmin.start([circuit('a/b c')])
    await using person = await visit(admin.url)
    const { page } = person
    await person.open('a/b c')
    expect(await page.getByRole('button', { name: 'Close …' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Open …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Open a/b c' })
    await dialog.getByText('Calls are refused for one cooldown.').waitFor()
    await dialog.getByRole('button', { name: 'Open', exact: true }).click()
    await dialog
      .getByRole('alert')
      .getByText(/Say why/)
      .waitFor()
    expect(admin.commands).toEqual([])
    await page.keyboard.type('provider announced an outage')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const reason = 'provider announced an outage'
    expect(admin.commands).toEqual([{ path: '/admin/circuits/a%2Fb%20c/open', body: { reason } }])
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('closed → open').waitFor()
    await timeline.getByText(`by alice “${reason}”`).waitFor()
    // the focus is where it was before the dialog
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Open …')
  })

  it('holds either way with a limit, and ends the hold', async () => {
    await using admin = await FakeAdmin.start([circuit('a', { state: 'open', openUntil: now() + 60_000 })])
    await using person = await visit(admin.url)
    const { page } = person
    await person.open('a')
    await page.getByRole('button', { name: 'Hold …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Hold a' })
    expect(await dialog.getByRole('radio', { name: /open/ }).isChecked()).toBe(true)
    await dialog.getByRole('radio', { name: /closed/ }).check()
    await dialog.getByText(/Calls flow whatever happens/).waitFor()
    await dialog.getByRole('combobox').selectOption('another time')
    await dialog.getByRole('textbox', { name: 'Minutes' }).fill('2')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('false alarm')
    await dialog.getByRole('button', { name: 'Hold closed' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(admin.commands.at(-1)).toEqual({
      path: '/admin/circuits/a/close',
      body: { reason: 'false alarm', hold: true, ttlMs: 120_000 },
    })
    await page
      .getByRole('timer')
      .filter({ hasText: /hold ends in (2 min|1 min 5\d s)/ })
      .waitFor()
    await page
      .getByText(/held by alice until \d\d:\d\d/)
      .first()
      .waitFor()
    await page.locator('[id="state:breaker.closed.held"].lit').waitFor()
    // an open without a hold would not lift it
    expect(await page.getByRole('button', { name: 'Open …' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Close, ending the hold …' }).click()
    await page.getByText(/The hold ends\. Calls flow at once/).waitFor()
    await page.keyboard.type('over')
    await page.keyboard.press('Enter')
    await page.locator('[id="state:breaker.closed.healthy"].lit').waitFor()
  })

  it('says what the gateway refuses, and lets the reason stand', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    admin.refusal = 'ttlMs must be a whole number of ms.'
    await using person = await visit(admin.url)
    const { page } = person
    await person.open('a')
    await page.getByRole('button', { name: 'Hold …' }).click()
    await page.getByRole('textbox', { name: 'Reason' }).fill('why not')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('ttlMs must be a whole number of ms.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('why not')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(admin.circuits.get('a')?.held).toBe(false)
  })

  it('says so where there is no such circuit, and shows it once there is', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.module('a').waitFor()
    await person.page.goto(`${admin.url}/#/circuits/b`)
    await person.page.getByText(/There is no circuit of this name/).waitFor()
    admin.circuits.set('b', circuit('b'))
    await person.page.getByRole('button', { name: 'Open …' }).waitFor()
  })

  it('shows what happened since it was opened where no journal is kept, and says so', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    admin.keepsJournal = false
    await using person = await visit(admin.url)
    await person.open('a')
    const timeline = person.page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText(/The journal tells nothing/).waitFor()
    admin.change('a', { to: 'open', why: '5 failures in a row' })
    await timeline.getByText('closed → open').waitFor()
  })
})
