import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'
import { OF_API } from './of-api.ts'

/** Takes a user through a journey that an event of its own begins, and that ends at once. */
async function takeThroughJourney(site: Site, user: string, name: string): Promise<void> {
  const { id } = await site.api('POST', 'journeys', { name })
  const event_name = `${name.toLowerCase().replaceAll(' ', '_')}_begun`
  const entrance = { type: 'entrance', name: '', x: 0, y: 0, data: { trigger: 'event', event_name }, children: [] }
  await site.api('PUT', `journeys/${id}/steps`, { start: entrance })
  await site.api('POST', `journeys/${id}/publish`, {})
  await site.api('POST', 'events', [{ external_id: user, name: event_name }])
}

/** Sends a user an in-app message, and then unsubscribes them from the channel. */
async function sendInAppAndUnsubscribe(site: Site, user: string): Promise<void> {
  const { results } = await site.api('GET', 'subscriptions')
  const { id: subscription_id } = results.find(({ channel }: { channel: string }) => channel === 'in_app')
  const { id } = await site.api('POST', 'campaigns', { type: 'trigger', name: 'Beans', subscription_id, event_name: 'beans_arrived' })
  await site.api('PUT', `campaigns/${id}/templates/en`, { title: 'New beans', body: 'From Ethiopia' })
  await site.api('PATCH', `campaigns/${id}`, { state: 'running' })
  await site.api('POST', 'events', [{ external_id: user, name: 'beans_arrived' }])
  await expect.poll(async () => (await site.api('GET', `users/${user}/messages`)).results.length).toBe(1)
  await site.api('PATCH', `users/${user}/subscriptions`, [{ subscription_id, state: 0 }])
}

const journeyActs = (site: () => Site) =>
  test('in a journey can be moved on, to another step, and out of it, from their page', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Tour' })
    const step = (type: string, data: object, next?: string, name = '') => ({
      ...{ type, name, x: 0, y: 0, data },
      children: next === undefined ? [] : [{ external_id: next, path: 'default' }],
    })
    await site().api('PUT', `journeys/${id}/steps`, {
      start: step('entrance', { trigger: 'api', multiple: true }, 'first'),
      first: step('delay', { days: 1 }, 'second', 'First wait'),
      second: step('delay', { days: 1 }, 'end', 'Second wait'),
      end: step('exit', {}),
    })
    await site().api('POST', `journeys/${id}/publish`, {})
    await site().api('POST', `journeys/${id}/entrances`, { external_id: 'sample-3' })
    const stepNow = async () => (await site().api('GET', 'users/sample-3/journeys')).results[0]?.step
    await expect.poll(stepNow).toBe('first')
    await using opened = await memberPage(site(), '/p/1/users/sample-3')
    const { page } = opened
    const tour = page.getByRole('region', { name: 'Tour' })
    await tour.getByText('At First wait').waitFor()
    await tour.getByRole('button', { name: 'Skip the step' }).click()
    await tour.getByText('At Second wait').waitFor()
    await tour.getByRole('combobox', { name: 'Move to another step' }).click()
    expect(await page.getByRole('option').allTextContents()).toEqual(['First wait', 'Second wait', 'Exit'])
    await page.getByRole('option', { name: 'First wait' }).click()
    await tour.getByText('At First wait').waitFor()
    await tour.getByRole('button', { name: 'Remove from the journey' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from the journey' }).click()
    await tour.waitFor({ state: 'detached' })
    expect(await stepNow()).toBeUndefined()
    await site().api('DELETE', `journeys/${id}`)
  })

const longTimeline = (site: () => Site) =>
  test('show what journeys did with them also before the last hundred events', async () => {
    const user = 'busy-bee'
    await site().api('POST', 'users/batch', [{ external_id: user }])
    await takeThroughJourney(site(), user, 'Long ago')
    const timeline = async () => (await site().api('GET', `users/${user}/timeline`)).results
    await expect.poll(async () => (await timeline()).filter(({ kind }: { kind: string }) => kind === 'journey').length).toBe(2)
    const later = Array.from({ length: 120 }, () => ({ external_id: user, name: 'bean_tasted' }))
    for (const part of [later.slice(0, 60), later.slice(60)]) await site().api('POST', 'events', part)
    await expect.poll(async () => (await timeline()).at(-1)?.name).toBe('bean_tasted')
    await using opened = await memberPage(site(), `/p/1/users/${user}?show=journeys`)
    const { page } = opened
    await page.getByText('Completed a journey').or(page.getByText('Nothing has happened yet.')).waitFor()
    expect(await page.locator('.timeline li').count()).toBe(2)
    const event = { kind: 'event', name: 'bean_tasted', source: 'api', data: {}, created_at: '2026-11-20T09:00:00.000Z' }
    await page.route(/\/timeline\?/, (route) => route.fulfill({ headers: OF_API, json: { results: [event], nextCursor: 'more' } }))
    await page.reload()
    await page.getByText(/^Nothing since .* were not read\.$/).waitFor()
    expect(await page.getByText('The latest 0 entries.').count()).toBe(0)
    await site().api('DELETE', `users/${user}`)
  })

const testSends = (site: () => Site) =>
  test('get the message of a campaign as a test', async () => {
    const { results } = await site().api('GET', 'subscriptions')
    const { id: subscription_id } = results.find(({ channel }: { channel: string }) => channel === 'email')
    const { id } = await site().api('POST', 'campaigns', { type: 'blast', name: 'Tasting', subscription_id })
    await site().api('PUT', `campaigns/${id}/templates/en`, { subject: 'Taste it, {{ user.external_id }}', html: '<p>Beans</p>' })
    await using opened = await memberPage(site(), '/p/1/users/sample-2')
    const { page } = opened
    await page.getByRole('button', { name: 'Send a test…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Campaign' }).click()
    await page.getByRole('option', { name: 'Tasting · Email' }).click()
    await dialog.getByRole('button', { name: 'Send the test' }).click()
    await dialog.getByText('accepted').waitFor()
    await dialog.getByText('[Test] Taste it, sample-2').waitFor()
  })

const memberships = (site: () => Site) =>
  test('show the lists that they are in, and why', async () => {
    const rule = { attribute: 'data.plan', is_set: true }
    const { id } = await site().api('POST', 'lists', { name: 'With a plan', type: 'dynamic', rule })
    await expect.poll(async () => (await site().api('GET', `lists/${id}`)).users_count).toBeGreaterThan(0)
    await using opened = await memberPage(site(), '/p/1/users/sample-2')
    const { page } = opened
    const list = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'With a plan' }) })
    await list.getByRole('button', { name: 'Why is the user in With a plan?' }).click()
    await list.getByText('In the list.').waitFor()
    await list.getByText('data.plan').first().waitFor()
  })

const erasure = (site: () => Site) =>
  test('are erased once their external id was typed', async () => {
    await site().api('POST', 'users/batch', [{ external_id: 'to-erase', email: 'erase@example.com' }])
    await using opened = await memberPage(site(), '/')
    const { page } = opened
    await page.goto(`${new URL(page.url()).pathname}/users/to-erase`)
    await page.getByRole('button', { name: /^More about/ }).click()
    await page.getByRole('menuitem', { name: 'Erase the user…' }).click()
    const action = page.getByRole('button', { name: 'Erase the user and all of their data' })
    expect(await action.isDisabled()).toBe(true)
    await page.getByLabel(/Type to-erase/).fill('to-erase')
    await action.click()
    await page.getByText('is being erased').waitFor()
    await expect(site().api('GET', 'users/to-erase')).rejects.toThrow('404')
    // Nothing of them is left in the browser either.
    await page.goBack()
    await page.locator('main .say.bad').waitFor()
    expect(await page.getByRole('button', { name: /^More about/ }).count()).toBe(0)
  })

const failures = (site: () => Site) =>
  test('say so when an Undo or an export fails', async () => {
    await site().api('POST', 'users/batch', [{ external_id: 'kept-as-saved', data: { tier: 'gold' } }])
    await using opened = await memberPage(site(), '/p/1/users/kept-as-saved')
    const { page } = opened
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'Custom attributes, as JSON' }).fill('{ "tier": "silver" }')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const undo = page.getByRole('button', { name: 'Undo', exact: true })
    await undo.waitFor()
    await page.route(/users\/(batch$|kept-as-saved\/export)/, (route) => route.abort())
    await undo.click()
    await page.getByText('It was not undone.', { exact: false }).waitFor()
    await page.getByRole('button', { name: /^More about/ }).click()
    await page.getByRole('menuitem', { name: 'Export everything about the user' }).click()
    await page.locator('.say.bad').waitFor()
    await site().api('DELETE', 'users/kept-as-saved')
  })

/** What is done on the page of a user. */
function acts(site: () => Site) {
  journeyActs(site)
  erasure(site)
  failures(site)
}

export const users = (site: () => Site) =>
  describe('users', () => {
    test('are searched on the server, and the search is in the address', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByLabel('Search users').fill('nour')
      await page.waitForURL(/q=nour/)
      await expect.poll(() => page.getByRole('table', { name: 'Users' }).getByRole('row').count()).toBe(2)
      await page.reload()
      await expect.poll(() => page.getByRole('table', { name: 'Users' }).getByRole('row').count()).toBe(2)
      await page.getByLabel('Search users').fill('nobody like that')
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await expect.poll(() => page.getByRole('table', { name: 'Users' }).getByRole('row').count()).toBe(6)
    })

    test('show what they did, and what reaches them', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/users/sample-2`)
      await page.getByText('order_placed').waitFor()
      await page.getByRole('heading', { level: 2, name: /Push/ }).waitFor()
      expect(await page.getByText('no_push_device').count()).toBe(1)
      await takeThroughJourney(site(), 'sample-2', 'Grinding')
      const ended = page.locator('.timeline li').filter({ hasText: 'Completed a journey' })
      await ended.getByRole('link', { name: 'Grinding' }).waitFor()
      await page.getByRole('button', { name: 'Journeys', exact: true }).click()
      await page.waitForURL(/show=journeys/)
      await expect.poll(() => page.locator('.timeline li').count()).toBe(2)
    })

    memberships(site)
    longTimeline(site)

    test('show their in-app messages, and which channels their subscriptions leave', async () => {
      await sendInAppAndUnsubscribe(site(), 'sample-3')
      await using opened = await memberPage(site(), '/p/1/users/sample-3')
      const { page } = opened
      await page.getByRole('heading', { name: 'In-app messages' }).waitFor()
      for (const text of ['From Ethiopia', 'not seen', 'Not subscribed to any type on this channel.']) await page.getByText(text).waitFor()
      // What was sent names its campaign, and leads to it.
      await page.locator('.timeline').getByRole('link', { name: 'Beans', exact: true }).waitFor()
    })

    test('are told apart by a campaign: each check says what it found', async () => {
      const { results } = await site().api('GET', 'subscriptions')
      const { id: subscription_id } = results.find(({ channel }: { channel: string }) => channel === 'email')
      await site().api('POST', 'campaigns', { type: 'trigger', name: 'Order received', subscription_id, event_name: 'order_placed' })
      await using opened = await memberPage(site(), '/p/1/users/sample-5')
      const { page } = opened
      await page.getByRole('button', { name: 'Why did they get it, or not?' }).click()
      await page.getByRole('dialog').getByLabel('Campaign').first().click()
      await page.getByRole('option', { name: 'Order received' }).click()
      await page
        .getByRole('dialog')
        .getByText(/^no_(?:address|template)$/)
        .waitFor()
      await page.getByRole('dialog').getByText('subscribed', { exact: true }).waitFor()
    })

    testSends(site)
    acts(site)

    test('unsubscribing offers to undo it, and both are in the history of consent', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/users/sample-4`)
      const states = async () =>
        (await site().api('GET', 'users/sample-4/subscriptions')).results.map(({ state }: { state: number }) => state)
      const before = await states()
      const change = page.getByRole('button', { name: /^(?:Uns|S)ubscribe (?:to|from)/ }).first()
      await change.click()
      const undo = page.getByRole('button', { name: 'Undo', exact: true })
      await undo.waitFor()
      expect(await states()).not.toEqual(before)
      await undo.click()
      await expect.poll(states).toEqual(before)
      await page.getByText('History of consent').click()
      const entries = page.locator('.consents li')
      await expect.poll(() => entries.count()).toBeGreaterThan(1)
      const [latest, earlier] = await entries.allTextContents()
      expect(latest).toContain('from unsubscribed to subscribed')
      expect(latest).toContain('API or console')
      expect(earlier).toContain('unsubscribed')
    })
  })
