import { describe, expect, it } from 'vitest'

import { systemClock } from '../../src/core/clock.ts'
import { complaints, hasBrowser, useBrowser } from './browser.ts'
import { FakeAdmin, circuit } from './fake-admin.ts'

const now = systemClock.wall
const hold = { by: 'alice', reason: 'maintenance', until: null }
const board = () => [
  circuit('down', { state: 'open', openUntil: now() + 60_000, failures: { timeout: 3 } }),
  circuit('trying', { state: 'half-open' }),
  circuit('near', { state: 'degraded' }),
  circuit('kept', { state: 'open', held: true, hold }),
  circuit('flowing', { held: true, hold }),
  circuit('well', { model: 'gpt-5' }),
]

describe.skipIf(!hasBrowser)('everybody', () => {
  const visit = useBrowser()

  it('can read every page in either theme, as axe sees it', async () => {
    await using admin = await FakeAdmin.start(board())
    admin.change('down', { to: 'open', why: '5 failures in a row' })
    admin.change('well', { to: 'degraded', why: 'near the threshold' })
    await using person = await visit(admin.url, { reducedMotion: 'reduce' })
    const { page } = person
    await person.module('down').waitFor()
    expect(await complaints(page)).toEqual([])
    await page.getByRole('checkbox', { name: 'Compact' }).check()
    expect(await complaints(page)).toEqual([])
    for (const name of ['down', 'kept', 'flowing', 'trying', 'near']) {
      await page.goto(`${admin.url}/#/circuits/${name}`)
      await page.locator('.chart .lit').first().waitFor()
      expect(await complaints(page), name).toEqual([])
    }
    await page.getByRole('button', { name: 'Hold …' }).click()
    await page.getByRole('button', { name: 'Hold closed' }).click()
    expect(await complaints(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.getByRole('heading', { level: 1, name: 'Timeline' }).waitFor()
    expect(await complaints(page)).toEqual([])
    admin.isRefusing = true
    admin.cut()
    await page.getByText(/Connection lost/).waitFor()
    expect(await complaints(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin token').waitFor()
    expect(await complaints(page)).toEqual([])
  })

  it('can choose the theme, which is kept', async () => {
    await using admin = await FakeAdmin.start(board())
    await using person = await visit(admin.url, { colorScheme: 'light' })
    const paper = () => person.page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    await person.module('well').waitFor()
    const light = await paper()
    await person.page.getByRole('combobox', { name: 'Theme' }).selectOption('theme: dark')
    const dark = await paper()
    expect(dark).not.toBe(light)
    await person.page.reload()
    await person.module('well').waitFor()
    expect(await paper()).toBe(dark)
    await person.page.getByRole('combobox', { name: 'Theme' }).selectOption('theme: auto')
    expect(await paper()).toBe(light)
  })

  it('can do everything by the keyboard, and sees where the focus is', async () => {
    await using admin = await FakeAdmin.start(board())
    await using person = await visit(admin.url, { reducedMotion: 'reduce' })
    const { page } = person
    await person.module('down').waitFor()
    const focused = () => page.evaluate('document.activeElement.innerText.trim()')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the circuits')
    await page.keyboard.press('Enter')
    expect(await focused()).toMatch(/2 of 6 circuits are open/)
    for (let i = 0; i < 5; i++) await page.keyboard.press('Tab')
    expect(await focused()).toBe('down')
    const outline = await page.evaluate("getComputedStyle(document.activeElement.closest('li')).outlineStyle")
    expect(outline).toBe('solid')
    await page.keyboard.press('ArrowRight')
    expect(await focused()).toBe('trying')
    await page.keyboard.press('End')
    expect(await focused()).toBe('well')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'down' }).waitFor()
    expect(await focused()).toBe('down')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Open …')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('by hand')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(admin.commands).toEqual([{ path: '/admin/circuits/down/open', body: { reason: 'by hand' } }])
  })

  it('comes back to the module that was left', async () => {
    await using admin = await FakeAdmin.start(board())
    await using person = await visit(admin.url)
    await person.open('near')
    await person.page.goBack()
    await person.module('near').waitFor()
    expect(await person.page.evaluate('document.activeElement.innerText')).toBe('near')
  })

  it('is not moved to and fro who does not want it', async () => {
    await using admin = await FakeAdmin.start(board())
    await using person = await visit(admin.url, { reducedMotion: 'reduce' })
    await person.module('trying').waitFor()
    expect(await person.page.evaluate('document.getAnimations().length')).toBe(0)
    await person.open('trying')
    await person.page.locator('.chart .lit').first().waitFor()
    expect(await person.page.evaluate('document.getAnimations().length')).toBe(0)
  })

  it('can use it on a phone without scrolling sideways', async () => {
    await using admin = await FakeAdmin.start([
      ...board(),
      circuit('a-name-without-any-place-to-break-it-'.repeat(4)),
    ])
    await using person = await visit(admin.url, { viewport: { width: 360, height: 720 } })
    const sideways = () => person.page.evaluate('document.documentElement.scrollWidth - innerWidth')
    await person.module('down').waitFor()
    expect(await sideways()).toBe(0)
    await person.open('down')
    await person.page.locator('.chart .lit').first().waitFor()
    expect(await sideways()).toBe(0)
  })
})
