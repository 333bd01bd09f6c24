import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SENT_MS = 60_000
const USERS = ['sample-1', 'sample-2', 'sample-3', 'shown-1', 'shown-2']

/** A draft to five users. Two of them have no address. */
async function draft(site: Site, name: string, settings: object): Promise<number> {
  await site.api('POST', 'users/batch', [{ external_id: 'shown-1' }, { external_id: 'shown-2' }])
  const [{ id: subscription_id }] = (await site.api('GET', 'subscriptions?q=email')).results
  const { id: list } = await site.api('POST', 'lists', { name, type: 'static' })
  await site.api('POST', `lists/${list}/users`, { external_ids: USERS })
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id, list_ids: [list], ...settings })
  for (const variant of ['A', 'B'])
    await site.api('PUT', `campaigns/${id}/templates/en?variant=${variant}`, {
      from: 'shop@example.com',
      subject: `Beans in ${variant}`,
      html: '<p>Beans</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
    })
  return id
}

const start = (site: Site, id: number) => site.api('PATCH', `campaigns/${id}`, { state: 'scheduled', send_at: new Date().toISOString() })

const rollsBack = (site: () => Site) =>
  test('of a journey are the steps of an earlier version once that is published again', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Rolled back' })
    const at = { x: 0, y: 0 }
    for (const days of [1, 9]) {
      await site().api('PUT', `journeys/${id}/steps`, {
        start: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ external_id: 'wait' }] },
        wait: { ...at, type: 'delay', data: { days } },
      })
      await site().api('POST', `journeys/${id}/publish`, {})
    }
    await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=versions`)
    const { page } = opened
    await page.getByRole('button', { name: 'Publish version 1 again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish again' }).click()
    await page.getByText('Version 3 is live.').waitFor()
    await page.getByRole('button', { name: 'Steps', exact: true }).click()
    await page.locator('[role=treeitem].step').nth(1).press('Enter')
    const days = page.getByLabel('Days', { exact: true }).first()
    await expect.poll(() => days.inputValue()).toBe('1')
    // What is changed then is a change of these steps.
    await days.fill('2')
    await page.locator('output.saved').waitFor()
    expect((await site().api('GET', `journeys/${id}/steps`)).wait.data).toEqual({ days: 2 })
    expect(await page.getByText('Another member changed this').count()).toBe(0)
  })

/** Screens say what the server says. */
export const shown = (site: () => Site) =>
  describe('what a screen shows', () => {
    rollsBack(site)

    test('of a variant is what its recipients get, before the launch and after it', async () => {
      const variants = [
        { name: 'Short', weight: 1 },
        { name: 'Long', weight: 100 },
      ]
      const id = await draft(site(), 'Mostly long', { variants })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=review`)
      const { page } = opened
      const samples = page.getByRole('list', { name: 'Preview for five users' })
      await samples.getByText('Beans in A').first().waitFor()
      await page.getByRole('button', { name: 'B: Long' }).click()
      await samples.getByText('Beans in B').first().waitFor()
      expect(await samples.getByText('Beans in A').count()).toBe(0)
      await start(site(), id)
      const report = () => site().api('GET', `campaigns/${id}/delivery`)
      await expect.poll(report, { timeout: SENT_MS }).toMatchObject({ total: 5, pending: 0 })
      const explained = await Promise.all(USERS.slice(0, 3).map((user) => site().api('GET', `campaigns/${id}/recipients/${user}/explain`)))
      const { user } = explained.find(({ messages }) => messages[0].variant === 'B')
      await page.goto(`/p/1/campaigns/${id}?user=${user.external_id}`)
      const drawer = page.getByRole('complementary', { name: new RegExp(user.external_id) })
      await drawer.getByRole('button', { name: 'Message' }).click()
      await drawer.getByText('Beans in B').waitFor()
    })

    test('as still to be sent is what is pending, without those that were skipped', async () => {
      const id = await draft(site(), 'Slowly', { rate: { limit: 1, interval_seconds: 3600 } })
      await start(site(), id)
      const report = () => site().api('GET', `campaigns/${id}/delivery`)
      await expect.poll(report, { timeout: SENT_MS }).toMatchObject({ total: 5, sent: 1, pending: 2 })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}`)
      const { page } = opened
      await page.getByText('the remaining 2 are sent').waitFor()
      await page.getByText('Up to 2 messages will not be sent.').waitFor()
      await site().api('PATCH', `campaigns/${id}`, { state: 'aborted' })
    })

    test('of in-app messages are the newest again after older ones', async () => {
      const [{ id: subscription_id }] = (await site().api('GET', 'subscriptions?q=app')).results
      const event_name = 'beans_counted'
      const { id } = await site().api('POST', 'campaigns', { type: 'trigger', name: 'Counted', subscription_id, event_name })
      await site().api('PUT', `campaigns/${id}/templates/en`, { title: 'Bean {{ event.data.number }}', body: 'Counted' })
      await site().api('PATCH', `campaigns/${id}`, { state: 'running' })
      for (let number = 1; number <= 25; number++)
        await site().api('POST', 'events', [{ external_id: 'shown-1', name: event_name, data: { number } }])
      const messages = async () => (await site().api('GET', 'users/shown-1/messages?limit=100')).results
      await expect.poll(async () => (await messages()).length, { timeout: SENT_MS }).toBe(25)
      const newest = (await messages()).slice(0, 10).map(({ title }: { title: string }) => title)
      await using opened = await memberPage(site(), '/p/1/users/shown-1')
      const { page } = opened
      const inbox = page.getByRole('region', { name: 'In-app messages' })
      const titles = () => inbox.locator('li b').allTextContents()
      await expect.poll(titles).toEqual(newest)
      await inbox.getByRole('button', { name: 'Older' }).click()
      await expect.poll(titles).not.toEqual(newest)
      await inbox.getByRole('button', { name: 'Newer' }).click()
      await expect.poll(titles).toEqual(newest)
    })
  })
