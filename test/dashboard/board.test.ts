import { describe, expect, it } from 'vitest'

import { systemClock } from '../../src/core/clock.ts'
import { hasBrowser, useBrowser } from './browser.ts'
import { FakeAdmin, circuit } from './fake-admin.ts'

const now = systemClock.wall

/** Notes the name of every module that is drawn again. */
const WATCH_MODULES = `
  globalThis.drawn = new Set()
  new MutationObserver((changes) => {
    for (const { target } of changes)
      drawn.add((target.closest ? target : target.parentElement).closest('.module')?.querySelector('h2').textContent)
  }).observe(document.querySelector('.rails'), { subtree: true, childList: true, characterData: true, attributes: true })
`

describe.skipIf(!hasBrowser)('the board', () => {
  const visit = useBrowser()

  it('shows each circuit with its state in words, since when, and its figures', async () => {
    await using admin = await FakeAdmin.start([
      circuit('gpt-5', {
        state: 'open',
        since: now() - 95_000,
        openUntil: now() + 25_000,
        failures: { server_error: 3, timeout: 2 },
        p95Ms: 18_400,
        refused: 312,
        fallbacks: 298,
      }),
      circuit('gpt-5-mini', { state: 'half-open', probes: { inFlight: 1, succeeded: 2, failed: 0 } }),
      circuit('sonnet', { state: 'degraded' }),
      circuit('haiku'),
    ])
    await using person = await visit(admin.url)
    const words = await person.module('gpt-5').innerText()
    for (const word of [
      /^open$/m,
      /calls refused/,
      /for 1 min 3\d s/,
      /next probe in 2\d s/,
      /server_error 3/,
      /timeout 2/,
    ])
      expect(words).toMatch(word)
    expect(words.replaceAll(/\s+/g, ' ')).toContain('p95 18.4 s saved 312 fallback 298')
    expect(await person.module('gpt-5-mini').innerText()).toMatch(
      /half-open[^]*1 under way, 2 passed, 0 failed/,
    )
    expect(await person.module('sonnet').innerText()).toMatch(/degraded\s+calls flow, near the threshold/)
    expect(await person.module('haiku').innerText()).toMatch(/closed\s+calls flow\s+for 1 h 2 min/)
    await person.page
      .getByRole('heading', { level: 1, name: '1 of 4 circuits is open: calls refused; 1 on trial.' })
      .waitFor()
    expect(await person.page.title()).toBe('(1 open) Switchgear')
    expect(person.faults).toEqual([])
  })

  it('has the lever up where calls flow, down where they are refused, and in between on trial', async () => {
    await using admin = await FakeAdmin.start([
      circuit('up'),
      circuit('down', { state: 'open', openUntil: now() + 60_000 }),
      circuit('between', { state: 'half-open' }),
    ])
    await using person = await visit(admin.url, { reducedMotion: 'reduce' })
    const height = async (name: string) => {
      const box = await person.module(name).locator('.lever-body').boundingBox()
      const around = await person.module(name).locator('.lever-recess').boundingBox()
      return (box?.y ?? 0) - (around?.y ?? 0)
    }
    const [up, between, down] = [await height('up'), await height('between'), await height('down')]
    expect(up).toBeLessThan(between - 5)
    expect(between).toBeLessThan(down - 5)
  })

  it('counts down to the next probe and then says what comes', async () => {
    await using admin = await FakeAdmin.start([
      circuit('a', { state: 'open', since: now(), openUntil: now() + 2500 }),
    ])
    await using person = await visit(admin.url)
    const timer = person.module('a').getByRole('timer')
    await timer.filter({ hasText: 'next probe in 2 s' }).waitFor()
    await timer.filter({ hasText: 'next probe in 1 s' }).waitFor()
    await timer.filter({ hasText: 'next call is a probe' }).waitFor()
  })

  it('counts by the clock of the gateway, not by that of the browser', async () => {
    await using admin = await FakeAdmin.start([
      circuit('a', { state: 'open', since: now(), openUntil: now() + 50_000 }),
    ])
    await using person = await visit('about:blank', { path: '' })
    await person.page.clock.install({ time: now() - 3_600_000 })
    await person.page.goto(`${admin.url}/#token=a-token-of-alice`)
    await person
      .module('a')
      .getByRole('timer')
      .filter({ hasText: /next probe in (50|4\d) s/ })
      .waitFor()
  })

  it('says who holds a circuit, why and until when', async () => {
    const until = new Date(2030, 0, 2, 14, 5).getTime()
    await using admin = await FakeAdmin.start([
      circuit('a', { state: 'open', held: true, hold: { by: 'alice', reason: 'OPS-1432', until } }),
      circuit('b', { held: true, hold: { by: 'bob', reason: '', until: null } }),
    ])
    await using person = await visit(admin.url)
    expect(await person.module('a').innerText()).toMatch(/held by alice until 2 Jan 2030, 14:05\s+“OPS-1432”/)
    expect(await person.module('b').innerText()).toMatch(/until somebody ends it\s+held by bob/)
  })

  it('shows and tells a transition at once, with its reason', async () => {
    await using admin = await FakeAdmin.start([circuit('a'), circuit('b')])
    await using person = await visit(admin.url)
    await person.module('a').getByText('closed', { exact: true }).waitFor()
    admin.change('a', { to: 'open', why: '5 failures in a row, the last of kind timeout' })
    await person.module('a').getByText('open', { exact: true }).waitFor()
    await person.module('a').getByText('5 failures in a row, the last of kind timeout').waitFor()
    await person.page
      .getByRole('status', { name: 'Transitions' })
      .getByText('a: closed to open, 5 failures in a row, the last of kind timeout; next try in 30 s.')
      .waitFor()
    await person.page.getByRole('complementary').getByText('closed → open').waitFor()
  })

  it('tells a transition at once with the next try, and soon all that the journal tells of it', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.module('a').waitFor()
    const timeline = person.page.getByRole('complementary', { name: 'Timeline' })
    admin.keepsJournal = false
    admin.change('a', { to: 'open', why: '5 failures in a row' })
    await timeline.getByText('5 failures in a row; next try in 30 s').waitFor()
    admin.keepsJournal = true
    const journalled = 'the cooldown is over, probes may pass; 3 calls were refused before'
    admin.change('a', { to: 'half-open', why: 'the cooldown is over, probes may pass', journalled })
    await timeline.getByText(journalled).waitFor()
    expect(await timeline.getByText('the cooldown is over').count()).toBe(1)
  })

  it('says on a phone, too, what its search finds', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url, { viewport: { width: 420, height: 900 } })
    const box = await person.page.getByRole('searchbox').boundingBox()
    expect(box!.width).toBeGreaterThan(300)
  })

  it('leaves out what cannot be told of one circuit alone', async () => {
    await using admin = await FakeAdmin.start([circuit('a/one', { fallbacks: null, refused: 3 })])
    await using person = await visit(admin.url)
    const words = await person.module('a/one').innerText()
    expect(words.replaceAll(/\s+/g, ' ')).toContain('saved 3 fallback –')
    await person.page.getByText('3 calls saved.', { exact: true }).waitFor()
    await person.open('a/one')
    expect(
      await person.page.getByText('cannot be told for this circuit alone', { exact: true }).count(),
    ).toBe(1)
  })

  it('gives the reason of the present state, not of the one before', async () => {
    await using admin = await FakeAdmin.start([circuit('a', { state: 'open', openUntil: now() + 60_000 })])
    admin.isPaused = true
    await using person = await visit(admin.url)
    const module = person.module('a')
    const become = async (to: 'open' | 'half-open', why: string) => {
      admin.change('a', { to, why })
      // as the gateway does: the transition at once, all circuits with the next tick
      await person.page.getByRole('complementary').getByText(why).waitFor()
      admin.tellCircuits()
      await module.getByText(to, { exact: true }).waitFor()
    }
    await become('half-open', 'the cooldown is over')
    expect(await module.locator('.why').innerText()).toBe('the cooldown is over')
    await become('open', 'the trial failed')
    expect(await module.locator('.why').innerText()).toBe('the trial failed')
  })

  it('filters by state, searches, sorts', async () => {
    const names = ['alpha', 'beta', 'gamma']
    await using admin = await FakeAdmin.start([
      ...names.map((name, i) => circuit(name, { refused: i })),
      circuit('zeta', { state: 'open', failures: { quota_exhausted: 1 } }),
    ])
    await using person = await visit(admin.url)
    const { page } = person
    const shown = () => page.locator('main li h2').allInnerTexts()
    await person.module('alpha').waitFor()
    expect(await shown()).toEqual(['zeta', 'alpha', 'beta', 'gamma'])
    await page.getByRole('combobox', { name: 'Order' }).selectOption('most calls saved first')
    expect(await shown()).toEqual(['gamma', 'beta', 'alpha', 'zeta'])
    await page.getByRole('radio', { name: 'closed 3' }).check()
    await page.getByRole('searchbox').fill('a m')
    expect(await shown()).toEqual(['gamma'])
    await page.getByRole('searchbox').fill('quota')
    await page.getByText('No circuit fits.').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    expect(await shown()).toHaveLength(4)
  })

  it('says what to do where no circuit was used yet, and shows the first one by itself', async () => {
    await using admin = await FakeAdmin.start()
    await using person = await visit(admin.url)
    await person.page.getByRole('heading', { level: 1, name: 'No circuit has been used yet.' }).waitFor()
    await person.page.getByText(/appears here with the first call/).waitFor()
    admin.circuits.set('first', circuit('first'))
    await person.module('first').waitFor()
  })

  it('shows 200 circuits quickly, and changes of one without drawing the others', async () => {
    const states = ['closed', 'closed', 'degraded', 'open'] as const
    await using admin = await FakeAdmin.start(
      Array.from({ length: 200 }, (_, i) => circuit(`bucket-${i}`, { state: states[i % 4] ?? 'closed' })),
    )
    const begun = systemClock.now()
    await using person = await visit(admin.url)
    await person.module('bucket-199').waitFor()
    expect(systemClock.now() - begun).toBeLessThan(5000)
    expect(await person.page.locator('main li').count()).toBe(200)
    await person.page.evaluate(WATCH_MODULES)
    admin.circuits.set('bucket-1', circuit('bucket-1', { late: 7, since: now() - 1000 }))
    await person.module('bucket-1').getByText('for 1 s').waitFor()
    expect(await person.page.evaluate('[...drawn]')).toEqual(['bucket-1'])
    expect(person.faults).toEqual([])
  })

  it('shows hostile names, reasons and kinds as what they are: text', async () => {
    const name = '<img src=x onerror="document.title=\'stolen\'">'
    const reason = '</p><script>document.title="stolen"</script>'
    await using admin = await FakeAdmin.start([
      circuit(name, { targets: ['../../<b>'], failures: { '<i>kind</i>': 1 } }),
      circuit('held', { held: true, hold: { by: '<u>eve</u>', reason, until: null } }),
      circuit('%2e%2e/..?#&', { state: 'open', explain: '<svg onload=alert(1)>' }),
    ])
    admin.change(name, { to: 'open', why: reason, by: '<b>eve</b>', reason })
    await using person = await visit(admin.url)
    await person.module(name).getByText('<i>kind</i>').waitFor()
    await person.module('held').getByText(`“${reason}”`).waitFor()
    await person.open(name)
    await person.page.getByText('<b>eve</b>').waitFor()
    await person.page.getByRole('link', { name: 'Board', exact: true }).click()
    await person.open('%2e%2e/..?#&')
    await person.page.getByText('<svg onload=alert(1)>').waitFor()
    expect(await person.page.title()).not.toContain('stolen')
    expect(await person.page.locator('script:not([src]), img, main i, main u').count()).toBe(0)
    expect(person.faults).toEqual([])
  })
})
