import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const audit = (site: () => Site) =>
  describe('the audit log', () => {
    test('shows who changed what, from which value to which, and that no entry was changed', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Old name', type: 'static' })
      await site().api('PATCH', `lists/${id}`, { name: 'New name' })
      await using opened = await memberPage(site(), '/p/1/audit')
      const { page } = opened
      await page.getByRole('button', { name: 'Kind of object' }).click()
      await page.getByRole('menuitem', { name: 'list', exact: true }).click()
      await page.getByRole('link', { name: 'list.updated' }).first().click()
      const drawer = page.getByRole('complementary', { name: /^Entry/ })
      expect(await drawer.locator('del').allTextContents()).toEqual(['Before: Old name'])
      expect(await drawer.locator('ins').allTextContents()).toEqual(['After: New name'])
      await drawer.getByRole('link', { name: 'New name' }).click()
      await expect.poll(() => page.url()).toContain('object_id=')
      await expect.poll(() => page.getByRole('row').count()).toBe(3)
      await page.getByRole('button', { name: 'Check the log' }).click()
      await page.getByRole('dialog').getByText('All are as they were written.').waitFor()
    })
  })
