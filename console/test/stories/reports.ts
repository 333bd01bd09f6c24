import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

/** How long a page may take to show what a choice changes, on a busy machine. */
const SHOWN_MS = 20_000

export const reports = (site: () => Site) =>
  describe('reports', () => {
    test('say what became of messages, keep their choices in the address, and are downloaded', async () => {
      const { results: types } = await site().api('GET', 'subscriptions?q=email')
      const content = { from: 'Bellbird <hello@bellbird.example>', subject: 'Your receipt', html: '<p>Thank you.</p>' }
      const sent = async () => (await site().api('GET', 'reports/messages')).total.sent
      const inState = async (state: string) => (await site().api('GET', `messages?state=${state}&limit=1`)).results.length
      // Nothing else is being sent, so that the numbers stay while they are looked at.
      await expect.poll(async () => (await inState('queued')) + (await inState('claimed')), { timeout: SHOWN_MS }).toBe(0)
      const before = await sent()
      await site().api('POST', 'messages', { user: { external_id: 'sample-2' }, subscription_id: types[0].id, content })
      await expect.poll(sent, { timeout: SHOWN_MS }).toBeGreaterThan(before)
      const { total, campaigns } = await site().api('GET', 'reports/messages')
      await using opened = await memberPage(site(), '/p/1/reports')
      const { page } = opened
      const chart = page.getByRole('img', { name: /: \d+\.$/ })
      const says = (words: string) => expect.poll(() => chart.getAttribute('aria-label'), { timeout: SHOWN_MS }).toContain(words)
      await page.getByRole('group', { name: 'What the chart shows' }).getByRole('button', { name: 'Sent' }).click()
      await says(`Sent in 30 days: ${total.sent}.`)
      await page.getByRole('button', { name: '7 days' }).click()
      await says(`Sent in 7 days: ${total.sent}.`)
      const [{ name, campaign_id, total: ofCampaign }] = campaigns
      await page.getByRole('table', { name: 'By campaign' }).getByRole('link', { name, exact: true }).first().click()
      await says(`Sent in 7 days: ${ofCampaign.sent}.`)
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ figure: 'sent', days: '7', campaign_id: String(campaign_id) })
      await page.reload()
      const totals = page.getByRole('table', { name: 'Totals' })
      await expect
        .poll(() => totals.getByRole('row', { name: /^Sent/ }).getByRole('cell').first().textContent())
        .toBe(String(ofCampaign.sent))
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download days as CSV' }).click(),
      ])
      const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
      expect(lines).toHaveLength(8)
      expect(lines.at(-1)?.split(',')[2]).toBe(String(ofCampaign.sent))
      await page.getByRole('link', { name: 'Home' }).click()
      await page
        .getByRole('table', { name: 'Last 7 days' })
        .getByRole('row', { name: /^Email/ })
        .waitFor()
      await page.getByText('everything accepted has been applied').waitFor()
    })

    test('are of days that are typed key by key', async () => {
      await using opened = await memberPage(site(), '/p/1/reports?since=2024-03-05&until=2024-03-31')
      const { page } = opened
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.getByLabel('First day').focus()
      await page.keyboard.type('02022024')
      await page.waitForURL(/since=2024-02-02/)
      expect(asked.filter((url) => url.includes('since=0'))).toEqual([])
      // A day that is left empty is still the one that the report has.
      await page.getByLabel('First day').fill('')
      await page.getByLabel('First day').blur()
      expect(await page.getByLabel('First day').inputValue()).toBe('2024-02-02')
    })

    test('templates are found by what they say, and archived with their campaign', async () => {
      const { results: types } = await site().api('GET', 'subscriptions?q=email')
      const { id } = await site().api('POST', 'campaigns', { type: 'blast', name: 'Autumn', subscription_id: types[0].id })
      const content = { from: 'Bellbird <hello@bellbird.example>', subject: 'Mushrooms are back', html: '<p>Now.</p>' }
      await site().api('PUT', `campaigns/${id}/templates/en-AU`, content)
      await using opened = await memberPage(site(), '/p/1/templates')
      const { page } = opened
      await page.getByRole('searchbox', { name: 'Search subjects, texts and campaigns' }).fill('mushrooms')
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
      await page.getByRole('button', { name: 'Pictures' }).click()
      await page.frameLocator('iframe[title="Autumn, in en-AU"]').getByText('Now.').waitFor()
      await page.getByRole('link', { name: 'Mushrooms are back' }).click()
      await expect.poll(() => page.url()).toContain(`/campaigns/${id}/edit?step=content`)
      expect(await page.getByLabel('Subject', { exact: true }).inputValue()).toBe('Mushrooms are back')
      await page.goBack()
      await page.getByRole('button', { name: 'Archive… campaign Autumn' }).click()
      await page.getByRole('button', { name: 'Archive the campaign' }).click()
      await page.getByText('Autumn has been archived.').waitFor()
      expect((await site().api('GET', 'templates?q=mushrooms')).results).toEqual([])
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('link', { name: 'Mushrooms are back' }).waitFor()
      await site().api('DELETE', `campaigns/${id}`)
    })
  })
