import { describe, expect, test } from 'vitest'
import { createOwner, type Site } from '../site.ts'

export const firstSteps = (site: () => Site) =>
  describe('the first steps', () => {
    test('the link of the first start creates the owner, who sees what is to be set up, with its real state', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await createOwner(site(), page)
      await page.getByText('0 of 6 done').waitFor()
      await page.getByRole('button', { name: 'Add 5 sample users' }).click()
      await page.getByText('1 of 6 done').waitFor()
      expect((await site().api('GET', 'users')).results).toHaveLength(5)
      // What is done elsewhere appears without a reload.
      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'order_placed', data: { total: 64 } }])
      await page.getByText('2 of 6 done').waitFor()
      await context.close()
    })

    test('the link works once, and says so', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto(site().ownerLink)
      await page.getByLabel('Your name').fill('Someone else')
      await page.getByLabel('Email').fill('else@bellbird.test')
      await page.getByLabel('New password').fill('three words that are long')
      await page.getByRole('button', { name: 'Create the owner and sign in' }).click()
      expect(await page.getByRole('alert').textContent()).toContain('used')
      await context.close()
    })
  })
