import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

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
      await page.reload()
      await page.getByRole('link', { name: 'kim@nowhere.test' }).click()
      const drawer = page.getByRole('complementary', { name: 'Recipient kim@nowhere.test' })
      await drawer.getByText('There was no attempt yet.').waitFor()
      await drawer.getByRole('button', { name: 'Cancel it' }).click()
      await page.getByText('1 recipient is cancelled.').waitFor()
      await expect.poll(async () => (await call('get', 'messages', undefined, id)).results[0].state).toBe('aborted')
      await resume.click()
      await resume.waitFor({ state: 'detached' })

      await page.getByRole('button', { name: 'Sites', exact: true }).click()
      await page.getByRole('button', { name: 'Limits of Google' }).click()
      await page.getByLabel('Emails a second').fill('2')
      await page.getByRole('button', { name: 'Save the limits' }).click()
      await page.getByText('The limits of Google are saved.').waitFor()
      await page.getByRole('button', { name: 'Pause Google' }).click()
      await page.getByText('Email to google').waitFor()
      const stored = await call('get', 'mail-sites/google', undefined, id)
      expect(stored.project_limits).toEqual({ mails_per_second: 2 })

      // `/` leads to the project that was open last.
      await page.goto('/p/1')
      await page.getByRole('heading', { level: 1 }).waitFor()
    })
  })
