import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SENT_MS = 60_000
const MINUTE_MS = 60_000
/** How long a launch can be undone. */
const UNDO_MS = 30_000

export const TEMPLATE = { from: 'shop@example.com', subject: 'Beans', html: '<p>Beans</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>' }

/** A draft to one user, with content. */
export async function draft(site: Site, name: string, settings: object = {}): Promise<number> {
  const { results } = await site.api('GET', 'subscriptions?q=email')
  const { id: list } = await site.api('POST', 'lists', { name, type: 'static' })
  await site.api('POST', `lists/${list}/users`, { external_ids: ['sample-1'] })
  const subscription_id = results[0].id
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id, list_ids: [list], ...settings })
  await site.api('PUT', `campaigns/${id}/templates/en`, TEMPLATE)
  return id
}

async function launch(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Launch…' }).click({ timeout: SENT_MS })
  const action = page.getByRole('dialog').getByRole('button', { name: /Send to \d+ user/ })
  await action.click()
}

const asReviewed = (site: () => Site) =>
  test('of what another member has changed since the review is not made: it is shown first', async () => {
    const [today, monday] = ['2031-01-10T09:00:00.000Z', '2031-01-13T09:00:00.000Z']
    const id = await draft(site(), 'Reviewed', { send_at: today })
    const { id: second } = await site().api('POST', 'lists', { name: 'Reviewed later', type: 'static' })
    await site().api('POST', `lists/${second}/users`, { external_ids: ['sample-1', 'sample-2'] })
    const saved = () => site().api('GET', `campaigns/${id}`)
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=review`)
    const { page } = opened
    await page.getByRole('button', { name: 'Launch…' }).click({ timeout: SENT_MS })
    await page.getByRole('dialog').getByRole('button', { name: 'Send to 1 user' }).waitFor()
    await site().api('PATCH', `campaigns/${id}`, { send_at: monday, list_ids: [second] })
    await page.getByRole('dialog').getByRole('button', { name: 'Send to 1 user' }).click()
    await page.getByText('The campaign has changed since it was checked here.').waitFor()
    expect(await saved()).toMatchObject({ state: 'draft', send_at: monday, list_ids: [second] })
    await page.getByRole('button', { name: 'Launch…' }).click({ timeout: SENT_MS })
    await page.getByRole('dialog').getByRole('button', { name: 'Send to 2 users' }).click()
    await expect.poll(async () => (await saved()).state, { timeout: SENT_MS }).toBe('scheduled')
    expect(await saved()).toMatchObject({ send_at: monday, list_ids: [second] })
  })

const withContentAsReviewed = (site: () => Site) =>
  test('of content that another member has changed since the review is not made: it is checked first', async () => {
    const id = await draft(site(), 'Reviewed content')
    const saved = () => site().api('GET', `campaigns/${id}`)
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=review`)
    const { page } = opened
    await page.getByRole('button', { name: 'Launch…' }).click({ timeout: SENT_MS })
    const send = page.getByRole('dialog').getByRole('button', { name: 'Send to 1 user' })
    await send.waitFor()
    await site().api('PUT', `campaigns/${id}/templates/en`, { ...TEMPLATE, subject: 'Something else' })
    await send.click()
    await page.getByText('The campaign has changed since it was checked here.').waitFor()
    expect((await saved()).state).toBe('draft')
    await launch(page)
    await expect.poll(async () => (await saved()).state, { timeout: SENT_MS }).toBe('scheduled')
  })

const typedTime = (site: () => Site) =>
  test('has its day typed key by key', async () => {
    const id = await draft(site(), 'Typed', { send_at: '2030-01-10T01:00:00.000Z' })
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=schedule`)
    const { page } = opened
    const field = page.getByLabel('Date and time')
    await field.focus()
    await page.keyboard.type('02022031')
    expect(await field.inputValue()).toBe('2031-02-02T12:00')
  })

/** On a computer whose clock is wrong. */
const byTheServer = (site: () => Site) =>
  test.each([
    ['fast', 10 * MINUTE_MS],
    ['slow', -10 * MINUTE_MS],
  ])('follows the clock of the server where that of the browser is ten minutes %s', async (_, ahead) => {
    const id = await draft(site(), `By the server, ${ahead}`)
    const saved = () => site().api('GET', `campaigns/${id}`)
    await using opened = await memberPage(site(), '/livez')
    const { page } = opened
    await page.clock.setFixedTime(Date.now() + ahead)
    await page.goto(`/p/1/campaigns/${id}/edit?step=review`)
    const before = Date.now()
    await launch(page)
    await page.getByRole('button', { name: 'Undo the launch' }).waitFor()
    await page.getByText(/^Starts in [1-3]\d seconds/).waitFor()
    const { send_at } = await saved()
    expect(Date.parse(send_at)).toBeGreaterThanOrEqual(before + UNDO_MS)
    expect(Date.parse(send_at)).toBeLessThan(Date.now() + 2 * UNDO_MS)
    await site().api('PATCH', `campaigns/${id}`, { state: 'draft', send_at: null })
    await site().api('PATCH', `campaigns/${id}`, { state: 'scheduled', send_at: '2031-01-10T09:00:00.000Z' })
    await page.reload()
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByText('The campaign is starting now.').waitFor()
    expect(Date.parse((await saved()).send_at)).toBeLessThan(Date.now() + UNDO_MS)
  })

/** A campaign starts when the member was told. */
export const launches = (site: () => Site) =>
  describe('a launch', () => {
    asReviewed(site)
    withContentAsReviewed(site)
    typedTime(site)
    byTheServer(site)

    test('that was undone leaves no time: the next one can be undone as long, also when a time has passed', async () => {
      const id = await draft(site(), 'Undone')
      const saved = () => site().api('GET', `campaigns/${id}`)
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=review`)
      const { page } = opened
      await launch(page)
      await page.getByRole('button', { name: 'Undo the launch' }).click()
      await page.getByText('The campaign is a draft again.').waitFor()
      expect((await saved()).send_at ?? null).toBeNull()
      const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
      await site().api('PATCH', `campaigns/${id}`, { send_at: hourAgo })
      await page.goto(`/p/1/campaigns/${id}/edit?step=review`)
      await page.getByText('The scheduled time has passed.').waitFor()
      await launch(page)
      await page.getByRole('button', { name: 'Undo the launch' }).click()
      await expect.poll(async () => (await saved()).state, { timeout: SENT_MS }).toBe('draft')
    })
  })
