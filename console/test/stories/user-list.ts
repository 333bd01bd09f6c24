import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { pressOn } from './keyboard.ts'
import { expectNoFaults } from './looks.ts'
import { memberPage } from './member-page.ts'

const SEVERAL = [
  { external_id: 'several-1', email: 'one@several.example.com' },
  { external_id: 'several-2', email: 'two@several.example.com', phone: '+61491570110' },
  { external_id: 'several-3' },
]

/** Makes some users, a static list with the first of them, and a dynamic list. Returns the id of the static one. */
async function severalUsers({ api }: Site): Promise<number> {
  await api('POST', 'users/batch', SEVERAL)
  const { id } = await api('POST', 'lists', { name: 'Several', type: 'static' })
  await api('POST', 'lists', { name: 'Several by rule', type: 'dynamic', rule: { attribute: 'data.tier', is: 'none' } })
  await api('POST', `lists/${id}/users`, { external_ids: ['several-1'] })
  return id
}

/** For each address, how many suppressions it has. */
async function suppressed({ api }: Site): Promise<number[]> {
  const addresses = SEVERAL.flatMap(({ email, phone }) => [email, phone]).filter((address) => address !== undefined)
  const found = await Promise.all(addresses.map((address) => api('GET', `suppressions?q=${encodeURIComponent(address)}`)))
  return found.map(({ results }) => results.length)
}

/** The state of each user for the first subscription type of emails. */
const statesOf = ({ api }: Site): Promise<number[]> =>
  Promise.all(
    SEVERAL.map(async ({ external_id }) => {
      const { results } = await api('GET', `users/${external_id}/subscriptions`)
      return results.find(({ name }: { name: string }) => name === 'Default Email').state
    }),
  )

/** Makes a project of its own: the stories of other screens expect few types and users. Returns its id, and what calls the API in it. */
async function ownProject(site: Site, page: Page, name: string) {
  const call = async (method: 'GET' | 'POST', path: string, data?: unknown, project?: number) => {
    const headers = { origin: site.url, ...(project !== undefined && { 'carillon-project': String(project) }) }
    const reply = await page.request.fetch(`${site.url}/api/client/${path}`, { method, headers, ...(data !== undefined && { data }) })
    expect(reply.ok(), await reply.text()).toBe(true)
    return reply.json()
  }
  const { id } = await call('POST', 'projects', { name, locale: 'en-AU', timezone: 'Australia/Melbourne' })
  return { id: id as number, api: (method: 'GET' | 'POST', path: string, data?: unknown) => call(method, path, data, id) }
}

const manyTypes = (site: () => Site) =>
  test('are unsubscribed from a type beyond the first hundred, which the page of a user shows', async () => {
    await using opened = await memberPage(site(), '/p/1')
    const { page } = opened
    const { id, api } = await ownProject(site(), page, 'Many types')
    for (let number = 1; number <= 100; number++)
      await api('POST', 'subscriptions', { name: `Topic ${number}`, channel: 'email', default_state: 1 })
    await api('POST', 'users/batch', [{ external_id: 'kim' }])
    await page.goto(`/p/${id}/users`)
    await page.getByRole('checkbox', { name: 'Select kim' }).check()
    await page.getByRole('button', { name: 'Unsubscribe…' }).click()
    await page.getByRole('combobox', { name: 'Subscription type' }).fill('Topic 100')
    await page.getByRole('option', { name: /^Topic 100 / }).click()
    await page.getByRole('button', { name: 'Unsubscribe 1 user' }).click()
    await page.getByText('1 of 1 user was unsubscribed from Topic 100.').waitFor()
    const { results } = await api('GET', 'users/kim/subscriptions?limit=-1')
    expect(results.find(({ name }: { name: string }) => name === 'Topic 100').state).toBe(0)
    await page.goto(`/p/${id}/users/kim`)
    await page.getByRole('button', { name: 'Subscribe to Topic 100' }).waitFor()
  })

const PAGE_OF_USERS = 50

const wholePage = (site: () => Site) =>
  test('are unsubscribed a whole page at a time, which is undone for all of them', async () => {
    await using opened = await memberPage(site(), '/p/1')
    const { page } = opened
    const { id, api } = await ownProject(site(), page, 'Whole page')
    const users = Array.from({ length: PAGE_OF_USERS }, (_, index) => ({ external_id: `paged-${index}` }))
    await api('POST', 'users/batch', users)
    const states = async () => {
      const replies = await Promise.all(users.map(({ external_id }) => api('GET', `users/${external_id}/subscriptions`)))
      return new Set(replies.map(({ results }) => results.find(({ name }: { name: string }) => name === 'Default Email').state))
    }
    await page.goto(`/p/${id}/users`)
    await page.getByLabel('Select all users on this page').check()
    await page.getByRole('button', { name: 'Unsubscribe…' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Subscription type' }).click()
    await page.getByRole('option', { name: 'Default Email' }).click()
    await page.getByRole('button', { name: 'Unsubscribe 50 users' }).click()
    const done = page.getByText('of 50 users were unsubscribed from Default Email.', { exact: false })
    await done.waitFor()
    expect(await done.textContent()).toContain('50 of 50')
    expect(await states()).toEqual(new Set([0]))
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(states).toEqual(new Set([1]))
  })

const columns = (site: () => Site) =>
  test('has the columns that its reader chooses, which stay in the browser', async () => {
    await site().api('POST', 'users/batch', [{ external_id: 'column-1', data: { address: { 'home.city': 'Hobart' }, tags: ['a', 'b'] } }])
    await using opened = await memberPage(site(), '/p/1/users')
    const { page } = opened
    const heads = () => page.getByRole('table', { name: 'Users' }).getByRole('columnheader').allTextContents()
    await page.getByRole('button', { name: 'Columns' }).click()
    const choices = page.getByRole('dialog')
    await choices.getByLabel('Phone').uncheck()
    await choices.getByLabel('tags', { exact: true }).check()
    await choices.getByLabel('Search attributes').fill('home')
    await choices.getByLabel('address.home\\.city').check()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
    await choices.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('row').filter({ hasText: 'column-1' }).getByText('Hobart').waitFor()
    await page.getByRole('row').filter({ hasText: 'column-1' }).getByText('["a","b"]').waitFor()
    expect(await heads()).toEqual(['User', 'Email', 'Language', 'Time zone', 'Changed', 'tags', 'address.home\\.city'])
    // The other stories share the profile.
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Restore the default columns' }).click()
    expect(await heads()).toEqual(['User', 'Email', 'Phone', 'Language', 'Time zone', 'Changed'])
    await site().api('DELETE', 'users/column-1')
  })

const RULED = [
  { external_id: 'ruled-1', data: { tier: 'gold' } },
  { external_id: 'ruled-2', data: { tier: 'gold' } },
  { external_id: 'ruled-3', data: { tier: 'tin' } },
  { external_id: 'unruled', data: { tier: 'gold' } },
]

const byRule = (site: () => Site) =>
  test('is filtered by a rule, which goes with the search, the selection, the file and a new list', async () => {
    await site().api('POST', 'users/batch', RULED)
    await using opened = await memberPage(site(), '/p/1/users')
    const { page } = opened
    const table = page.getByRole('table', { name: 'Users' })
    const names = async () => (await table.locator('tbody code').allTextContents()).sort()
    await page.getByRole('button', { name: 'Filter by rule' }).click()
    const drawer = page.getByRole('complementary', { name: 'Filter by rule' })
    await drawer.getByRole('combobox', { name: 'Attribute' }).fill('data.tier')
    await page.keyboard.press('Escape')
    const show = drawer.getByRole('button', { name: 'Show matching users' })
    expect(await show.isDisabled()).toBe(true)
    await drawer.getByRole('combobox', { name: 'Value' }).fill('gold')
    await page.keyboard.press('Escape')
    await expectNoFaults(page)
    await show.click()
    await page.waitForURL(/rule=/)
    await expect.poll(names).toEqual(['ruled-1', 'ruled-2', 'unruled'])
    // The rule is in words, and has the focus again.
    const chip = page.getByRole('button', { name: /^Rule: .*tier.*gold/ })
    await chip.waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('filter-by-rule')
    await expectNoFaults(page)

    await page.getByLabel('Search users').fill('ruled-')
    await expect.poll(names).toEqual(['ruled-1', 'ruled-2'])
    await page.reload()
    await chip.waitFor()
    await expect.poll(names).toEqual(['ruled-1', 'ruled-2'])

    await page.getByRole('button', { name: 'More about users' }).click()
    const saving = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Save as CSV' }).click()
    const file = await saving
    expect(file.suggestedFilename()).toBe('users.csv')
    const rows = (await readFile(await file.path(), 'utf8')).trim().split(/\r?\n/)
    expect(rows.length).toBe(3)
    for (const row of rows.slice(1)) expect(row).toMatch(/ruled-[12]/)

    await page.getByLabel('Select all users on this page').check()
    await page.getByRole('status').getByText('2 users selected').waitFor()

    await page.getByRole('button', { name: 'Save as a list…' }).click()
    await page.getByRole('region', { name: 'Match now' }).getByText('2').first().waitFor()
    await page.goBack()

    await chip.click()
    await drawer.getByRole('combobox', { name: 'Value' }).fill('nothing has this')
    await page.keyboard.press('Escape')
    await show.click()
    await page.getByText('No match.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Filter by rule' }).waitFor()
    await expect.poll(names).toContain('ruled-3')
    expect(new URL(page.url()).search).toBe('')
    for (const { external_id } of RULED) await site().api('DELETE', `users/${external_id}`)
  })

export const userList = (site: () => Site) =>
  describe('the list of users', () => {
    columns(site)
    byRule(site)
    manyTypes(site)
    wholePage(site)

    test('has users selected by keyboard, added to a static list and suppressed, with how many succeeded', async () => {
      const list = await severalUsers(site())
      await using opened = await memberPage(site(), '/p/1/users?q=several-')
      const { page } = opened
      await pressOn(page.getByLabel('Select several-3'), 'Space')
      await page.getByRole('status').getByText('1 user selected').waitFor()
      await pressOn(page.getByLabel('Select all users on this page'), 'Space')
      await page.getByRole('status').getByText('3 users selected').waitFor()
      await expectNoFaults(page)

      await page.getByRole('button', { name: 'Add to a list…' }).click()
      await page.getByRole('dialog').getByRole('combobox', { name: 'List' }).click()
      expect(await page.getByRole('option', { name: 'Several by rule' }).count()).toBe(0)
      await page.getByRole('option', { name: 'Several', exact: true }).click()
      await page.getByRole('button', { name: 'Add 3 users' }).click()
      await page.getByText('2 of 3 users were added to Several. 1 was already in the list.').waitFor()
      expect((await site().api('GET', `lists/${list}/users`)).results.length).toBe(3)

      await page.getByRole('button', { name: 'Suppress…' }).click()
      await page.getByRole('dialog').getByText('1 has no address to suppress.').waitFor()
      expect(await suppressed(site())).toEqual([0, 0, 0])
      await page.getByRole('button', { name: 'Suppress 3 addresses' }).click()
      await page.getByText('2 of 3 users have been suppressed. 1 has no address to suppress.').waitFor()
      expect(await suppressed(site())).toEqual([1, 1, 1])

      await page.getByRole('button', { name: 'Unsubscribe…' }).click()
      await page.getByRole('dialog').getByRole('combobox', { name: 'Subscription type' }).click()
      await page.getByRole('option', { name: 'Default Email' }).click()
      await page.getByRole('button', { name: 'Unsubscribe 3 users' }).click()
      await page.getByText('3 users were unsubscribed from Default Email.').waitFor()
      expect(await statesOf(site())).toEqual([0, 0, 0])
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect.poll(() => statesOf(site())).toEqual([1, 1, 1])

      await page.getByRole('button', { name: 'Clear the selection' }).click()
      await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Select all users on this page')
      expect(await page.getByRole('button', { name: 'Suppress…' }).count()).toBe(0)

      // The search becomes the rule of a list.
      await page.getByRole('button', { name: 'Save as a list…' }).click()
      await page.getByRole('region', { name: 'Match now' }).getByText('3').first().waitFor()
      await page.goBack()

      await page.getByLabel('Select all users on this page').check()
      await page.getByRole('button', { name: 'Erase…' }).click()
      const erase = page.getByRole('button', { name: 'Erase 3 users and all of their data' })
      expect(await erase.isDisabled()).toBe(true)
      await page.getByLabel('Type 3 to confirm').fill('3')
      await erase.click()
      await page.getByText('3 of 3 users are being erased.').waitFor()
      await page.getByText('No match.').waitFor()
      for (const { external_id } of SEVERAL) await expect(site().api('GET', `users/${external_id}`)).rejects.toThrow('404')
    })
  })
