import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SENT_MS = 60_000

/** A draft to everyone, with content. */
async function draft(site: Site, name: string, settings: object = {}): Promise<number> {
  const { results } = await site.api('GET', 'subscriptions')
  const subscription_id = results.find(({ channel }: { channel: string }) => channel === 'email').id
  const { id: list } = await site.api('POST', 'lists', { name, type: 'static' })
  await site.api('POST', `lists/${list}/users`, { external_ids: ['sample-1', 'sample-2', 'sample-3'] })
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id, list_ids: [list], ...settings })
  return id
}

const html = '<p>Beans</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>'

const ofAnother = (site: () => Site) =>
  test('are those of another member too once they were reviewed: a new variant has its content', async () => {
    const id = await draft(site(), 'A variant of another member')
    const template = (subject: string) => ({ from: 'shop@example.com', subject, html })
    await site().api('PUT', `campaigns/${id}/templates/en`, template('Short'))
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
    const { page } = opened
    await page.getByLabel('Subject').waitFor()
    const variants = ['Short', 'Long'].map((name) => ({ name, weight: 1 }))
    await site().api('PATCH', `campaigns/${id}`, { variants })
    await site().api('PUT', `campaigns/${id}/templates/en?variant=B`, template('A long subject'))
    const goTo = (name: string) => page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name }).click()
    await goTo('Review')
    await expect.poll(() => page.getByRole('button', { name: 'Launch…' }).isEnabled(), { timeout: SENT_MS }).toBe(true)
    await goTo('Content')
    await page.getByRole('button', { name: 'B: Long' }).click()
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('A long subject')
  })

export const abTest = (site: () => Site) =>
  describe('the settings of a campaign', () => {
    ofAnother(site)

    test('are its variants and their winner, its rate, the parameters of its links, its tags and its control group', async () => {
      const id = await draft(site(), 'Two subjects')
      const saved = () => site().api('GET', `campaigns/${id}`)
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      await page.getByRole('switch', { name: 'Test variants of the content' }).click()
      await page.getByLabel('Name of variant B').fill('Long')
      await page.getByLabel('Share of B').fill('3')
      await page.getByRole('switch', { name: 'Send the best variant to the remaining users' }).click()
      await page.getByRole('button', { name: 'B: Long' }).click()
      await page.getByLabel('Subject').fill('A long subject')
      await page.getByRole('button', { name: 'Next: Delivery' }).click()
      await page.getByRole('switch', { name: 'Limit the sending rate of this campaign' }).click()
      await page.getByLabel('Messages', { exact: true }).fill('50')
      await page.getByRole('switch', { name: 'UTM parameters' }).click()
      await page.getByLabel('utm_term').fill('beans')
      await page.getByRole('button', { name: 'Audience' }).click()
      await page.getByLabel('Control group, in per cent').fill('10')
      await page.getByRole('button', { name: 'Back: Name and type' }).click()
      await page.getByLabel('Tags').first().fill('spring')
      await page.keyboard.press('Enter')
      await page.getByLabel('Name in requests').fill('Two Subjects')
      await page.getByText('Use a to z, 0 to 9 and single hyphens between them.').waitFor()
      await page.getByLabel('Name in requests').fill('two-long-subjects')
      await expect.poll(async () => (await saved()).slug, { timeout: SENT_MS }).toBe('two-long-subjects')
      expect(await saved()).toMatchObject({
        variants: [
          { name: 'Variant A', weight: 1 },
          { name: 'Long', weight: 3 },
        ],
        winner: { metric: 'clicks', test_percent: 20, after_minutes: 120 },
        rate: { limit: 50, interval_seconds: 60 },
        utm: { source: 'newsletter', medium: 'email', campaign: 'Two subjects', term: 'beans' },
        holdout_percent: 10,
        tags: ['spring'],
      })
      const { results } = await site().api('GET', `campaigns/${id}/templates`)
      expect(results.map(({ variant, data }: { variant: string; data: { subject: string } }) => [variant, data.subject])).toContainEqual([
        'B',
        'A long subject',
      ])
      await page.getByRole('button', { name: 'Review' }).click()
      await page.getByText('Write the content of variant A.').waitFor()
      await page.goto(`/p/1/campaigns/${id}/edit?step=content`)
      await page.getByRole('switch', { name: 'Test variants of the content' }).click()
      await expect.poll(async () => (await saved()).variants).toEqual([])
      expect(await saved()).not.toHaveProperty('winner')
    })

    test('show what became of each variant', async () => {
      const variants = ['Short', 'Long'].map((name) => ({ name, weight: 1 }))
      const id = await draft(site(), 'Short or long', { variants })
      for (const variant of ['A', 'B'])
        await site().api('PUT', `campaigns/${id}/templates/en-AU?variant=${variant}`, {
          from: 'hello@bellbird.example',
          subject: variant,
          html,
        })
      await site().api('PATCH', `campaigns/${id}`, { state: 'scheduled', send_at: new Date().toISOString() })
      const { states } = await expect
        .poll(() => site().api('GET', `campaigns/${id}/delivery`), { timeout: SENT_MS })
        .toMatchObject({ pending: 0, total: 3 })
        .then(() => site().api('GET', `campaigns/${id}/delivery`))
      const sentOf = (letter: string) =>
        states
          .filter(({ variant, state }: { variant: string; state: string }) => variant === letter && state !== 'skipped')
          .reduce((sum: number, { messages }: { messages: number }) => sum + messages, 0)
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}`)
      const table = opened.page.getByRole('table', { name: 'A/B test' })
      await table.getByRole('row', { name: new RegExp(`^A · Short ${sentOf('A')} `) }).waitFor()
      await table.getByRole('row', { name: new RegExp(`^B · Long ${sentOf('B')} `) }).waitFor()
    })
  })
