import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { inspect } from '../../src/adapters/inspect/index.ts'
import { createSwitchgear } from '../../src/index.ts'
import { partsOf } from '../adapters/inspect-support.ts'
import { hasBrowser, useBrowser } from '../dashboard/browser.ts'
import { FakeAdmin, circuit } from '../dashboard/fake-admin.ts'
import { never, status } from '../support/rig.ts'
import { chartFaultsOf, faintWordsOf } from './drawing-faults.ts'
import { picturesOn } from './measured.ts'

describe.skipIf(!hasBrowser)('the charts of the pages', () => {
  const visit = useBrowser()
  const look = useBrowser('inspector')
  const chartsOn = async (page: Page) =>
    (await picturesOn(page)).filter(({ nodes }) => Object.keys(nodes).length > 0)

  it('the dashboard shows it sound, by day and by night', async () => {
    await using admin = await FakeAdmin.start([circuit('a', { state: 'open' })])
    for (const colorScheme of ['light', 'dark'] as const) {
      await using person = await visit(admin.url, { colorScheme })
      await person.open('a')
      await person.page.locator('[id="state:breaker.open.cooling"].lit').waitFor()
      const [chart] = await chartsOn(person.page)
      expect(chartFaultsOf(chart!)).toEqual([])
      expect(faintWordsOf(chart!)).toEqual([])
    }
  })

  it('the page of the actors shows each of them sound, by day and by night', async () => {
    const gear = createSwitchgear<string, string>({
      targets: [
        { name: 'fails', invoke: () => Promise.reject(status(503)), maxRetries: 0, circuitBreaker: true },
        { name: 'hangs', invoke: never, circuitBreaker: true },
      ],
    })
    await using inspection = await inspect(gear)
    const { origin, token } = partsOf(inspection.url)
    void gear.call('request').catch(() => {})
    for (const colorScheme of ['light', 'dark'] as const) {
      await using person = await look(origin, { path: `/#token=${token}`, colorScheme })
      for (const name of ['supervisor', 'hangs', /call-1/]) {
        await person.page.getByRole('button', { name }).first().click()
        await person.page.locator('.chart .lit').first().waitFor()
        const [chart] = await chartsOn(person.page)
        expect(chartFaultsOf(chart!)).toEqual([])
        expect(faintWordsOf(chart!)).toEqual([])
      }
    }
  })
})
