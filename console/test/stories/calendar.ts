import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const calendar = (site: () => Site) =>
  describe('the calendar of campaigns', () => {
    test('has each on the day on which it begins, and a campaign leads to who changed it', async () => {
      const { results } = await site().api('GET', 'subscriptions')
      const subscription_id = results.find(({ channel }: { channel: string }) => channel === 'email').id
      const campaign = { type: 'blast', name: 'Pi day', subscription_id, send_at: '2031-03-14T01:59:00Z' }
      await site().api('POST', 'campaigns', campaign)
      await using opened = await memberPage(site(), '/p/1/campaigns')
      const { page } = opened
      await page.getByRole('button', { name: 'Calendar' }).click()
      await page.waitForURL(/view=calendar/)
      await page.locator('td[aria-current="date"]').waitFor()
      await page.goto(`${page.url()}&month=2031-03`)
      const day = page.getByRole('cell', { name: /Friday,? 14 March/ })
      await day.getByText('1:59 am').waitFor()
      await page.getByRole('button', { name: 'Next month' }).click()
      await page.getByText('No campaigns start this month.').waitFor()
      await page.getByRole('button', { name: 'Previous month' }).click()
      await day.getByRole('link', { name: 'Pi day' }).click()
      await page.getByRole('button', { name: 'More about Pi day' }).click()
      await page.getByRole('menuitem', { name: 'Changes in the audit log' }).click()
      await page.getByRole('row', { name: /campaign\.created.*Pi day/ }).waitFor()
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
    })
  })
