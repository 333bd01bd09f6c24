import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'
import { OF_API } from './of-api.ts'

export const listIndex = (site: () => Site) =>
  describe('the index of lists', () => {
    test('a list that was archived comes back with Undo, and later from the archived ones, as campaigns and journeys do', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Winter', type: 'static' })
      await using opened = await memberPage(site(), `/p/1/lists/${id}`)
      const { page } = opened
      const archive = async () => {
        await page.getByRole('button', { name: 'More about Winter' }).click()
        await page.getByRole('menuitem', { name: 'Archive the list…' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Archive the list' }).click()
        await page.getByText('Winter has been archived.').waitFor()
      }
      await archive()
      expect((await site().api('GET', 'lists?archived=true')).results).toMatchObject([{ id }])
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Winter has been restored.').waitFor()
      await page.getByRole('link', { name: 'Winter' }).click()
      await archive()
      await page.getByRole('button', { name: 'Archived' }).click()
      await page.getByRole('menuitem', { name: 'shown' }).click()
      await page.getByRole('button', { name: 'Restore Winter' }).click()
      await page.getByText('No match.').waitFor()
      expect((await site().api('GET', 'lists?archived=true')).results).toEqual([])
      const { results: types } = await site().api('GET', 'subscriptions?q=email')
      for (const [kind, body] of [
        ['campaigns', { type: 'blast', name: 'Frost', subscription_id: types[0].id }],
        ['journeys', { name: 'Frost' }],
      ] as const) {
        const made = await site().api('POST', kind, body)
        await site().api('DELETE', `${kind}/${made.id}`)
        await page.goto(`/p/1/${kind}?show=archived`)
        await page.getByRole('button', { name: 'Restore Frost' }).click()
        await page.getByText('Frost has been restored.').waitFor()
        expect((await site().api('GET', `${kind}?q=Frost`)).results).toMatchObject([{ id: made.id }])
        await site().api('DELETE', `${kind}/${made.id}`)
      }
    })

    test('lists are filtered by a tag, and show how their size went', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Tagged', type: 'static', tags: ['spring'] })
      await using opened = await memberPage(site(), '/p/1')
      const { page } = opened
      // The server stores sizes once a day.
      const days = [4, 2].map((ago) => ({ day: new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10), users: ago }))
      await page.route('**/api/client/lists/sizes?*', (route) =>
        route.fulfill({ headers: OF_API, json: { since: '', results: [{ list_id: id, days }] } }),
      )
      await page.goto('/p/1/lists')
      await page.getByRole('button', { name: 'Tag', exact: true }).click()
      await page.getByRole('menuitem', { name: 'spring' }).click()
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
      const trend = page.getByRole('row', { name: 'Tagged' }).getByRole('img', { name: /^-4 since .+: 4 users then, 0 now$/ })
      expect(await trend.locator('polyline').getAttribute('points')).toMatch(/^2\d\.\d,1\.0 .*30\.0,19\.0$/)
    })
  })
