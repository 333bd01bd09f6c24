import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'
import { OF_API } from './of-api.ts'

/** The steps of a policy that a check has found, which needs a domain that is published. */
async function seeWalk(page: Page, domain: { sending: object }): Promise<void> {
  const dmarc = {
    policy: 'quarantine',
    is_inherited: false,
    next_policy: 'reject',
    next_at: '2199-12-04T00:00:00.000Z',
    reports_to: ['dmarc@bellbird.test'],
  }
  const path = /\/api\/client\/domains\/\d+$/
  await page.route(path, (route) => route.fulfill({ headers: OF_API, json: { ...domain, sending: { ...domain.sending, dmarc } } }))
  await page.reload()
  await page.locator('[aria-current="step"]').getByText('quarantine').waitFor()
  await page.getByText(/^The next step is reject, from \d+ Dec 2199\. Its record/).waitFor()
  await page.getByText('Receivers report to dmarc@bellbird.test.').waitFor()
  await page.unroute(path)
  await page.reload()
}

export const domains = (site: () => Site) =>
  describe('domains', () => {
    test('a domain is added, its records are shown to be published, checked, given new keys, warmed up and deleted', async () => {
      await using opened = await memberPage(site(), '/p/1/domains')
      const { page } = opened
      await page.getByRole('button', { name: 'Add a domain' }).first().click()
      await page.getByRole('dialog').getByLabel('Domain of your From addresses').fill('shop.bellbird.test')
      await page.getByRole('button', { name: 'Add the domain' }).click()
      await page.getByRole('heading', { level: 1, name: 'shop.bellbird.test' }).waitFor()
      const id = Number(new URL(page.url()).pathname.split('/').at(-1))
      const stored = () => site().api('GET', `domains/${id}`)

      // Every value of the API is there to be copied.
      const { records } = await stored()
      const shown = await page.locator('.dns dd code').allTextContents()
      for (const { name, value } of records) expect(shown).toEqual(expect.arrayContaining([name, value]))
      await page.getByRole('button', { name: 'Check the records now' }).click()
      await page.getByText(`0 of ${records.length} records found`).waitFor()
      expect((await stored()).checked_at).not.toBeNull()

      await seeWalk(page, await stored())

      await page.getByRole('button', { name: 'More about shop.bellbird.test' }).click()
      await page.getByRole('menuitem', { name: 'Add new keys…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Add new keys' }).click()
      await page.getByText('The current keys are still waiting for their records').waitFor()

      await page.getByRole('button', { name: 'Warm-up' }).click()
      await page.getByRole('button', { name: 'Begin a warm-up' }).click()
      await page.getByLabel('Emails per day, for each step').fill('20, 40, 80')
      await page.getByRole('button', { name: 'Save the plan' }).click()
      await expect.poll(async () => (await site().api('GET', `domains/${id}/warm-up`)).steps).toEqual([20, 40, 80])

      await page.getByRole('button', { name: 'More about shop.bellbird.test' }).click()
      await page.getByRole('menuitem', { name: 'Delete…' }).click()
      await page.getByLabel('Type shop.bellbird.test to confirm').fill('shop.bellbird.test')
      await page.getByRole('button', { name: 'Delete the domain' }).click()
      await page.getByText('shop.bellbird.test has been deleted.').waitFor()
      await expect.poll(async () => (await site().api('GET', 'domains')).results).toEqual([])
    })

    test('each have a form of their own for their warm-up', async () => {
      const made = await Promise.all(
        ['one', 'two'].map((name) => site().api('POST', 'domains', { sending_domain: `${name}.bellbird.test` })),
      )
      const [one, two] = made.map(({ id }) => id)
      await site().api('PUT', `domains/${one}/warm-up`, { steps: [10, 20], bounce_percent_max: 20 })
      await site().api('PUT', `domains/${two}/warm-up`, { steps: [30, 60] })
      await using opened = await memberPage(site(), `/p/1/domains/${one}?view=warm-up`)
      const { page } = opened
      const steps = page.getByLabel('Emails per day, for each step')
      await steps.waitFor()
      const bounces = page.getByLabel('Maximum bounces, in per cent')
      await bounces.focus()
      for (const key of ['End', 'Backspace', 'Backspace', 'Tab']) await page.keyboard.press(key)
      await expect.poll(() => bounces.inputValue()).toBe('20')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByPlaceholder('Search or run a command').fill('two.bellbird')
      await page.getByRole('dialog').getByText('two.bellbird.test').click()
      await page.getByRole('heading', { level: 1, name: 'two.bellbird.test' }).waitFor()
      await page.getByRole('button', { name: 'Warm-up', exact: true }).click()
      await expect.poll(() => steps.inputValue()).toBe('30, 60')
      await steps.fill('500')
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: 'one.bellbird.test' }).waitFor()
      await expect.poll(() => steps.inputValue()).toBe('10, 20')
      for (const { id } of made) await site().api('DELETE', `domains/${id}`)
    })
  })
