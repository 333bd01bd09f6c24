import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const webhooks = (site: () => Site) =>
  describe('webhooks', () => {
    test('an endpoint is created, gets an example whose signature can be checked by what is shown, and is paused', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/webhooks`)
      await page.getByRole('button', { name: 'Create an endpoint' }).first().click()
      await page.getByRole('dialog').getByLabel('Name').fill('Warehouse')
      await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.warehouse.test/carillon')
      await page.getByRole('dialog').getByLabel('delivery.completed').check()
      await page.getByRole('dialog').getByRole('button', { name: 'All of the group Reports by recipients' }).click()
      await page.getByRole('button', { name: 'Create the endpoint' }).click()
      const secret = (await page.locator('pre').first().textContent()) ?? ''
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('heading', { level: 1, name: 'Warehouse' }).waitFor()
      const [endpoint] = (await site().api('GET', 'webhooks')).results
      expect(endpoint.event_types).toHaveLength(7)

      await page.getByRole('button', { name: 'Send an example' }).click()
      await page.getByRole('button', { name: 'Send the example' }).click()
      await page.getByRole('button', { name: 'Attempt 1' }).waitFor()
      const request = (await page.locator('.drawer pre').first().textContent()) ?? ''
      const [head = '', body = ''] = request.split('\n\n')
      const [, time, signature] = /service-signature: t=(\d+),v1=([0-9a-f]+)/.exec(head) ?? []
      expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'))
      expect(JSON.parse(body)).toMatchObject({ test: true, type: endpoint.event_types[0] })

      await page.getByRole('button', { name: 'More about Warehouse' }).click()
      await page.getByRole('menuitem', { name: 'Pause…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Pause the endpoint' }).click()
      await page.getByText('This endpoint is paused.').waitFor()
      await page.getByRole('button', { name: 'Resume the endpoint' }).click()
      await page.getByText('Warehouse gets events again.').waitFor()
      expect((await site().api('GET', `webhooks/${endpoint.id}`)).status).toBe('active')

      await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
      const row = page.getByRole('row').filter({ hasText: 'Warehouse' })
      await row.getByText('0 % of 1').waitFor()
      await row
        .getByRole('img', { name: /^Some attempts failed in 1 of 1 hours with attempts\. The worst hour began at .+: 0% succeeded\.$/ })
        .waitFor()
    })
  })
