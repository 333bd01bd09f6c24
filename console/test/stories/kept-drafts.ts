import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { holdReads } from './held-reads.ts'
import { memberPage } from './member-page.ts'

const SAVED_MS = 60_000

/** Lets a page read again what it shows, as when a member comes back to it after a minute. */
async function lookAgain(page: Page, path: string): Promise<void> {
  await page.clock.setFixedTime(Date.now() + 60_000)
  const read = page.waitForResponse((reply) => reply.request().method() === 'GET' && new URL(reply.url()).pathname.endsWith(path))
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
  await (await read).finished()
}

/** What is typed in a form stays when others change what is stored, and does not undo what they changed. */
export const keptDrafts = (site: () => Site) =>
  describe('what a member types', () => {
    test('what is typed stays when the stored settings change meanwhile', async () => {
      const hook = { channel: 'webhook', kind: 'http', settings: {} }
      const { id: first } = await site().api('POST', 'providers', { name: 'First hook', ...hook })
      const { id } = await site().api('POST', 'providers', { name: 'Order hook', ...hook })
      await using opened = await memberPage(site(), `/p/1/providers/${id}`)
      const { page } = opened
      const name = page.getByLabel('Name')
      await name.fill('Typed')
      await page.getByRole('button', { name: 'More about Order hook' }).click()
      await page.getByRole('menuitem', { name: 'Make it the default of its channel' }).click()
      await page.getByText('Default', { exact: true }).waitFor()
      expect(await name.inputValue()).toBe('Typed')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      const stored = () => site().api('GET', `providers/${id}`)
      await expect.poll(async () => (await stored()).name, { timeout: SAVED_MS }).toBe('Typed')
      expect(await stored()).toMatchObject({ is_default: true })
      for (const made of [id, first]) await site().api('DELETE', `providers/${made}`)
    })

    test('attributes that others change meanwhile stay as they are', async () => {
      await site().api('POST', 'users/batch', [{ external_id: 'two-hands', data: { plan: 'free', seats: 1 } }])
      await using opened = await memberPage(site(), '/p/1/users/two-hands')
      const { page } = opened
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const field = page.getByLabel('Custom attributes, as JSON')
      await field.fill('{ "plan": "pro", "seats": 1 }')
      await site().api('POST', 'users/batch', [{ external_id: 'two-hands', data: { seats: 2 } }])
      await lookAgain(page, '/users/two-hands')
      expect(await field.inputValue()).toContain('pro')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The attributes have been saved.').waitFor()
      expect((await site().api('GET', 'users/two-hands')).data).toEqual({ plan: 'pro', seats: 2 })
    })

    test('attributes that are refused are not said to be saved', async () => {
      await site().api('POST', 'users/batch', [{ external_id: 'too-many', data: { plan: 'free' } }])
      await using opened = await memberPage(site(), '/p/1/users/too-many')
      const { page } = opened
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const many = Object.fromEntries(Array.from({ length: 301 }, (_, at) => [`a${at}`, 1]))
      await page.getByLabel('Custom attributes, as JSON').fill(JSON.stringify(many))
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('alert').filter({ hasText: '300' }).waitFor()
      expect(await page.getByText('The attributes have been saved.').count()).toBe(0)
    })

    test('the settings of a journey are saved after users have entered it meanwhile', async () => {
      const { id } = await site().api('POST', 'journeys', { name: 'Entered meanwhile' })
      const start = { type: 'entrance', x: 0, y: 0, data: { trigger: 'api' }, children: [{ external_id: 'wait' }] }
      await site().api('PUT', `journeys/${id}/steps`, { start, wait: { type: 'delay', x: 0, y: 0, data: { days: 2 } } })
      await site().api('POST', `journeys/${id}/publish`, {})
      await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=settings`)
      const { page } = opened
      const field = page.getByRole('textbox', { name: /hold/i }).first()
      await field.waitFor()
      await site().api('POST', `journeys/${id}/entrances`, { external_id: 'sample-2' })
      const active = async () => (await site().api('GET', `journeys/${id}`)).stats.active
      await expect.poll(active, { timeout: SAVED_MS }).toBe(1)
      await lookAgain(page, `/journeys/${id}`)
      await field.fill('20')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      await page.getByText('The settings have been saved.').or(page.getByRole('alert')).first().waitFor()
      expect((await site().api('GET', `journeys/${id}`)).settings).toMatchObject({ holdout_percent: 20 })
    })

    test('the settings of a journey that are typed stay when another member saves theirs, and both are kept', async () => {
      const { id } = await site().api('POST', 'journeys', { name: 'Two editors' })
      await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=settings`)
      const { page } = opened
      const field = page.getByRole('textbox', { name: /hold/i }).first()
      await field.fill('20')
      await site().api('PATCH', `journeys/${id}`, { settings: { max_entries_per_day: 7 } })
      await lookAgain(page, `/journeys/${id}`)
      expect(await field.inputValue()).toContain('20')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      await page.getByText('The settings have been saved.').waitFor()
      expect((await site().api('GET', `journeys/${id}`)).settings).toEqual({ max_entries_per_day: 7, holdout_percent: 20 })
    })

    whileSaving(site)
    twoTabs(site)
    byOthers(site)
  })

function whileSaving(site: () => Site): void {
  test('the settings of a journey that are typed while they are being saved stay', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Typed on' })
    await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=settings`)
    const { page } = opened
    const field = page.getByRole('textbox', { name: /hold/i }).first()
    const save = page.getByRole('button', { name: 'Save the settings' })
    const stored = async () => (await site().api('GET', `journeys/${id}`)).settings.holdout_percent
    await field.fill('20')
    const held = await holdReads(page, new RegExp(`/journeys/${id}$`))
    await save.click()
    await held.asked
    await field.fill('30')
    held.release()
    await page.getByText('The settings have been saved.').waitFor()
    expect([await field.inputValue(), await stored()]).toEqual([expect.stringContaining('30'), 20])
    await save.click()
    await expect.poll(stored, { timeout: SAVED_MS }).toBe(30)
  })

  test('the rule of a list that is changed while it is being saved stays', async () => {
    const { id } = await site().api('POST', 'lists', { name: 'Typed on', type: 'dynamic', rule: { attribute: 'data.tier', is: 'pro' } })
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    const save = page.getByRole('button', { name: 'Save the rule' })
    const stored = async () => (await site().api('GET', `lists/${id}`)).rule
    await value.fill('free')
    const held = await holdReads(page, new RegExp(`/lists/${id}$`))
    await save.click()
    await held.asked
    await value.fill('team')
    held.release()
    await page.getByText('The rule has been saved').waitFor()
    expect([await value.inputValue(), JSON.stringify(await stored())]).toEqual(['team', expect.stringContaining('free')])
    await save.click()
    await expect.poll(async () => JSON.stringify(await stored()), { timeout: SAVED_MS }).toContain('team')
  })
}

const twoTabs = (site: () => Site) =>
  test('a draft that could not be saved stays when the member saves another change in a second tab', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Two tabs' })
    const at = { x: 0, y: 0 }
    await site().api('PUT', `journeys/${id}/steps`, {
      start: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ external_id: 'first' }] },
      first: { ...at, type: 'delay', data: { days: 1 }, children: [{ external_id: 'second' }] },
      second: { ...at, type: 'delay', data: { days: 2 } },
    })
    const daysOf = async (page: Page, step: number) => {
      await page.locator('[role=treeitem].step').nth(step).press('Enter')
      const days = page.getByLabel('Days', { exact: true }).first()
      await expect.poll(() => days.inputValue()).toBe(String(step))
      return days
    }
    await using one = await memberPage(site(), `/p/1/journeys/${id}`)
    await using two = await memberPage(site(), `/p/1/journeys/${id}`)
    const [hers, other] = [one.page, two.page]
    const steps = /\/steps$/
    const first = await daysOf(hers, 1)
    const second = await daysOf(other, 2)
    await hers.route(steps, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
    await first.fill('9')
    await hers.getByText('Offline: kept on this device').waitFor()
    await second.fill('5')
    await other.locator('output.saved').waitFor()
    // What she saves of the journey lets the tab read its steps again.
    await hers.getByRole('button', { name: 'Settings', exact: true }).click()
    await hers.getByRole('textbox', { name: /hold/i }).first().fill('20')
    await hers.getByRole('button', { name: 'Save the settings' }).click()
    await hers.getByText('The settings have been saved.').waitFor()
    await hers.getByRole('button', { name: 'Steps', exact: true }).click()
    await hers.unroute(steps)
    await hers.locator('output.saved').waitFor()
    const stored = await site().api('GET', `journeys/${id}/steps`)
    expect([stored.first.data, stored.second.data]).toEqual([{ days: 9 }, { days: 5 }])
  })

/** Forms whose endpoints take everything at once. */
function byOthers(site: () => Site): void {
  test('a theme keeps what another member saves before a save, and before it is undone', async () => {
    const theme = () => site().api('GET', 'page-theme')
    const others = async (changes: object) => site().api('PUT', 'page-theme', { ...(await theme()), ...changes })
    const before = await theme()
    await using opened = await memberPage(site(), '/p/1/preference-page')
    const { page } = opened
    await page.getByLabel('Name of the sender').fill('Bellbird & Co')
    await others({ accent_color: '#112233' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The theme has been saved.').waitFor()
    expect(await theme()).toEqual({ ...before, brand_name: 'Bellbird & Co', accent_color: '#112233' })
    await others({ footer_text: 'Hobart' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(theme, { timeout: SAVED_MS }).toEqual({ ...before, accent_color: '#112233', footer_text: 'Hobart' })
    await others(before)
  })

  test('a warm-up that another member has switched off stays off when its steps are saved', async () => {
    const { id } = await site().api('POST', 'domains', { sending_domain: 'pair.bellbird.test' })
    const plan = `domains/${id}/warm-up`
    await site().api('PUT', plan, { steps: [10, 20] })
    await using opened = await memberPage(site(), `/p/1/domains/${id}?view=warm-up`)
    const { page } = opened
    await page.getByLabel('Emails per day, for each step').fill('20, 40')
    await site().api('PUT', plan, { steps: [10, 20], is_active: false })
    await page.getByRole('button', { name: 'Save the plan' }).click()
    await page.getByText('The plan has been saved.').waitFor()
    expect(await site().api('GET', plan)).toMatchObject({ steps: [20, 40], is_active: false })
    await site().api('DELETE', `domains/${id}`)
  })
}
