import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const tools = (site: () => Site) =>
  describe('tools', () => {
    test('check a phone number, score a text, test a connection and generate data', async () => {
      await using opened = await memberPage(site(), '/p/1/tools')
      const { page } = opened
      await page.getByRole('textbox', { name: 'Phone number' }).fill('+61 491 570 156')
      await page.getByRole('button', { name: 'Check the number' }).click()
      await page.getByText('+61491570156 is a mobile number of AU (+61).').waitFor()
      await page.getByLabel('English text').fill('The beans are wonderful and the cup is awful.')
      await page.getByRole('button', { name: 'Score it' }).click()
      await page.getByText('wonderful', { exact: true }).waitFor()
      // A name that never resolves (RFC 6761), so that the test connects to nothing.
      await page.getByLabel('Host or IP address').fill('mail.invalid')
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByText('The name does not resolve to an address.').waitFor()
      await page.getByLabel('Seed').fill('magpie')
      await page.getByRole('button', { name: 'Generate' }).click()
      await page.getByText('"seed": "magpie"').waitFor()
    })

    test('make users that do not exist, with addresses that no email reaches', async () => {
      await using opened = await memberPage(site(), '/p/1/tools')
      const { page } = opened
      await page.getByLabel('Number of users').fill('7')
      await page.getByRole('button', { name: 'Create 7 users' }).click()
      await page.getByText('7 users have been created.').waitFor()
      const made = async () =>
        (await site().api('GET', 'users?limit=100')).results.filter(({ data }: { data: { is_sample?: boolean } }) => data.is_sample)
      await expect.poll(async () => (await made()).length).toBe(7)
      for (const { email, phone, data } of await made()) {
        expect([email, phone]).toEqual([expect.stringMatching(/@example\.(com|net|org)$/), null])
        expect(data.first_name).toMatch(/\S/)
      }
    })
  })
