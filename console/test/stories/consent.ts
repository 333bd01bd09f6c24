import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const consent = (site: () => Site) =>
  describe('consent', () => {
    test('addresses are suppressed by hand, found, and lifted after a confirmation', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/suppressions`)
      await page.getByRole('button', { name: 'Suppress addresses' }).first().click()
      await page.getByRole('dialog').getByLabel('Email addresses, one per line').fill('lee@example.net\nkim@example.net')
      await page.getByRole('dialog').getByRole('button', { name: 'Suppress 2 addresses' }).click()
      await page.getByText('2 addresses have been suppressed.').waitFor()
      await page.getByLabel('Search for an address').fill('lee@example.net')
      await page.waitForURL(/q=lee/)
      await page.getByRole('button', { name: 'Lift the suppression of lee@example.net' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Lift the suppression' }).click()
      await page.getByText('lee@example.net is no longer suppressed.').waitFor()
      const stored = (await site().api('GET', 'suppressions')).results.map(({ address }: { address: string }) => address)
      expect(stored).toContain('kim@example.net')
      expect(stored).not.toContain('lee@example.net')
    })

    test('a subscription type is created and changed, and the change can be undone', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/subscriptions`)
      await page.getByRole('button', { name: 'Create a type' }).first().click()
      await page.getByRole('dialog').getByLabel('Name').fill('Harvest news')
      await page.getByRole('dialog').getByRole('button', { name: 'Create the type' }).click()
      await page.getByRole('button', { name: 'Change Harvest news' }).click()
      await page.getByRole('dialog').getByLabel('Confirmed opt-in').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      const stored = async () =>
        (await site().api('GET', 'subscriptions')).results.find(({ name }: { name: string }) => name === 'Harvest news')
          .requires_confirmation
      await page.getByText('Harvest news has been changed.').waitFor()
      expect(await stored()).toBe(true)
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect.poll(stored).toBe(false)
    })
  })
