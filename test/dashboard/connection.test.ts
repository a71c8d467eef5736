import { describe, expect, it } from 'vitest'

import { hasBrowser, useBrowser } from './browser.ts'
import { FakeAdmin, TOKEN, circuit } from './fake-admin.ts'

describe.skipIf(!hasBrowser)('signing in', () => {
  const visit = useBrowser()

  it('takes the token out of the address at once, and keeps it for the tab alone', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.module('a').waitFor()
    expect(person.page.url()).toBe(`${admin.url}/`)
    expect(await person.page.evaluate('history.length')).toBeLessThanOrEqual(2)
    expect(await person.page.evaluate('JSON.stringify(localStorage) + document.cookie')).not.toContain(TOKEN)
    expect(person.requests.filter((request) => request.includes(TOKEN))).toEqual([])
    await person.page.reload()
    await person.module('a').waitFor()
    const other = await person.page.context().newPage()
    await other.goto(admin.url)
    await other.getByLabel('Admin token').waitFor()
  })

  it('asks for a token, says what is wrong with it, and goes on with a right one', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url, { path: '/#/circuits/a' })
    const { page } = person
    await page.getByLabel('Admin token').fill('a-wrong-token')
    await page.getByRole('button', { name: 'Open the panel' }).click()
    await page.getByRole('alert').getByText('This is not a token of this gateway.').waitFor()
    await page.getByLabel('Admin token').fill('tökén with spaces')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/A token is one word/)
      .waitFor()
    await page.getByLabel('Admin token').fill(` ${TOKEN} `)
    await page.keyboard.press('Enter')
    // where the address had pointed to
    await page.getByRole('heading', { level: 1, name: 'a' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin token').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(await page.getByText('Opens on').count()).toBe(0)
  })

  it('says so where the gateway does not answer', async () => {
    const admin = await FakeAdmin.start()
    await using person = await visit(admin.url, { path: '' })
    await admin.close()
    await person.page.getByLabel('Admin token').fill(TOKEN)
    await person.page.keyboard.press('Enter')
    await person.page
      .getByRole('alert')
      .getByText(/The gateway does not answer/)
      .waitFor()
  })

  it('asks again once the token is out of use', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.module('a').waitFor()
    admin.token = 'another-token'
    admin.cut()
    await person.page.getByRole('alert').getByText('This is not a token of this gateway.').waitFor()
    await person.page.getByLabel('Admin token').waitFor()
  })
})

describe.skipIf(!hasBrowser)('the connection', () => {
  const visit = useBrowser()

  it('is said to be lost, with the time of the data, which stand still until it is there again', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    const { page } = person
    await page.getByText('live', { exact: true }).waitFor()
    admin.isRefusing = true
    admin.cut()
    await page.getByText(/Connection lost, showing data of \d\d:\d\d:\d\d\./).waitFor()
    await page.getByText('not connected').waitFor()
    const frozen = await person.module('a').innerText()
    await page.getByText(/Next try in 2 s|Next try in 4 s/).waitFor()
    expect(await person.module('a').innerText()).toBe(frozen)
    admin.isRefusing = false
    admin.change('a', { to: 'open', why: 'missed while away' })
    await page.getByRole('button', { name: 'Try now' }).click()
    await person.module('a').getByText('open', { exact: true }).waitFor()
    await person.module('a').getByText('missed while away').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    expect(await page.getByText(/Connection lost/).count()).toBe(0)
  })

  it('comes back by itself', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.page.getByText('live', { exact: true }).waitFor()
    admin.cut()
    await person.page.getByText('not connected').waitFor()
    await person.page.getByText('live', { exact: true }).waitFor()
  })

  it('is lost, too, where it stands but nothing comes any more', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit('about:blank', { path: '' })
    const { page } = person
    await page.clock.install()
    await page.goto(`${admin.url}/#token=${TOKEN}`)
    await page.getByText('live', { exact: true }).waitFor()
    admin.isSilent = true
    admin.isRefusing = true
    await page.clock.runFor(14_000)
    await page.getByText(/Connection lost/).waitFor()
  })

  it('lets nobody act while it is lost', async () => {
    await using admin = await FakeAdmin.start([circuit('a')])
    await using person = await visit(admin.url)
    await person.open('a')
    admin.isRefusing = true
    admin.cut()
    await person.page.getByText('Commands wait for the connection.').waitFor()
    expect(await person.page.getByRole('button', { name: 'Open …' }).isDisabled()).toBe(true)
  })
})
