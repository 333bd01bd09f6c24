import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { draft, TEMPLATE } from './launches.ts'
import { memberPage } from './member-page.ts'

const READY_MS = 60_000

/** What goes out is what the member sees. */
export const unsaved = (site: () => Site) =>
  describe('what is not saved', () => {
    test('is not launched, nor what was saved before it, and is no test message', async () => {
      const id = await draft(site(), 'No subject')
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      const goTo = (name: string) => page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name }).click()
      const subject = page.getByLabel('Subject')
      await subject.fill('')
      await page.getByText('Your draft is kept in this browser.').waitFor()
      const launch = page.getByRole('button', { name: 'Launch…' })
      await goTo('Review')
      await page.getByText('The content in this browser is not saved.').waitFor()
      expect(await launch.isDisabled()).toBe(true)
      await goTo('Content')
      await page.getByRole('button', { name: 'Send test' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Send the test' }).click()
      await dialog.getByText('no test was sent').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await subject.fill('Written last')
      await goTo('Review')
      await expect.poll(() => launch.isEnabled(), { timeout: READY_MS }).toBe(true)
      expect((await site().api('GET', `campaigns/${id}/templates/en`)).data.subject).toBe('Written last')
    })

    discarded(site)

    undiscarded(site)

    test('is not published, nor is the draft of a journey that was saved before it', async () => {
      const { id } = await site().api('POST', 'journeys', { name: 'Not reached' })
      const at = { x: 0, y: 0 }
      await site().api('PUT', `journeys/${id}/steps`, {
        start: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ external_id: 'wait' }] },
        wait: { ...at, type: 'delay', data: { days: 2 } },
      })
      await using opened = await memberPage(site(), `/p/1/journeys/${id}`)
      const { page } = opened
      await page.locator('[role=treeitem].step').nth(1).press('Enter')
      const days = page.getByLabel('Days', { exact: true }).first()
      await days.waitFor()
      const steps = /\/steps$/
      await page.route(steps, (route) => route.abort())
      await days.fill('9')
      await page.getByRole('button', { name: 'Publish…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Offline: kept on this device').waitFor()
      await page.unroute(steps)
      await dialog.getByRole('button', { name: 'Publish version 1' }).click()
      await page.getByText('Version 1 is live.').waitFor()
      expect((await site().api('GET', `journeys/${id}/steps`)).wait.data).toEqual({ days: 9 })
    })

    byAnother(site)

    test('and is from before the page was opened is saved in a running campaign only if the member says so', async () => {
      const [{ id: subscription_id }] = (await site().api('GET', 'subscriptions?q=email')).results
      const { id } = await site().api('POST', 'campaigns', { type: 'trigger', name: 'Running', subscription_id })
      const template = `campaigns/${id}/templates/en`
      await site().api('PUT', template, TEMPLATE)
      await site().api('PATCH', `campaigns/${id}`, { state: 'running' })
      const address = `/p/1/campaigns/${id}/content`
      await using first = await memberPage(site(), address)
      await first.page.route(/\/templates\/en/, (route) => route.abort())
      await first.page.getByLabel('Subject').fill('Half a thought')
      await first.page.getByText('Offline: kept on this device').waitFor()
      await first.page.close()
      await using second = await memberPage(site(), address)
      const { page } = second
      await page.getByText('This browser has changes that were not saved').waitFor()
      expect(await page.getByLabel('Subject').inputValue()).toBe('Half a thought')
      await page.getByRole('button', { name: 'Discard the changes' }).click()
      expect(await page.getByLabel('Subject').inputValue()).toBe('Beans')
      await page.getByLabel('Preheader').fill('Fresh')
      await page.locator('.editor output.saved').waitFor()
      expect((await site().api('GET', template)).data).toMatchObject({ subject: 'Beans', preheader: 'Fresh' })
    })
  })

const byAnother = (site: () => Site) =>
  test('here but by another member is published only once it has been seen', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Of two' })
    const at = { x: 0, y: 0 }
    const put = (days: number) =>
      site().api('PUT', `journeys/${id}/steps`, {
        start: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ external_id: 'wait' }] },
        wait: { ...at, type: 'delay', data: { days } },
      })
    await put(2)
    await using opened = await memberPage(site(), `/p/1/journeys/${id}`)
    const { page } = opened
    const publish = page.getByRole('button', { name: 'Publish…' })
    const action = page.getByRole('dialog').getByRole('button', { name: 'Publish version 1' })
    await publish.click()
    await action.waitFor()
    await put(9)
    await action.click()
    await page.getByRole('dialog').getByText('Nothing was published').waitFor()
    expect(await site().api('GET', `journeys/${id}`)).toMatchObject({ status: 'draft' })
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('9 days').first().waitFor()
    await publish.click()
    await action.click()
    await page.getByText('Version 1 is live.').waitFor()
  })

const discarded = (site: () => Site) =>
  test.each([
    ['only begun', 'fr'],
    ['refused', 'en-USA'],
  ])('and cannot be saved is discarded, so that a language that was %s does not stop the launch', async (_, locale) => {
    const id = await draft(site(), `A begun language, ${locale}`)
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content&locale=${locale}`)
    const { page } = opened
    const review = page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: 'Review' })
    const launch = page.getByRole('button', { name: 'Launch…' })
    await page.getByLabel('Preheader').fill('D')
    await page.getByText('Your draft is kept in this browser.').waitFor()
    await review.click()
    expect(await launch.isDisabled()).toBe(true)
    await page.getByRole('link', { name: `Open ${locale}` }).click()
    await page.getByRole('button', { name: 'Discard the changes' }).click()
    await page.locator('.editor output.saved').waitFor()
    expect(await page.getByLabel('Preheader').inputValue()).toBe('')
    await review.click()
    await expect.poll(() => launch.isEnabled(), { timeout: READY_MS }).toBe(true)
    expect((await site().api('GET', `campaigns/${id}/templates`)).results).toHaveLength(1)
  })

const undiscarded = (site: () => Site) =>
  test('is not discarded while what is saved cannot be read, and takes it once it can', async () => {
    const id = await draft(site(), 'Too many requests')
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
    const { page } = opened
    const subject = page.getByLabel('Subject')
    const template = /\/templates\/en/
    await subject.waitFor()
    await page.route(template, (route) =>
      route.fulfill({ status: 429, json: { error: { code: 'too_many_requests', message: 'Slower.' } } }),
    )
    await subject.fill('Written here')
    const discard = page.getByRole('button', { name: 'Discard the changes' })
    await discard.waitFor()
    await site().api('PUT', `campaigns/${id}/templates/en`, { ...TEMPLATE, subject: 'Written there' })
    const read = page.waitForResponse((reply) => template.test(reply.url()) && reply.request().method() === 'GET')
    await discard.click()
    await (await read).finished()
    await discard.click({ trial: true })
    expect(await subject.inputValue()).toBe('Written here')
    await page.unroute(template)
    await discard.click()
    await expect.poll(() => subject.inputValue()).toBe('Written there')
    await page.locator('.editor output.saved').waitFor()
  })
