import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { withoutNetwork } from './held-reads.ts'
import { memberPage } from './member-page.ts'

const REFUSED = { status: 422, json: {} }

/** Beside every dialog. */
const BESIDE = { x: 5, y: 5 }

async function erase(page: Page, names: string[]): Promise<void> {
  for (const name of names) await page.getByLabel(`Select ${name}`).check()
  await page.getByRole('button', { name: 'Erase…' }).click()
}

const archiveOf = async (page: Page, name: string) => {
  await page.getByRole('button', { name: `More about ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Archive the list…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive the list' }).click()
}

const unreached = (site: () => Site) =>
  test('that asks before a write says that the server cannot be reached, and once it was cancelled nothing is written', async () => {
    const { id } = await site().api('POST', 'lists', { name: 'Stays', type: 'static' })
    await using opened = await memberPage(site(), `/p/1/lists/${id}`)
    const { page } = opened
    await page.getByRole('button', { name: 'More about Stays' }).waitFor()
    const writes: string[] = []
    page.on('response', (response) => void (response.request().method() === 'DELETE' && writes.push(response.url())))
    {
      await using _ = await withoutNetwork(page)
      await archiveOf(page, 'Stays')
      await page.getByRole('dialog').getByRole('alert').getByText('The server cannot be reached').first().waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    }
    // What is written later is written after whatever was waiting for the network.
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await archiveOf(page, 'Stays')
    await page.waitForURL(/\/lists$/)
    expect(writes).toHaveLength(1)
  })

const held = (site: () => Site) =>
  test('that asks before a write cannot be closed while it is written', async () => {
    const { id } = await site().api('POST', 'lists', { name: 'Being archived', type: 'static' })
    await using opened = await memberPage(site(), `/p/1/lists/${id}`)
    const { page } = opened
    const dialog = page.getByRole('dialog')
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(/\/lists\/\d+$/, async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue()
      asked.resolve()
      await released.promise
      await route.fulfill(REFUSED)
    })
    await archiveOf(page, 'Being archived')
    await asked.promise
    await page.keyboard.press('Escape')
    await page.mouse.click(BESIDE.x, BESIDE.y)
    const closing = ['Cancel', 'Close'].map((name) => dialog.getByRole('button', { name }).isDisabled())
    expect(await Promise.all(closing)).toEqual([true, true])
    released.resolve()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await site().api('DELETE', `lists/${id}`)
  })

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

    unreached(site)
    held(site)
  })
