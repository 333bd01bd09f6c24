import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const HTML =
  '<p style="color: rgb(1, 2, 3)">Good day</p><script>document.body.textContent = "scripted"</script><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>'

/** The first subscription type of emails. */
const emailType = async (site: Site): Promise<number> =>
  (await site.api('GET', 'subscriptions')).results.find(({ channel }: { channel: string }) => channel === 'email').id

export const sandbox = (site: () => Site) =>
  describe('the sandbox inbox', () => {
    test('shows a message as soon as it is captured, drawn without its scripts', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/sandbox`)
      await page.getByRole('heading', { level: 1, name: 'Sandbox inbox' }).waitFor()
      await site().api('POST', 'messages', {
        user: { external_id: 'sample-2' },
        subscription_id: await emailType(site()),
        content: { subject: 'Time for beans', html: HTML },
      })
      await page.getByRole('button', { name: /Time for beans/ }).click()
      const drawn = page.frameLocator('iframe[title="Preview of the email"]').getByText('Good day')
      await drawn.waitFor()
      expect(await drawn.evaluate((element: any) => element.ownerDocument.defaultView.getComputedStyle(element).color)).toBe('rgb(1, 2, 3)')
      await page.getByRole('button', { name: 'HTML', exact: true }).click()
      await page.waitForURL(/tab=html/)
      expect(await page.locator('pre').textContent()).toContain('scripted')
    })
  })
