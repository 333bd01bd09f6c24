import { readFile } from 'node:fs/promises'
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
      await expect.poll(() => drawer.locator('del').allTextContents()).toEqual(['Before: Old name'])
      expect(await drawer.locator('ins').allTextContents()).toEqual(['After: New name'])
      await drawer.getByRole('link', { name: 'New name' }).click()
      await expect.poll(() => page.url()).toContain('object_id=')
      await expect.poll(() => page.getByRole('row').count()).toBe(3)
      await page.getByRole('button', { name: 'Check the log' }).click()
      await page.getByRole('dialog').getByText('All are unchanged.').waitFor()
    })

    test('is saved as CSV: every page of the chosen filters, with the columns that are shown', async () => {
      const { id } = await site().api('POST', 'lists', { name: '=1+1', type: 'static' })
      const names = Array.from({ length: 101 }, (_, index) => `Größe, "${index}"`)
      for (const name of names) await site().api('PATCH', `lists/${id}`, { name })
      await using opened = await memberPage(site(), `/p/1/audit?object_type=list&object_id=${id}`)
      const { page } = opened
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.waitForURL(/cursor=/)
      await page.getByRole('button', { name: 'More about the audit log' }).click()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Save as CSV' }).click()])
      expect(download.suggestedFilename()).toBe('audit.csv')
      const [head, ...rows] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
      expect(head).toBe('\uFEFFAction,Kind of object,Object,Name,By,Kind of actor,Via,When')
      expect(rows).toHaveLength(102)
      expect(rows[0]).toMatch(/^list\.updated,list,\d+,"Größe, ""100""",.*,API key,API,\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      expect(rows.at(-1)).toMatch(/^list\.created,list,\d+,'=1\+1,/)
      await page.getByText('102 rows have been saved.').waitFor()
    })
  })
