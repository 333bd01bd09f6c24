import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const schema = (site: () => Site) =>
  describe('attributes and events', () => {
    test('show what was sent, and admins hide an attribute from every key', async () => {
      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'kettle_descaled', data: { minutes: 12 } }])
      const found = async () => (await site().api('GET', 'schema/events?q=kettle')).results.length
      await expect.poll(found).toBe(1)
      await using opened = await memberPage(site(), '/p/1/schema')
      const { page } = opened
      const readers = page.getByLabel(/^Who can read /).first()
      await readers.selectOption('No one')
      await page.getByText(/^Who can read .+ is saved\.$/).waitFor()
      const [{ key }] = (await site().api('GET', 'attributes')).results.filter(({ hidden }: { hidden: boolean }) => hidden)
      await page.reload()
      const ofKey = page.getByLabel(`Who can read ${key}`)
      await expect.poll(() => ofKey.inputValue()).toBe('hidden')
      await ofKey.selectOption('Everyone')
      await expect
        .poll(async () => (await site().api('GET', 'attributes')).results.some(({ hidden }: { hidden: boolean }) => hidden))
        .toBe(false)
      await page.getByRole('button', { name: 'Events', exact: true }).click()
      await page.getByRole('searchbox', { name: 'Search names of events' }).fill('kettle')
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
      await page.getByText('data.minutes (number)').waitFor()
      await page.getByRole('link', { name: 'kettle_descaled' }).click()
      const days = page.getByRole('complementary', { name: 'kettle_descaled by day' })
      await days.getByText(/^1 in the last 30 days\. Most on .+: 1\.$/).waitFor()
      await days.getByRole('button', { name: '7 days' }).click()
      await days.getByText(/^1 in the last 7 days\./).waitFor()
      await days.getByText('By day, as a table').click()
      await expect.poll(() => days.getByRole('row').count()).toBe(8)
      await page.reload()
      await days.getByText(/^1 in the last 7 days\./).waitFor()
      await page.keyboard.press('Escape')
      await days.waitFor({ state: 'detached' })
      expect(await page.evaluate('document.activeElement.textContent')).toBe('kettle_descaled')
    })
  })
