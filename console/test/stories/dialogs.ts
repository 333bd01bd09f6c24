import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const REFUSED = { status: 422, json: {} }

/** Beside every dialog. */
const BESIDE = { x: 5, y: 5 }

async function erase(page: Page, names: string[]): Promise<void> {
  for (const name of names) await page.getByLabel(`Select ${name}`).check()
  await page.getByRole('button', { name: 'Erase…' }).click()
}

/** Each opening of a dialog begins anew, and a secret is not lost with it. */
export const dialogs = (site: () => Site) =>
  describe('a dialog', () => {
    test('that asks to type a number has it typed for each erasure', async () => {
      const users = ['one', 'two', 'three', 'four'].map((name) => ({ external_id: `anew-${name}` }))
      await site().api('POST', 'users/batch', users)
      await using opened = await memberPage(site(), '/p/1/users?q=anew-')
      const { page } = opened
      await erase(page, ['anew-one', 'anew-two'])
      const typed = page.getByLabel('Type 2 to confirm')
      const action = page.getByRole('button', { name: 'Erase 2 users and all of their data' })
      await typed.fill('2')
      await action.click()
      await page.getByText('2 of 2 users are being erased.').waitFor()
      await typed.waitFor({ state: 'detached' })
      await erase(page, ['anew-three', 'anew-four'])
      expect([await typed.inputValue(), await action.isDisabled()]).toEqual(['', true])
    })

    test.each([
      {
        of: 'that asks before a write',
        path: (list: number) => `/p/1/lists/${list}`,
        refused: /\/lists\/\d+$/,
        open: async (page: Page) => {
          await page.getByRole('button', { name: 'More about Refused once' }).click()
          await page.getByRole('menuitem', { name: 'Archive the list…' }).click()
        },
        action: 'Archive the list',
      },
      {
        of: 'that creates something',
        path: () => '/p/1/journeys',
        refused: /\/api\/client\/journeys$/,
        open: async (page: Page) => {
          await page.getByRole('button', { name: 'New journey' }).first().click()
          await page.getByRole('dialog').getByLabel('Name').fill('Refused once')
        },
        action: 'Create the draft',
      },
    ])('$of and was refused is opened again without the error', async ({ path, refused, open, action }) => {
      const { id } = await site().api('POST', 'lists', { name: 'Refused once', type: 'static' })
      await using opened = await memberPage(site(), path(id))
      const { page } = opened
      const dialog = page.getByRole('dialog')
      await page.route(refused, (route) => (route.request().method() === 'GET' ? route.continue() : route.fulfill(REFUSED)))
      await open(page)
      await dialog.getByRole('button', { name: action }).click()
      await dialog.getByText('The server answered 422.').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await open(page)
      await dialog.getByRole('button', { name: action }).waitFor()
      expect(await dialog.getByRole('alert').count()).toBe(0)
      await site().api('DELETE', `lists/${id}`)
    })

    test('that makes a secret stays until the secret was shown and the member has closed it', async () => {
      const input = { name: 'Rotated', url: 'https://hooks.rotated.test/in', event_types: ['delivery.completed'] }
      const { id } = await site().api('POST', 'webhooks', input)
      await using opened = await memberPage(site(), `/p/1/webhooks/${id}`)
      const { page } = opened
      const dialog = page.getByRole('dialog')
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route(/\/rotate-secret$/, async (route) => {
        asked.resolve()
        await released.promise
        await route.continue()
      })
      const leave = async () => {
        await page.keyboard.press('Escape')
        await page.mouse.click(BESIDE.x, BESIDE.y)
      }
      await page.getByRole('button', { name: 'More about Rotated' }).click()
      await page.getByRole('menuitem', { name: 'Replace the signing secret…' }).click()
      await dialog.getByRole('button', { name: 'Create a new secret' }).click()
      await asked.promise
      await leave()
      expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
      released.resolve()
      await dialog.getByText(/^WEBHOOK_SECRET=.+/).waitFor()
      await leave()
      await dialog.getByText(/^WEBHOOK_SECRET=.+/).waitFor()
      await dialog.getByRole('button', { name: 'I have copied it' }).click()
      await dialog.waitFor({ state: 'detached' })
      await site().api('DELETE', `webhooks/${id}`)
    })
  })
