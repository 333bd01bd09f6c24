import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const keys = (site: () => Site) =>
  describe('API keys', () => {
    test('are shown once when they are created, and refused when they were archived', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/keys`)
      await page.getByRole('button', { name: 'Create a key' }).click()
      await page.getByRole('dialog').getByLabel('Name').first().fill('Checkout server')
      await page.getByRole('button', { name: 'Create the key' }).click()
      const value = (await page.locator('pre').first().textContent()) ?? ''
      const status = async () => (await fetch(`${site().url}/api/client/users`, { headers: { authorization: `Bearer ${value}` } })).status
      expect(await status()).toBe(200)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      expect(await page.getByText(value).count()).toBe(0)
      await page.getByRole('button', { name: 'Edit the key Checkout server' }).click()
      await page.getByRole('dialog').getByLabel('Name').first().fill('Till')
      await page.getByRole('button', { name: 'Save the key' }).click()
      await page.getByText('Till has been changed.').waitFor()
      expect(await status()).toBe(200)
      await page.getByRole('link', { name: 'Requests with the key Till' }).waitFor()
      await page.getByRole('button', { name: 'Archive the key Till' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Archive the key' }).click()
      await page.getByText('Till has been archived.').waitFor()
      await expect.poll(status).toBe(401)
    })
  })
