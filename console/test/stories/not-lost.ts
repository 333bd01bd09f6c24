import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { draft, TEMPLATE } from './launches.ts'
import { memberPage } from './member-page.ts'

const SAVED_MS = 60_000

/** Leaves no room in what this browser keeps for the console, until it is disposed of. */
export async function fullStorage(page: Page): Promise<AsyncDisposable> {
  await page.evaluate(`{
    let filler = ''
    for (let size = 8 * 1024 * 1024; size >= 1; size /= 2)
      try {
        localStorage.setItem('filler', filler + 'x'.repeat(size))
        filler += 'x'.repeat(size)
      } catch {}
  }`)
  return { [Symbol.asyncDispose]: () => page.evaluate("localStorage.removeItem('filler')") }
}

/** What is written in the editor of a campaign is there until the member replaces it. */
export const notLost = (site: () => Site) =>
  describe('what is written in a campaign', () => {
    test('and cannot be saved stays when an earlier version is restored, which waits until it is saved', async () => {
      const id = await draft(site(), 'Restored')
      const template = `campaigns/${id}/templates/en`
      await site().api('PUT', template, { ...TEMPLATE, preheader: 'Second' })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      const [subject, preheader] = [page.getByRole('textbox', { name: 'Subject' }), page.getByRole('textbox', { name: 'Preheader' })]
      await subject.fill('')
      await preheader.fill('Rewritten')
      await page.getByText('Your draft is kept in this browser.').waitFor()
      await page.getByRole('button', { name: 'Compare version 1 with' }).click()
      const restore = page.getByRole('button', { name: 'Restore version 1' })
      await restore.click()
      await page.getByText('Version 1 has not been restored').waitFor()
      expect(await preheader.inputValue()).toBe('Rewritten')
      await subject.fill('Beans again')
      await page.locator('.editor output.saved').waitFor()
      await restore.click()
      await expect.poll(async () => (await site().api('GET', template)).data.preheader, { timeout: SAVED_MS }).toBeUndefined()
      const { results } = await site().api('GET', `${template}/versions`)
      const before = await site().api('GET', `${template}/versions/${results[1].number}`)
      expect(before.data).toMatchObject({ subject: 'Beans again', preheader: 'Rewritten' })
    })

    test('is saved although this browser has no room for it, which is said, and no older draft takes its place', async () => {
      const id = await draft(site(), 'No room')
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      const subject = page.getByLabel('Subject')
      const template = /\/templates\/en/
      await page.route(template, (route) => route.abort())
      await subject.fill('Kept')
      await page.getByText('Offline: kept on this device').waitFor()
      await using _ = await fullStorage(page)
      await subject.fill('Longer than what was kept before')
      await page.getByText('Offline: not kept on this device').waitFor()
      const asked = page.waitForEvent('dialog')
      const left = page.getByRole('link', { name: 'Users', exact: true }).click()
      const question = await asked
      await question.dismiss()
      await left
      expect(question.message()).toContain('has no room for them')
      await page.unroute(template)
      await page.locator('.editor output.saved').waitFor()
      const stored = async () => (await site().api('GET', `campaigns/${id}/templates/en`)).data.subject
      expect(await stored()).toBe('Longer than what was kept before')
      await page.reload()
      await subject.waitFor()
      expect(await subject.inputValue()).toBe('Longer than what was kept before')
      await subject.fill('Short')
      await expect.poll(stored, { timeout: SAVED_MS }).toBe('Short')
    })
  })
