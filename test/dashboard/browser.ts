import { existsSync } from 'node:fs'

import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'

import { buildPage } from './build-page.ts'
import { TOKEN } from './fake-admin.ts'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const hasBrowser = existsSync(CHROMIUM)

/** A built page and a browser for the tests of this file. */
export function useBrowser(
  page?: Parameters<typeof buildPage>[0],
): (url: string, options?: VisitOptions) => Promise<Visit> {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (!hasBrowser) return
    await buildPage(page)
    browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS })
  })
  afterAll(() => browser?.close())
  return (url, options) => {
    if (browser === undefined) throw new Error(`There is no ${CHROMIUM}.`)
    return Visit.begin(browser, url, options)
  }
}

interface VisitOptions extends BrowserContextOptions {
  /** What stands behind the address of the gateway. Default: signed in by `#token=…`. */
  readonly path?: string
}

/** A person before the page, and everything that the browser complained about meanwhile. */
export class Visit implements AsyncDisposable {
  readonly page: Page
  readonly faults: string[] = []
  readonly requests: string[] = []

  private constructor(page: Page) {
    this.page = page
    // of the tabs, too, that this one opens
    const context = page.context()
    context.setDefaultTimeout(10_000)
    context.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.faults.push(message.text())
    })
    context.on('weberror', (error) => this.faults.push(String(error.error())))
    context.on('request', (request) => this.requests.push(request.url()))
  }

  static async begin(
    browser: Browser,
    url: string,
    { path = `/#token=${TOKEN}`, ...options }: VisitOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    const visit = new Visit(await context.newPage())
    await visit.page.goto(`${url}${path}`)
    return visit
  }

  /** The module of a circuit on the board. */
  module(name: string) {
    return this.page
      .getByRole('listitem')
      .filter({ has: this.page.getByRole('heading', { name, exact: true }) })
  }

  /** Goes to the page of a circuit by its module. */
  async open(name: string): Promise<void> {
    await this.page.getByRole('link', { name, exact: true }).first().click()
    await this.page.getByRole('heading', { level: 1, name }).waitFor()
  }

  /** The tab that this opens. */
  async newTab(open: () => Promise<void>): Promise<Page> {
    const [page] = await Promise.all([this.page.context().waitForEvent('page'), open()])
    await page.waitForLoadState()
    return page
  }

  /** The requests that left the gateway's own address. */
  foreign(url: string): string[] {
    return this.requests.filter((request) => !request.startsWith(url))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
  }
}

/** What axe finds on the page as it stands, in either theme. */
export async function complaints(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as AxeResults
    for (const { id, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${id} (${colorScheme}): ${target.join(' ')} ${failureSummary}`)
  }
  return found
}
