import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SAVED_MS = 60_000

const TEMPLATE = { from: 'shop@example.com', subject: 'Beans', html: '<p>Beans</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>' }

/** A draft to one user, with content. */
async function draft(site: Site, name: string, settings: object = {}): Promise<number> {
  const { results } = await site.api('GET', 'subscriptions')
  const subscription_id = results.find(({ channel }: { channel: string }) => channel === 'email').id
  const { id: list } = await site.api('POST', 'lists', { name, type: 'static' })
  await site.api('POST', `lists/${list}/users`, { external_ids: ['sample-1'] })
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id, list_ids: [list], ...settings })
  await site.api('PUT', `campaigns/${id}/templates/en`, TEMPLATE)
  return id
}

const gate = (...plans: string[]) => ({
  type: 'gate',
  x: 0,
  y: 120,
  data: { branches: plans.map((plan, index) => ({ path: `path-${index}`, rule: { attribute: 'data.plan', is: plan } })) },
})

/** What a member does is neither lost nor mixed with what was there before. */
export const keptEdits = (site: () => Site) =>
  describe('what a member does', () => {
    test('a campaign in each user’s time zone that is sent now is sent to all at once', async () => {
      const at = { send_at: '2031-01-10T09:00:00', send_in_user_timezone: true }
      const id = await draft(site(), 'At nine', at)
      await site().api('PATCH', `campaigns/${id}`, { state: 'scheduled' })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}`)
      const { page } = opened
      await page.getByText(/Nothing is sent before .*9:00.*, in each user’s time zone/).waitFor()
      await page.getByRole('button', { name: 'Send now' }).click()
      const saved = () => site().api('GET', `campaigns/${id}`)
      await expect.poll(async () => (await saved()).send_in_user_timezone, { timeout: SAVED_MS }).toBe(false)
      await expect.poll(async () => (await saved()).state, { timeout: SAVED_MS }).toBe('finished')
    })

    test('the text of a variant is saved when the other one is opened at once', async () => {
      const id = await draft(site(), 'Two texts', { variants: ['Variant A', 'Variant B'].map((name) => ({ name, weight: 1 })) })
      await site().api('PUT', `campaigns/${id}/templates/en?variant=B`, TEMPLATE)
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      await page.getByRole('button', { name: 'A: Variant A' }).click()
      await page.getByLabel('Subject').fill('Only in A')
      await page.getByRole('button', { name: 'B: Variant B' }).click()
      const subjects = async () => {
        const { results } = await site().api('GET', `campaigns/${id}/templates`)
        return results.map(({ data }: { data: { subject: string } }) => data.subject).toSorted()
      }
      await expect.poll(subjects, { timeout: SAVED_MS }).toEqual(['Beans', 'Only in A'])
    })

    test('the rule of a branch stays its own when the branch before it is removed', async () => {
      const { id } = await site().api('POST', 'journeys', { name: 'Three plans' })
      const entrance = { type: 'entrance', x: 0, y: 0, data: { trigger: 'api' }, children: [{ external_id: 'plans' }] }
      await site().api('PUT', `journeys/${id}/steps`, { start: entrance, plans: gate('gold', 'silver', 'bronze') })
      await using opened = await memberPage(site(), `/p/1/journeys/${id}`)
      const { page } = opened
      await page.locator('[role=treeitem].step').nth(1).press('Enter')
      const branch = (number: number) => page.getByRole('group', { name: new RegExp(`^Branches ${number}$`, 'i') })
      await branch(3).waitFor()
      await page.getByRole('button', { name: /^Remove branches 1$/i }).click()
      await expect.poll(() => branch(3).count()).toBe(0)
      const valuesOf = async (number: number) =>
        Promise.all((await branch(number).locator('input').all()).map((input) => input.inputValue()))
      expect(await valuesOf(1)).toContain('silver')
      expect(await valuesOf(2)).toContain('bronze')
    })
  })
