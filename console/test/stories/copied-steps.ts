import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'
import { fullStorage } from './not-lost.ts'

const UNOWNED = 'carillon.copied-steps.1'

export const copiedSteps = (site: () => Site) =>
  describe('copied steps', () => {
    test('that belong to no member are removed, and a browser without room for others says so', async () => {
      const { id } = await site().api('POST', 'journeys', { name: 'Copied' })
      await site().api('PUT', `journeys/${id}/steps`, { in: { x: 0, y: 0, type: 'entrance', data: { trigger: 'api' }, children: [] } })
      await using opened = await memberPage(site(), '/livez')
      const { page } = opened
      await page.evaluate(`localStorage.setItem('${UNOWNED}', '{"in":{"data":{"headers":{"x-key":{"secret":"sk_live"}}}}}')`)
      await page.goto(`/p/1/journeys/${id}`)
      const entrance = page.getByRole('treeitem', { name: /Enter/ })
      await entrance.press('Control+c')
      await page.getByText('1 step copied.', { exact: false }).waitFor()
      expect(await page.evaluate(`localStorage.getItem('${UNOWNED}')`)).toBe(null)
      await page.evaluate(
        'for (const key of Object.keys(localStorage)) if (key.startsWith("carillon.copied-steps")) localStorage.removeItem(key)',
      )
      await using _ = await fullStorage(page)
      await entrance.press('Control+c')
      await page.getByText('The steps were not copied', { exact: false }).waitFor()
    })
  })
