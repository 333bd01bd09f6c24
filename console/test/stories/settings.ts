import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { agePage, twoFrames, withoutNetwork } from './held-reads.ts'
import { focusOn, hasFocus } from './keyboard.ts'
import { expectNoFaults } from './looks.ts'
import { copiedRequest, memberPage } from './member-page.ts'

const newProject = (site: () => Site) =>
  test('of the organisation make a new project, which is a sandbox', async () => {
    await using opened = await memberPage(site(), '/p/1/settings')
    const { page } = opened
    await page.getByRole('button', { name: /Sandbox project/ }).click()
    await page.getByRole('menuitem', { name: 'New project…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New project' })
    await dialog.getByLabel('Name').fill('Second roastery')
    await expectNoFaults(page)
    await dialog.getByRole('button', { name: 'Create the project' }).click()
    await page.getByRole('heading', { level: 1, name: 'Second roastery' }).waitFor()
    await page.getByRole('complementary', { name: 'Environment' }).getByText('Sandbox.').waitFor()
    const reply = await page.request.get(`${site().url}/api/client/projects/${new URL(page.url()).pathname.split('/').at(-1)}`)
    expect(await reply.json()).toMatchObject({ name: 'Second roastery', locale: 'en' })
    // `/` leads to the project that was open last.
    await page.goto('/p/1')
    await page.getByRole('heading', { level: 2, name: 'Set up' }).waitFor()
  })

/** A read is tried three times before it has failed. */
const TRIES = 3

const failedReads = (site: () => Site) =>
  test.each([
    { view: '', field: 'Website', path: /\/api\/client\/projects\/1$/ },
    { view: '?view=sending', field: 'Maximum messages', path: /\/api\/client\/sending-policy$/ },
  ])('that cannot be read again keep what is typed: $field', async ({ view, field: label, path }) => {
    await using opened = await memberPage(site(), `/p/1/settings${view}`)
    const { page } = opened
    const field = page.getByLabel(label)
    if (view !== '') await page.getByRole('button', { name: 'Add a cap' }).click()
    await focusOn(field.last())
    await field.last().fill('7')
    await agePage(page)
    let tries = 0
    await page.route(path, (route) => route.fulfill({ status: 503 }).then(() => tries++))
    {
      await using _ = await withoutNetwork(page)
    }
    await expect.poll(() => tries, { timeout: 60_000 }).toBe(TRIES)
    await twoFrames(page)
    expect(await field.last().inputValue()).toBe('7')
    await hasFocus(field.last())
  })

export const settings = (site: () => Site) =>
  describe('settings', () => {
    test('of the project are changed, and the change can be undone', async () => {
      await using opened = await memberPage(site(), '/p/1/settings')
      const { page } = opened
      const stored = async () => (await page.request.get(`${site().url}/api/client/projects/1`)).json()
      const before = await stored()
      await page.getByLabel('Count clicks in emails').click()
      await page.getByRole('combobox', { name: 'Time zone' }).fill('Australia/Perth')
      await page.getByRole('option', { name: 'Australia/Perth' }).click()
      await page.getByLabel('Test recipients, one per line').fill('@example.com\n\n+61412345678 ')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The settings have been saved.').waitFor()
      const code = await copiedRequest(page, page.getByRole('alert').filter({ hasText: 'The settings have been saved.' }))
      expect(code).toContain('"timezone": "Australia/Perth"')
      const { link_wrap_email, timezone, test_recipients } = await stored()
      expect([link_wrap_email, timezone, test_recipients]).toEqual([true, 'Australia/Perth', ['@example.com', '+61412345678']])
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect.poll(async () => (await stored()).timezone).toBe(before.timezone)
      expect((await stored()).test_recipients).toEqual(before.test_recipients)
    })

    test('take a website without its protocol, as the API does', async () => {
      await using opened = await memberPage(site(), '/p/1/settings')
      const { page } = opened
      await page.getByRole('textbox', { name: 'Website', exact: true }).fill('bellbird.example')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The settings have been saved.').waitFor()
      expect((await (await page.request.get(`${site().url}/api/client/projects/1`)).json()).website_url).toBe('bellbird.example')
    })

    newProject(site)
    failedReads(site)

    test('hold quiet hours and caps, and the name of the organisation', async () => {
      await using opened = await memberPage(site(), '/p/1/settings?view=sending')
      const { page } = opened
      await page.getByLabel('Send nothing in quiet hours').click()
      await page.getByLabel('From').fill('22:30')
      await page.getByRole('button', { name: 'Add a cap' }).click()
      await page.getByLabel('Maximum messages').fill('5')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The settings have been saved.').waitFor()
      expect(await site().api('GET', 'sending-policy')).toEqual({
        quiet_hours: { channels: ['text', 'push'], from: '22:30', to: '08:00' },
        caps: [{ channels: ['email'], max: 5, window_hours: 168 }],
      })
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect.poll(() => site().api('GET', 'sending-policy')).toEqual({ quiet_hours: null, caps: [] })

      await page.getByRole('button', { name: 'Organisation', exact: true }).click()
      await page.getByLabel('Name of the organisation').fill('Bellbird Coffee')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await expect
        .poll(async () => (await (await page.request.get(`${site().url}/api/console/session`)).json()).organisation.name)
        .toBe('Bellbird Coffee')
    })

    test('the state of the server is shown to its owner: the checks, the queues and the processes', async () => {
      await using opened = await memberPage(site(), '/p/1')
      const { page } = opened
      await page.getByRole('link', { name: 'Settings', exact: true }).click()
      await page.getByRole('link', { name: 'System health' }).click()
      await page.getByText('The database has the schema of this release.').waitFor()
      await page.getByRole('rowheader', { name: 'Webhook deliveries' }).waitFor()
      const { processes } = await (await page.request.get(`${site().url}/api/console/system`)).json()
      expect(processes).toHaveLength(1)
      await page.getByText('1 is connected').waitFor()
    })

    test('draw the preference page while its theme is written', async () => {
      await using opened = await memberPage(site(), '/p/1/preference-page')
      const { page } = opened
      const frame = page.frameLocator('iframe[title="Preview"]')
      await page.getByLabel('Name of the sender').fill('Bellbird & Co')
      await frame.getByRole('banner').getByText('Bellbird & Co').waitFor()
      await page.getByRole('combobox', { name: 'Language of the user' }).click()
      await page.getByRole('option', { name: 'German' }).click()
      await frame.getByRole('button', { name: /speichern/i }).waitFor()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The theme has been saved.').waitFor()
      expect((await site().api('GET', 'page-theme')).brand_name).toBe('Bellbird & Co')
      await page.getByRole('button', { name: 'Undo' }).click()
      await expect.poll(async () => (await site().api('GET', 'page-theme')).brand_name).toBe(null)
    })
  })

export const deletion = (site: () => Site) =>
  describe('the danger zone', () => {
    test('deletes a project once its name is typed, and says before what is erased and what stops', async () => {
      await using opened = await memberPage(site(), '/p/1')
      const { page } = opened
      const data = { name: 'Old shop', locale: 'en-AU', timezone: 'Australia/Melbourne' }
      const made = await page.request.post(`${site().url}/api/client/projects`, { headers: { origin: site().url }, data })
      const { id } = await made.json()
      const headers = { origin: site().url, 'carillon-project': String(id) }
      const users = [{ external_id: 'kim' }, { external_id: 'lee' }]
      expect((await page.request.post(`${site().url}/api/client/users/batch`, { headers, data: users })).ok()).toBe(true)
      await page.goto(`/p/${id}/settings`)
      await page.getByRole('button', { name: 'Delete the project' }).click()
      const dialog = page.getByRole('dialog', { name: 'Delete Old shop?' })
      await dialog.getByText('2 users, with their events and consents').waitFor()
      await dialog.getByText('0 keys stop working').waitFor()
      const remove = dialog.getByRole('button', { name: 'Delete the project for good' })
      await dialog.getByRole('textbox').fill('old shop')
      expect(await remove.isDisabled()).toBe(true)
      await dialog.getByRole('textbox').fill('Old shop')
      await remove.click()
      await page.getByText('Old shop has been deleted.').waitFor()
      await page.waitForURL(/\/p\/1$/)
      expect((await page.request.get(`${site().url}/api/client/projects/${id}`)).status()).toBe(404)
      expect((await page.request.get(`${site().url}/api/client/projects/1`)).status()).toBe(200)
    })

    test('of another member takes the page of its project away, and says so', async () => {
      await using opened = await memberPage(site(), '/p/1')
      const { page } = opened
      const headers = { origin: site().url }
      const data = { name: 'Taken away', locale: 'en-AU', timezone: 'Australia/Melbourne' }
      const { id } = await (await page.request.post(`${site().url}/api/client/projects`, { headers, data })).json()
      await page.goto(`/p/${id}/users`)
      await page.getByLabel('Search users').waitFor()
      const removed = await page.request.delete(`${site().url}/api/client/projects/${id}`, { headers, data: { name: data.name } })
      expect(removed.ok()).toBe(true)
      await agePage(page)
      await agePage(page)
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
      await page.waitForURL(/\/p\/1$/)
      await page.getByText('This project was deleted, or you no longer have a role in it.').waitFor()
    })
  })
