import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { copiedRequest, memberPage } from './member-page.ts'

const price = (site: () => Site) =>
  test('the price of a segment is changed key by key, and is the former one when its field is left empty', async () => {
    const made = { name: 'Priced', kind: 'sandbox', channel: 'text', settings: {}, segment_price: { amount: 0.05, currency: 'AUD' } }
    const { id } = await site().api('POST', 'providers', made)
    await using opened = await memberPage(site(), `/p/1/providers/${id}`)
    const { page } = opened
    const amount = page.getByLabel('Price', { exact: true })
    await amount.press('End')
    await amount.press('Backspace')
    await amount.press('7')
    expect(await amount.inputValue()).toBe('0.07')
    await amount.fill('')
    expect(await amount.inputValue()).toBe('')
    await amount.blur()
    expect(await amount.inputValue()).toBe('0.05')
    await amount.fill('0.07')
    await page.getByRole('button', { name: 'Save the settings' }).click()
    await page.getByText('Priced has been changed.').waitFor()
    expect((await site().api('GET', `providers/${id}`)).segment_price).toEqual({ amount: 0.07, currency: 'AUD' })
    await site().api('DELETE', `providers/${id}`)
  })

export const providers = (site: () => Site) =>
  describe('providers', () => {
    test('a provider is added by the schema of its kind, changed without its secret, tested and deleted', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/providers`)
      await page.getByRole('button', { name: 'Add a provider' }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('combobox', { name: 'Channel' }).click()
      await page.getByRole('option', { name: 'Webhook' }).click()
      await dialog.getByRole('combobox', { name: 'Kind' }).click()
      await page.getByRole('option', { name: 'HTTP', exact: true }).click()
      await dialog.getByLabel('Name').fill('Order hook')
      await dialog.getByLabel('Secret', { exact: true }).fill('correct-horse-battery')
      await dialog.getByRole('button', { name: 'Add the provider' }).click()
      await page.getByRole('heading', { level: 1, name: 'Order hook' }).waitFor()
      const id = Number(new URL(page.url()).pathname.split('/').at(-1))
      const stored = () => site().api('GET', `providers/${id}`)
      expect(await stored()).toMatchObject({ kind: 'http', channel: 'webhook', has_secrets: ['secret'] })

      expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toBe('')
      await page.getByRole('switch', { name: 'Limit the rate' }).click()
      await page.getByLabel('Secret', { exact: true }).fill('another-horse-battery')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      await page.getByText('Order hook has been changed.').waitFor()
      const code = await copiedRequest(page, page.getByRole('alert').filter({ hasText: 'Order hook has been changed.' }))
      expect(code).toContain(`curl -X PATCH "${site().url}/api/client/providers/${id}"`)
      expect(code).toContain('"secret": "[secret]"')
      expect(await stored()).toMatchObject({ rate: { limit: 100, interval_seconds: 1 }, has_secrets: ['secret'] })

      await page.getByRole('button', { name: 'Test the connection' }).click()
      await page.getByText('It works.').waitFor()

      // With a provider the project is a live one, which later stories do not expect.
      await page.getByRole('button', { name: 'More about Order hook' }).click()
      await page.getByRole('menuitem', { name: 'Delete…' }).click()
      await page.getByText(/This is the default provider of its channel, Webhook/).waitFor()
      await page.getByLabel('Type Order hook to confirm').fill('Order hook')
      await page.getByRole('button', { name: 'Delete the provider' }).click()
      await page.getByText('Order hook has been deleted.').waitFor()
      await expect.poll(async () => (await site().api('GET', 'providers')).results).toEqual([])
      await site().api('POST', 'providers', { name: 'Mail relay', kind: 'sandbox', channel: 'email', settings: {} })
    })

    price(site)
  })
