import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'
import { OF_API } from './of-api.ts'

const TREND = {
  first_day: '2026-10-27',
  last_day: '2026-11-24',
  sites: [
    {
      site: 'google',
      label: 'Google',
      days: [
        { day: '2026-11-20', delivered: 900, bounced: 4, complained: 0 },
        { day: '2026-11-23', delivered: 890, bounced: 10, complained: 2 },
      ],
    },
    { site: 'mx-1', label: 'example.org', days: [{ day: '2026-11-24', delivered: 12, bounced: 0, complained: 0 }] },
  ],
}

/** What the server has of a project that sent nothing, and then what it would have after some weeks, which the tests of the API make. */
async function seeTrend(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Bounces and complaints' }).click()
  await page.getByText('This server delivered no email of the project in the last 29 days.').waitFor()
  await page.route('**/api/client/mail-site-days', (route) => route.fulfill({ headers: OF_API, json: TREND }))
  await page.reload()
  await page.getByRole('img', { name: '14 emails to Google bounced. The peak was 10, on 23 Nov 2026.' }).waitFor()
  await page.getByRole('img', { name: '2 emails to Google were reported as spam. The peak was 2, on 23 Nov 2026.' }).waitFor()
  await page.getByRole('row', { name: /^Google 1,790 0\.8 % of 1,804 0\.1 % of 1,790$/ }).waitFor()
  await page.getByText('The days as a table').click()
  await page.getByRole('row', { name: '20 Nov 2026 900 4 0' }).waitFor()
  await page.unroute('**/api/client/mail-site-days')
}

export const mail = (site: () => Site) =>
  describe('the mail queue', () => {
    test('is paused, shows who waits, cancels an email, and limits and holds what goes to a site', async () => {
      await using opened = await memberPage(site(), '/p/1')
      const { page } = opened
      // A project of its own: with a provider that is not the sandbox a project is a live one.
      const call = async (method: 'get' | 'post' | 'put', path: string, data?: object, project?: number) => {
        const headers = { origin: site().url, ...(project !== undefined && { 'carillon-project': String(project) }) }
        const reply = await page.request[method](`${site().url}/api/client/${path}`, { headers, ...(data && { data }) })
        expect(reply.ok(), await reply.text()).toBe(true)
        return reply.json()
      }
      const { id } = await call('post', 'projects', { name: 'Letters', locale: 'en-AU', timezone: 'Australia/Melbourne' })
      await page.goto(`/p/${id}/mail-queue`)
      await page.getByRole('button', { name: 'Pause all delivery' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Pause all delivery' }).click()
      const resume = page.getByRole('button', { name: 'Resume: All email of the project' })
      await resume.waitFor()

      const settings = { default_from: 'Bellbird <hello@bellbird.test>' }
      await call('post', 'providers', { name: 'Own', kind: 'mta', channel: 'email', settings }, id)
      const type = await call('post', 'subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true }, id)
      await call('post', 'users/batch', [{ external_id: 'kim', email: 'kim@nowhere.test' }], id)
      const content = { subject: 'Your receipt', html: '<p>Thank you.</p>' }
      await call('post', 'messages', { user: { external_id: 'kim' }, subscription_id: type.id, content }, id)
      await expect.poll(async () => (await call('get', 'mail-queue', undefined, id)).results.length).toBe(1)
      // A site is listed once the project sends to it, or limits it.
      await call('put', 'mail-sites/google', { limits: { mails_per_second: 5 } }, id)
      await page.goto(`/p/${id}/mail-queue?state=waiting`)
      const row = page.getByRole('link', { name: 'kim@nowhere.test' })
      await row.click()
      const drawer = page.getByRole('complementary', { name: 'Recipient kim@nowhere.test' })
      await drawer.getByText('There has been no attempt yet.').waitFor()
      await drawer.getByRole('button', { name: 'Cancel it' }).click()
      await page.getByText('Email to 1 recipient has been cancelled.').waitFor()
      await row.waitFor({ state: 'detached' })
      await drawer.getByText('cancelled', { exact: true }).waitFor()
      expect(await drawer.getByRole('button', { name: 'Cancel it' }).count()).toBe(0)
      await expect.poll(async () => (await call('get', 'messages', undefined, id)).results[0].state).toBe('aborted')
      await resume.click()
      await resume.waitFor({ state: 'detached' })

      await page.getByRole('button', { name: 'Sites', exact: true }).click()
      await page.getByRole('button', { name: 'Limits of Google' }).click()
      const rate = page.getByLabel('Emails a second')
      await rate.fill('1.5')
      await rate.press('Backspace')
      await rate.press('7')
      expect(await rate.inputValue()).toBe('1.7')
      await page.getByRole('button', { name: 'Save the limits' }).click()
      await page.getByText('The limits of Google have been saved.').waitFor()
      // What is held by itself stays so when all is resumed.
      const headers = { origin: site().url, 'carillon-project': String(id) }
      expect((await page.request.post(`${site().url}/api/client/mail-queue/pause`, { headers, data: {} })).ok()).toBe(true)
      await page.reload()
      await page.getByText('All email of the project').waitFor()
      await page.getByRole('button', { name: 'Pause Google' }).click()
      await page.getByText('Email to google').waitFor()
      const stored = await call('get', 'mail-sites/google', undefined, id)
      expect(stored.project_limits).toEqual({ mails_per_second: 1.7 })
      await seeTrend(page)

      // `/` leads to the project that was open last.
      await page.goto('/p/1')
      await page.getByRole('heading', { level: 1 }).waitFor()
    })
  })
