import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SENT_MS = 60_000

export const campaigns = (site: () => Site) =>
  describe('campaigns', () => {
    test('a campaign is made, checked, launched and seen in the sandbox inbox, all by clicks', async () => {
      await using opened = await memberPage(site(), '/p/1/campaigns')
      const { page } = opened
      await page.getByRole('button', { name: 'New campaign' }).first().click()
      await page.getByLabel('Name', { exact: true }).fill('Spring harvest')
      await page.getByRole('button', { name: 'Create the draft' }).click()
      await page.getByRole('button', { name: 'Back: Name and type' }).click()
      await page.getByRole('button', { name: 'Next: Audience' }).click()
      await page.getByRole('button', { name: 'Create a list of all users' }).click()
      const funnel = page.getByRole('region', { name: 'Who gets it' })
      await funnel.getByText('Get the message').waitFor({ timeout: SENT_MS })
      await page.getByRole('button', { name: 'Next: Content' }).click()
      await page.getByLabel('Subject').fill('Spring beans for {{ user.data.first_name | default: "you" }}')
      // The preview has the values of the user, and the server renders it.
      await page.getByRole('button', { name: 'Longest name' }).click()
      await page.getByText('Spring beans for Wilhelmina').waitFor()
      await page
        .frameLocator('iframe[title="Preview of the email"]')
        .getByRole('heading', { name: /Wilhelmina/ })
        .waitFor()
      await page.getByRole('button', { name: 'Next: Delivery' }).click()
      await page.getByRole('switch', { name: 'Custom retry times for deferred email' }).click()
      await page.getByLabel('Minutes between attempts').fill('5, 6o')
      await page.getByText('Enter up to 20 whole numbers of minutes').waitFor()
      await page.getByLabel('Minutes between attempts').fill('5, 60')
      await page.getByRole('button', { name: 'Next: Schedule' }).click()
      // In each user's time zone, it takes a day to reach all of them.
      await page.getByRole('radio', { name: 'Later' }).check()
      await page.getByRole('switch', { name: 'In each user’s time zone' }).click()
      await page.getByText(/^All \d+ times$/).click()
      const waves = page.getByRole('table', { name: 'When users get it, by time zone' })
      await waves.getByRole('row', { name: /UTC−11/ }).waitFor()
      expect(await waves.getByRole('row', { name: /UTC\+0 / }).textContent()).toContain('Europe/London')
      await page.getByRole('radio', { name: 'When it is launched' }).check()
      await page.getByRole('button', { name: 'Next: Review' }).click()
      await page.getByText('The campaign has content.').waitFor()
      const samples = page.getByRole('list', { name: 'Preview for five users' })
      await samples.getByText('Spring beans for Wilhelmina').waitFor({ timeout: SENT_MS })
      expect(await samples.getByRole('listitem').count()).toBe(5)
      await page.getByRole('button', { name: 'Launch…' }).click({ timeout: SENT_MS })
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Send to \d+ users/ })
        .click()
      // It can be undone for 30 seconds, or sent at once.
      await page.getByRole('button', { name: 'Undo the launch' }).waitFor()
      await page.getByRole('button', { name: 'Send now' }).click()
      await page.getByText('finished', { exact: true }).first().waitFor({ timeout: SENT_MS })
      await page.getByText('Adds up:').waitFor()
      // Why some did not get it leads to these recipients.
      await page.getByRole('table', { name: 'Messages by reason' }).getByRole('link', { name: 'No address for this channel' }).click()
      await page.getByRole('table', { name: 'Recipients' }).getByText('no_address').first().waitFor()
      await page.goBack()
      // A run of this test that failed leaves a draft.
      const { results } = await site().api('GET', 'campaigns?q=Spring%20harvest')
      expect(results[0]).toMatchObject({ mail_retries: { after_minutes: [5, 60], for_hours: 24 } })
      await page.getByRole('button', { name: 'Why: sample-2' }).click()
      await page
        .getByRole('complementary', { name: /sample-2/ })
        .getByText('Subscribed')
        .waitFor()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as CSV' }).click()])
      const csv = await readFile(await download.path(), 'utf8')
      expect(csv.split('\r\n')[0]).toBe('\uFEFFUser,State,Reason,Detail,When,due')
      expect(csv).toContain('\r\nsample-2,')
      await page
        .getByRole('link', { name: 'Developers' })
        .or(page.getByRole('link', { name: 'Sandbox inbox' }))
        .first()
        .click()
      await page.getByRole('button', { name: /Spring beans for Wilhelmina/ }).click()
      await page
        .frameLocator('iframe[title="Preview of the email"]')
        .getByRole('heading', { name: /Wilhelmina/ })
        .waitFor()
    })
  })
