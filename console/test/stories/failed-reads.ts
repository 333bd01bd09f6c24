import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const REFUSED = { status: 422, json: {} }

const checklist = (site: () => Site) =>
  test('once is read again, where what is done elsewhere appears by itself', async () => {
    await using opened = await memberPage(site(), '/p/1')
    const { page } = opened
    await page.getByRole('heading', { level: 2, name: 'Set up' }).waitFor()
    let tries = 0
    await page.route(/\/api\/client\/schema\/events/, (route) => route.fulfill(REFUSED).then(() => tries++))
    await expect.poll(() => tries, { timeout: 60_000 }).toBeGreaterThan(2)
  })

const homeOnce = (site: () => Site) =>
  test('of Home is not asked for again and again, so that what is said stays', async () => {
    await using opened = await memberPage(site(), '/livez')
    const { page } = opened
    await page.clock.install()
    let tries = 0
    await page.route(/\/api\/client\/overview/, (route) => route.fulfill(REFUSED).then(() => tries++))
    await page.goto('/p/1')
    await page.getByRole('alert').filter({ hasText: 'The server answered 422.' }).waitFor()
    await page.clock.runFor(60_000)
    expect(tries).toBe(1)
  })

/** A screen that knows nothing does not look like one where all is well. */
export const failedReads = (site: () => Site) =>
  describe('what cannot be read', () => {
    test.each([
      { what: 'the problems', path: '/p/1', reads: /\/api\/client\/overview/, shown: 'Set up' },
      { what: 'what is left to set up', path: '/p/1', reads: /\/api\/client\/schema\/events/, shown: 'Set up' },
      { what: 'the lists of imports', path: '/p/1/imports', reads: /\/api\/client\/lists\?/, shown: 'into this list yet' },
    ])('is said, and read again when asked: $what', async ({ path, reads, shown }) => {
      await using opened = await memberPage(site(), '/livez')
      const { page } = opened
      await page.route(reads, (route) => route.fulfill(REFUSED))
      await page.goto(path)
      const failed = page.getByRole('alert').filter({ hasText: 'The server answered 422.' })
      await failed.waitFor()
      await page.unroute(reads)
      await failed.getByRole('button', { name: 'Try again' }).click()
      await failed.waitFor({ state: 'detached' })
      await page.getByText(shown).first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    })

    checklist(site)
    homeOnce(site)
  })
