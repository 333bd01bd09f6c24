import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const SAVED_MS = 60_000

const settings = (site: () => Site) =>
  test('the settings of a journey that two members change at once are both kept, until one chooses where both changed the same', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Two authors' })
    const path = `journeys/${id}`
    const stored = async () => (await site().api('GET', path)).settings
    await using opened = await memberPage(site(), `/p/1/${path}?view=settings`)
    const { page } = opened
    const field = page.getByLabel('Max entries per day')
    const save = page.getByRole('button', { name: 'Save the settings' })
    await field.fill('3')
    await site().api('PATCH', path, { settings: { holdout_percent: 10 } })
    await save.click()
    await expect.poll(stored, { timeout: SAVED_MS }).toEqual({ holdout_percent: 10, max_entries_per_day: 3 })
    await expect.poll(() => save.isDisabled()).toBe(true)

    await field.fill('4')
    await site().api('PATCH', path, { settings: { holdout_percent: 10, max_entries_per_day: 9 } })
    await save.click()
    await page.getByText('Another member changed this in the meantime', { exact: true }).waitFor()
    expect(await field.inputValue()).toBe('4')
    await page.getByRole('button', { name: 'Keep mine: max_entries_per_day' }).click()
    await expect.poll(stored, { timeout: SAVED_MS }).toEqual({ holdout_percent: 10, max_entries_per_day: 4 })

    await field.fill('5')
    await site().api('PATCH', path, { settings: { max_entries_per_day: 8 } })
    await save.click()
    await page.getByRole('button', { name: 'Take theirs: max_entries_per_day' }).click()
    await expect.poll(() => field.inputValue()).toBe('8')
  })

const chosenSettings = (site: () => Site) =>
  test('of settings that clash in one field keeps what else was typed, and shows both versions of that field', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'One clash' })
    const path = `journeys/${id}`
    await using opened = await memberPage(site(), `/p/1/${path}?view=settings`)
    const { page } = opened
    await page.getByLabel('Max entries per day').fill('5')
    await page.getByLabel('Holdout percent').fill('20')
    await site().api('PATCH', path, { settings: { max_entries_per_day: 8 } })
    await page.getByRole('button', { name: 'Save the settings' }).click()
    const clash = page.getByRole('region', { name: 'max_entries_per_day' })
    await clash.waitFor()
    expect(await clash.getByRole('definition').allTextContents()).toEqual(['5', '8'])
    await page.getByRole('button', { name: 'Take theirs: max_entries_per_day' }).click()
    const stored = async () => (await site().api('GET', path)).settings
    await expect.poll(stored, { timeout: SAVED_MS }).toEqual({ max_entries_per_day: 8, holdout_percent: 20 })
  })

const bornLive = (site: () => Site) =>
  test('a live journey that was never published goes live by a button, and not while its steps are drawn', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Born live', status: 'live' })
    const stored = async () => Object.keys(await site().api('GET', `journeys/${id}/steps`))
    await using opened = await memberPage(site(), `/p/1/journeys/${id}`)
    const { page } = opened
    const add = async (kind: string, row: RegExp) => {
      await page.getByRole('dialog').getByRole('textbox', { name: 'Find a kind of step' }).fill(kind)
      await page.keyboard.press('Enter')
      await page.getByRole('treeitem', { name: row }).waitFor()
    }
    await page.getByRole('button', { name: 'Add an entrance' }).click()
    await add('entrance', /Enter/)
    await page.getByRole('treeitem', { name: /Enter/ }).press('a')
    await add('exit', /Exit/)
    await page.getByRole('treeitem', { name: /Exit/ }).press('Control+s')
    const live = page.getByRole('button', { name: 'Go live…' })
    await live.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Let users enter' }).click()
    // Steps with faults are refused as a whole, and stay here.
    await dialog.getByRole('alert').waitFor()
    expect(await stored()).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('treeitem', { name: /Enter/ }).press('Enter')
    await page.getByLabel('Trigger', { exact: true }).first().fill('api')
    await page.getByRole('option').first().click()
    await expect.poll(() => page.getByText('Changed', { exact: true }).count()).toBe(1)
    // All that it has sent meanwhile was answered before this.
    expect(await stored()).toEqual([])
    await live.click()
    await dialog.getByRole('button', { name: 'Let users enter' }).click()
    await expect.poll(stored, { timeout: SAVED_MS }).toEqual(['entrance_1', 'exit_1'])
    await page.getByText('Users enter version 1').waitFor()
    // From then on changes are a draft.
    await page.getByRole('treeitem', { name: /Exit/ }).press('Delete')
    await expect.poll(stored, { timeout: SAVED_MS }).toEqual(['entrance_1'])
    expect(Object.keys(await site().api('GET', `journeys/${id}/steps?version=live`))).toEqual(['entrance_1', 'exit_1'])
  })

const eventRule = (site: () => Site) =>
  test('the rule of another member for the event of a campaign is shown, and not overwritten by the text before', async () => {
    const { results } = await site().api('GET', 'subscriptions?q=email')
    const campaign = { type: 'trigger', name: 'Two rules', subscription_id: results[0].id, event_name: 'order_placed' }
    const { id } = await site().api('POST', 'campaigns', campaign)
    const path = `campaigns/${id}`
    await using opened = await memberPage(site(), `/p/1/${path}/edit?step=audience`)
    const { page } = opened
    const event = page.getByLabel('Event', { exact: true }).first()
    await event.waitFor()
    const event_rule = { where: [{ attribute: 'data.total', greater_than: 50 }] }
    await site().api('PATCH', path, { event_rule })
    await event.fill('order_paid')
    await expect.poll(async () => (await site().api('GET', path)).event_name, { timeout: SAVED_MS }).toBe('order_paid')
    await expect.poll(() => page.getByLabel('Only if', { exact: true }).inputValue()).toContain('greater_than')
    expect(await site().api('GET', path)).toMatchObject({ event_rule })
  })

/** What is saved when: over what another member has saved, and while it goes live at once. */
export const safeSaves = (site: () => Site) =>
  describe('a save', () => {
    settings(site)
    chosenSettings(site)
    bornLive(site)
    eventRule(site)
  })
