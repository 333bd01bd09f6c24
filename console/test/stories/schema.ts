import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const schema = (site: () => Site) =>
  describe('attributes and events', () => {
    test('have labels, which rules and users show, and marks for personal data, which the role support does not read', async () => {
      await site().api('POST', 'users/batch', [{ external_id: 'labelled', data: { grind_size: 'coarse' } }])
      const entry = async () => (await site().api('GET', 'attributes')).results.find(({ key }: { key: string }) => key === 'grind_size')
      await using opened = await memberPage(site(), '/p/1/schema')
      const { page } = opened
      await page.getByRole('button', { name: 'Label… of grind_size' }).click()
      await page.getByLabel('Label', { exact: true }).fill('How coarse')
      await page.getByLabel('Personal data').check()
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('row', { name: 'data.grind_size How coarse string · Personal data' }).waitFor()
      const readers = page.getByLabel('Who can read grind_size')
      expect(await readers.inputValue()).toBe('editor')
      expect(await entry()).toMatchObject({ label: 'How coarse', personal_data: true, min_role: null, end_user: false })
      await readers.selectOption('Everyone')
      await expect.poll(entry).toMatchObject({ label: 'How coarse', personal_data: true, min_role: 'support' })
      await page.goto('/p/1/lists/new')
      const attribute = page.getByRole('combobox', { name: 'Attribute', exact: true })
      await attribute.fill('coarse')
      await page.getByRole('option', { name: 'data.grind_size How coarse' }).click()
      await expect.poll(() => attribute.inputValue()).toBe('data.grind_size')
      await page.getByText('How coarse').first().waitFor()
      await page.goto('/p/1/users/labelled')
      await page.getByRole('rowheader', { name: 'grind_size How coarse' }).waitFor()
      await site().api('DELETE', 'attributes/grind_size')
      await site().api('DELETE', 'users/labelled')
    })

    twoAdmins(site)

    test('show what was sent, and admins hide an attribute from every key', async () => {
      // A name of its own for each try, because events stay counted.
      const name = `kettle_${randomUUID()}`
      await site().api('POST', 'events', [{ external_id: 'sample-2', name, data: { minutes: 12 } }])
      const found = async () => (await site().api('GET', `schema/events?q=${name}`)).results.length
      await expect.poll(found).toBe(1)
      await using opened = await memberPage(site(), '/p/1/schema')
      const { page } = opened
      const readers = page.getByLabel(/^Who can read /).first()
      await readers.selectOption('No one')
      await page.getByText(/^Read access to .+ has been saved\.$/).waitFor()
      const [{ key }] = (await site().api('GET', 'attributes')).results.filter(({ hidden }: { hidden: boolean }) => hidden)
      await page.reload()
      const ofKey = page.getByLabel(`Who can read ${key}`)
      await expect.poll(() => ofKey.inputValue()).toBe('hidden')
      await ofKey.selectOption('Everyone')
      await expect
        .poll(async () => (await site().api('GET', 'attributes')).results.some(({ hidden }: { hidden: boolean }) => hidden))
        .toBe(false)
      await page.getByRole('button', { name: 'Events', exact: true }).click()
      await page.getByRole('searchbox', { name: 'Search names of events' }).fill(name)
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
      await page.getByText('data.minutes (number)').waitFor()
      await page.getByRole('link', { name }).click()
      const days = page.getByRole('complementary', { name: `${name} by day` })
      await days.getByText(/^1 in the last 30 days\. Most on .+: 1\.$/).waitFor()
      await days.getByRole('button', { name: '7 days' }).click()
      await days.getByText(/^1 in the last 7 days\./).waitFor()
      await days.getByText('By day, as a table').click()
      await expect.poll(() => days.getByRole('row').count()).toBe(8)
      await page.reload()
      await days.getByText(/^1 in the last 7 days\./).waitFor()
      // Only what is drawn can have the focus: the list is read beside the panel.
      await page.getByRole('link', { name }).waitFor()
      const focused = () => page.evaluate('document.activeElement.textContent')
      await expect.poll(focused).toBe(name)
      await page.keyboard.press('Escape')
      await days.waitFor({ state: 'detached' })
      await expect.poll(focused).toBe(name)
      // Where the list does not have what was open, the heading has the focus.
      await page.goto(`/p/1/schema?view=events&q=nothing-like-it&event=${name}`)
      await page.getByText('No match.').waitFor()
      await expect.poll(focused).toBe(name)
      await page.keyboard.press('Escape')
      await days.waitFor({ state: 'detached' })
      await expect.poll(focused).toBe('Attributes and events')
    })
  })

const twoAdmins = (site: () => Site) =>
  test('keep what another admin has set of them meanwhile', async () => {
    await site().api('POST', 'users/batch', [{ external_id: 'two-admins', data: { iban: 'AU12' } }])
    const entry = async () => (await site().api('GET', 'attributes')).results.find(({ key }: { key: string }) => key === 'iban')
    await using opened = await memberPage(site(), '/p/1/schema')
    const { page } = opened
    await page.getByRole('button', { name: 'Label… of iban' }).click()
    await page.getByLabel('Label', { exact: true }).fill('Account')
    await site().api('PUT', 'attributes/iban', { min_role: 'admin', end_user: true })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await entry()).toMatchObject({ label: 'Account', min_role: 'admin' })
    await site().api('PUT', 'attributes/iban', { ...(await entry()), key: undefined, personal_data: true })
    await page.getByLabel('Who can read iban').selectOption('No one')
    await page.getByText('Read access to iban has been saved.').waitFor()
    expect(await entry()).toMatchObject({ label: 'Account', hidden: true, personal_data: true })
    await site().api('DELETE', 'attributes/iban')
    await site().api('DELETE', 'users/two-admins')
  })
