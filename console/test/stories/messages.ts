import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const messages = (site: () => Site) =>
  describe('the message log', () => {
    test('says why a message was not sent, what it says, and what would happen now', async () => {
      const email = (await site().api('GET', 'subscriptions')).results.find(({ channel }: { channel: string }) => channel === 'email').id
      const send = (external_id: string, subject: string) =>
        site().api('POST', 'messages', {
          user: { external_id },
          subscription_id: email,
          content: { subject, html: '<p>Two bags of Gesha</p>' },
        })
      await site().api('POST', 'users/batch', [{ external_id: 'stopped', email: 'stopped@example.com' }])
      await site().api('POST', 'suppressions', [{ channel: 'email', address: 'stopped@example.com' }])
      await send('stopped', 'You will not see this')
      const { id } = await send('sample-2', 'Your order')
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      const log = `${new URL(page.url()).pathname}/messages`
      await page.goto(log)
      await page.getByRole('button', { name: 'State', exact: true }).click()
      await page.getByRole('menuitem', { name: 'skipped' }).click()
      await page.waitForURL(/state=skipped/)
      await page.getByRole('row').filter({ hasText: 'stopped' }).getByRole('link').click()
      const drawer = page.getByRole('complementary', { name: /^Message \d+$/ })
      await drawer.getByText('Skipped: deliberately not sent').waitFor()
      await drawer.getByRole('button', { name: 'Explain' }).click()
      await drawer.getByText('The address is suppressed: manual').waitFor()
      // Escape closes it, and the focus is where it was.
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('A')
      await page.goto(`${log}?message=${id}`)
      await drawer.getByRole('button', { name: 'Content' }).click()
      await drawer.getByText('Your order').waitFor()
      await page.frameLocator('iframe[title="Preview of the message"]').getByText('Two bags of Gesha').waitFor()
      // It is sent again as a new message, which opens.
      await drawer.getByRole('button', { name: 'More about the message' }).click()
      await page.getByRole('menuitem', { name: 'Send again…' }).click()
      await page
        .getByRole('dialog')
        .getByText(/^sample-2 gets this message again/)
        .waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Send the message again' }).click()
      await drawer.getByRole('link', { name: `Message ${id}` }).waitFor()
      const [again] = (await site().api('GET', 'messages?user=sample-2&limit=1')).results
      expect(again).toMatchObject({ resent_from: id })
      expect(new URL(page.url()).searchParams.get('message')).toBe(String(again.id))
      // One that was skipped was never attempted.
      const [skipped] = (await site().api('GET', 'messages?user=stopped&limit=1')).results
      await page.goto(`${log}?message=${skipped.id}`)
      await drawer.getByRole('button', { name: 'More about the message' }).click()
      await page.getByRole('menuitem', { name: 'Copy as curl' }).waitFor()
      expect(await page.getByRole('menuitem', { name: 'Send again…' }).count()).toBe(0)
    })

    test('is filtered by a campaign and a provider by their names, and says where each message comes from', async () => {
      const get = async (path: string) => (await site().api('GET', path)).results
      const sent = (await get('messages?limit=100')).find(({ provider }: { provider: string | null }) => provider !== null)
      const { id, name } = (await get('campaigns?limit=100')).find(({ id }: { id: number }) => id === sent.campaign_id)
      const ofCampaign = await get(`messages?campaign_id=${id}&provider=${sent.provider}`)
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/messages`)
      await page.getByRole('button', { name: 'Campaign', exact: true }).click()
      await page.getByRole('menuitem', { name, exact: true }).first().click()
      await page.waitForURL(new RegExp(`campaign_id=%22${id}%22`))
      await page.getByRole('button', { name: `Remove the filter Campaign: ${name}` }).waitFor()
      await page.getByRole('button', { name: 'Provider', exact: true }).click()
      await page.getByRole('menuitem', { name: sent.provider, exact: true }).click()
      await expect.poll(() => page.getByRole('row').count()).toBe(ofCampaign.length + 1)
      expect(await page.getByRole('cell', { name: `${name} Campaign ${id}` }).count()).toBe(ofCampaign.length)
    })
  })
