import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const openIn = (page: Page) => new URL(page.url()).searchParams.get('request')

/** Newer requests take the place of the one that is open, of which the server keeps some in a second. */
const pushOffThePage = (page: Page) =>
  page.route(/\/api\/client\/requests\?/, async (route) => {
    const response = await route.fetch()
    const reply = await response.json()
    const results = reply.results.filter(({ id }: { id: number }) => String(id) !== openIn(page))
    await route.fulfill({ response, json: { ...reply, results } })
  })

export const apiLog = (site: () => Site) =>
  describe('the API log', () => {
    test('shows a request as soon as it was made, without what is personal, and runs it again', async () => {
      // One that is among the latest, however many requests other stories made.
      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'bean_picked' }])
      await using opened = await memberPage(site(), '/p/1/api-log')
      const { page } = opened
      const events = page.getByRole('link', { name: 'POST /api/client/events' })
      await events.first().waitFor()
      const before = await events.first().getAttribute('id')
      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'bean_roasted', data: { secret: 'arabica' } }])
      await expect.poll(() => events.first().getAttribute('id'), { timeout: 20_000 }).not.toBe(before)
      await events.first().click()
      const drawer = page.getByRole('complementary', { name: /^Request/ })
      await drawer.getByText('bean_roasted').waitFor()
      expect(await drawer.textContent()).not.toMatch(/sample-2|arabica/)
      await drawer.getByText('Fill them in before you run the request again.').waitFor()
      await drawer.getByRole('button', { name: 'Run again' }).click()
      await page.getByRole('menuitem', { name: /curl/ }).waitFor()
      await page.keyboard.press('Escape')
      await pushOffThePage(page)
      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'bean_ground' }])
      await page.locator(`#request-${openIn(page)}`).waitFor({ state: 'detached' })
      expect(await drawer.getByText('bean_roasted').isVisible()).toBe(true)
    })
  })
