import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const CSV = 'Customer no,email,age\nimported-1,one@example.com,41\nimported-2,not an address,42\nimported-3,three@example.com,43\n'

export const imports = (site: () => Site) =>
  describe('imports', () => {
    test('a file is tried, mapped and imported with its refused rows shown, and undone', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Trade fair', type: 'static' })
      const members = async () => (await site().api('GET', `lists/${id}/users`)).results.length
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/imports/new?list=${id}`)
      await page
        .getByLabel('Choose a CSV file, or drop it here')
        .setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
      await page.getByRole('button', { name: 'Try the file' }).click()
      await page.getByRole('combobox', { name: 'Where Customer no goes' }).fill('external_id')
      await page.getByRole('combobox', { name: 'Where age goes' }).fill('data.age:number')
      await page.getByRole('button', { name: 'Try again with these columns' }).click()
      await page.getByText('not an address').waitFor()
      expect(await members()).toBe(0)
      await page.getByRole('button', { name: 'Import 2 rows' }).click()
      await page.getByRole('button', { name: 'Undo…' }).waitFor()
      expect(await members()).toBe(2)
      expect((await site().api('GET', 'users/imported-3')).data.age).toBe(43)
      await page.getByRole('button', { name: 'Undo…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Undo the import' }).click()
      await page.getByRole('region', { name: 'fair.csv' }).getByText('undone').waitFor()
      expect(await members()).toBe(0)
    })
  })
