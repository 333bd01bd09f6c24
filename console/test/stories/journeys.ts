import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { focusOn, hasFocus, press, pressOn } from './keyboard.ts'
import { memberPage } from './member-page.ts'

const SAVED_MS = 60_000
/** Every key waits for what the last one did. */
const STORY_MS = 180_000

/** Adds a step after the row that has the focus: the first kind that is found by this name. */
async function addByKeys(page: Page, name: string, row: RegExp) {
  await hasFocus(page.getByRole('dialog').getByRole('textbox', { name: 'Find a kind of step' }))
  await page.keyboard.type(name)
  await press(page, 'Enter')
  await hasFocus(page.getByRole('treeitem', { name: row }))
}

/** Types into a setting of the open step. */
async function setByKeys(page: Page, label: string, text: string) {
  const field = page.getByLabel(label, { exact: true })
  await focusOn(field.first())
  await page.keyboard.type(text)
  await expect.poll(() => field.first().inputValue()).toContain(text)
}

const drawing = (site: () => Site) =>
  test(
    'a journey is drawn and published with the keyboard alone; canvas and outline show the same, and who is where',
    async () => {
      await using opened = await memberPage(site(), '/p/1/journeys')
      const { page } = opened
      await pressOn(page.getByRole('button', { name: 'New journey' }).first(), 'Enter')
      await hasFocus(page.getByRole('dialog').getByLabel('Name'))
      await page.keyboard.type('Welcome')
      await press(page, 'Enter')
      await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
      const id = Number(new URL(page.url()).pathname.split('/').at(-1))

      await pressOn(page.getByRole('button', { name: 'Add an entrance' }), 'Enter')
      await addByKeys(page, 'entrance', /Enter/)
      await press(page, 'Enter')
      await setByKeys(page, 'Trigger', 'event')
      await page.getByRole('option').first().waitFor()
      await press(page, 'ArrowDown', 'Enter')
      await setByKeys(page, 'Event name', 'signed_up')
      await press(page, 'Escape')
      await hasFocus(page.getByRole('treeitem', { name: /Enter/ }))
      await press(page, 'a')
      await addByKeys(page, 'delay', /Wait/)
      await press(page, 'Enter')
      await setByKeys(page, 'Days', '2')
      await press(page, 'Escape')
      await hasFocus(page.getByRole('treeitem', { name: /Wait/ }))
      await press(page, 'a')
      await addByKeys(page, 'exit', /Exit/)

      expect(await page.getByRole('treeitem').count()).toBe(3)
      await press(page, 'Delete')
      await expect.poll(() => page.getByRole('treeitem', { name: /Exit/ }).count()).toBe(0)
      await press(page, 'Control+z')
      await page.getByRole('treeitem', { name: /Exit/ }).waitFor()

      await page.getByText('The draft can be published.').waitFor({ timeout: SAVED_MS })
      const shown = (await page.locator('.react-flow__node b').allTextContents()).toSorted()
      expect(shown).toEqual(['Enter', 'Exit', 'Wait'])
      await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(2)

      await pressOn(page.getByRole('button', { name: 'Publish…' }), 'Enter')
      const note = page.getByRole('dialog').getByLabel('Summary of the changes, for the list of versions')
      await hasFocus(note)
      await press(page, 'Enter')
      await page.getByText('Version 1 is live.').waitFor()
      const stored = await site().api('GET', `journeys/${id}/steps`)
      expect(stored.entrance_1).toMatchObject({
        data: { trigger: 'event', event_name: 'signed_up' },
        children: [{ external_id: 'delay_1' }],
      })
      expect(stored.delay_1).toMatchObject({ data: { days: 2 }, children: [{ external_id: 'exit_1' }] })

      await site().api('POST', 'events', [{ external_id: 'sample-2', name: 'signed_up' }])
      await page.getByRole('treeitem', { name: /Wait.*1 here/ }).waitFor()
      await page.getByRole('button', { name: 'Users', exact: true }).click()
      await page.getByRole('button', { name: 'What happened to sample-2' }).click()
      const drawer = page.getByRole('complementary', { name: 'sample-2 in the journey' })
      await drawer.getByText('is here').waitFor()
      await page.getByRole('button', { name: 'Simulate', exact: true }).click()
      await page.getByRole('button', { name: 'Simulate', exact: true }).last().click()
      await page.getByRole('region', { name: 'What would happen' }).getByText('completed · exit').waitFor()
    },
    STORY_MS,
  )

const copying = (site: () => Site) =>
  test(
    'steps are marked, copied into another journey, duplicated and removed together, by keys and by the mouse',
    async () => {
      const api = site().api
      const at = { x: 0, y: 0 }
      const start = { ...at, type: 'entrance', data: { trigger: 'api' } }
      const to = (external_id: string) => ({ children: [{ path: 'default', external_id }] })
      const [from, other] = [await api('POST', 'journeys', { name: 'From' }), await api('POST', 'journeys', { name: 'Other' })]
      await api('PUT', `journeys/${from.id}/steps`, {
        in: { ...start, ...to('days') },
        days: { ...at, type: 'delay', data: { days: 2 }, ...to('hours') },
        hours: { ...at, type: 'delay', data: { hours: 3 }, ...to('out') },
        out: { ...at, type: 'exit', data: {} },
      })
      await api('PUT', `journeys/${other.id}/steps`, { in: { ...start, ...to('out') }, out: { ...at, type: 'exit', data: {} } })
      const daysOf = async (id: number) =>
        Object.entries(await api('GET', `journeys/${id}/steps`)).map(([key, { data, children }]: [string, any]) => [
          key,
          data.days ?? data.hours,
          children[0]?.external_id,
        ])
      await using opened = await memberPage(site(), `/p/1/journeys/${from.id}`)
      const { page } = opened
      const marked = (count: string) => page.getByRole('status').getByText(count, { exact: true })

      await pressOn(page.getByRole('treeitem', { name: /2 days/ }), ' ', 'Shift+ArrowDown')
      await marked('2 steps marked').waitFor()
      await expect.poll(() => page.locator('.nd.marked').count()).toBe(2)

      await press(page, 'Control+c')
      await page.getByText('2 steps copied.', { exact: false }).waitFor()
      await press(page, 'Escape')
      await marked('2 steps marked').waitFor({ state: 'detached' })

      await page.goto(`/p/1/journeys/${other.id}`)
      // Nothing can be changed before the server has said that no other member is here.
      await page.getByRole('button', { name: 'Entrance or exit criterion' }).waitFor()
      await pressOn(page.getByRole('treeitem', { name: /Enter/ }), 'Control+v')
      await page.getByRole('treeitem', { name: /3 hours/ }).waitFor()
      await expect
        .poll(() => daysOf(other.id))
        .toEqual([
          ['in', undefined, 'delay_1'],
          ['out', undefined, undefined],
          ['delay_1', 2, 'delay_2'],
          ['delay_2', 3, 'out'],
        ])

      await page.locator('.react-flow__node').filter({ hasText: '3 hours' }).click()
      await page.getByRole('button', { name: 'Duplicate' }).click()
      await expect.poll(() => page.locator('.react-flow__node').filter({ hasText: '3 hours' }).count()).toBe(2)
      for (const hours of await page.locator('.react-flow__node').filter({ hasText: '3 hours' }).all())
        await hours.click({ modifiers: ['ControlOrMeta'] })
      await page.getByRole('status').getByRole('button', { name: 'Remove' }).click()
      await expect
        .poll(() => daysOf(other.id))
        .toEqual([
          ['in', undefined, 'delay_1'],
          ['out', undefined, undefined],
          ['delay_1', 2, 'out'],
        ])

      await pressOn(page.getByRole('treeitem', { name: /Enter/ }), 'a')
      await page.getByRole('dialog').getByRole('button', { name: 'Paste the copied steps' }).click()
      await page.getByRole('treeitem', { name: /3 hours/ }).waitFor()
      await press(page, 'Control+z')
      await page.getByRole('treeitem', { name: /3 hours/ }).waitFor({ state: 'detached' })
    },
    STORY_MS,
  )

const byHand = (site: () => Site) =>
  test(
    'a journey gets settings, a user enters by hand, and a backtest says what would have happened',
    async () => {
      const api = site().api
      const { id } = await api('POST', 'journeys', { name: 'By hand' })
      const at = { x: 0, y: 0 }
      await api('PUT', `journeys/${id}/steps`, {
        entrance_1: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ path: 'default', external_id: 'delay_1' }] },
        delay_1: { ...at, type: 'delay', data: { days: 2 }, children: [] },
      })
      await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=settings`)
      const { page } = opened
      await page.getByLabel('Max entries per day').fill('3')
      await page.getByRole('button', { name: 'Add to Goals' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Bought')
      await page.getByLabel('Event name').fill('purchase')
      await page.getByLabel('Within days').fill('14')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      await page.getByText('The settings have been saved.').waitFor()
      const settings = { max_entries_per_day: 3, goals: [{ name: 'Bought', event_name: 'purchase', within_days: 14 }] }
      expect(await api('GET', `journeys/${id}`)).toMatchObject({ settings })

      await api('POST', `journeys/${id}/publish`, {})
      await page.goto(`/p/1/journeys/${id}?view=users`)
      await page.getByRole('button', { name: 'Let a user enter…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Let a user enter' })
      await dialog.getByLabel('External id').fill('sample-3')
      await dialog.getByLabel('Data as JSON').fill('{"total": 5')
      await dialog.getByRole('button', { name: 'Let the user enter' }).click()
      await dialog.getByText('This is not valid JSON.').waitFor()
      await dialog.getByLabel('Data as JSON').fill('{"total": 5}')
      await dialog.getByRole('button', { name: 'Let the user enter' }).click()
      await page.getByRole('complementary', { name: 'sample-3 in the journey' }).getByText('is here').waitFor()

      await page.getByRole('button', { name: 'Backtest', exact: true }).click()
      await page.getByRole('button', { name: 'Start the backtest' }).click()
      const result = page.getByRole('region', { name: 'What would have happened' })
      await result.getByText('finished').waitFor()
      await result.getByRole('row', { name: /Wait/ }).waitFor()
    },
    STORY_MS,
  )

const failing = (site: () => Site) =>
  test('of what members do with a user, the last thing that failed is shown, and nothing once one succeeds', async () => {
    const api = site().api
    const { id } = await api('POST', 'journeys', { name: 'Failing' })
    const at = { x: 0, y: 0 }
    await api('PUT', `journeys/${id}/steps`, {
      start: { ...at, type: 'entrance', data: { trigger: 'api' }, children: [{ external_id: 'days' }] },
      days: { ...at, type: 'delay', data: { days: 2 }, children: [{ external_id: 'hours' }] },
      hours: { ...at, type: 'delay', data: { hours: 3 } },
    })
    await api('POST', `journeys/${id}/publish`, {})
    await api('POST', `journeys/${id}/entrances`, { external_id: 'sample-3' })
    await using opened = await memberPage(site(), `/p/1/journeys/${id}?view=users&user=sample-3`)
    const { page } = opened
    const refused = { skip: 409, move: 422 }
    for (const [verb, status] of Object.entries(refused))
      await page.route(`**/users/sample-3/${verb}`, (route) => route.fulfill({ status, json: {} }))
    const drawer = page.getByRole('complementary', { name: 'sample-3 in the journey' })
    const skip = () => drawer.getByRole('button', { name: 'Skip the step' }).click()
    const move = async () => {
      await drawer.getByRole('combobox', { name: 'Move to another step' }).click()
      await page.getByRole('option', { name: /^3 / }).click()
    }
    const errors = () => drawer.getByRole('alert').allTextContents()
    for (const [act, verb] of [
      [skip, 'skip'],
      [move, 'move'],
      [skip, 'skip'],
    ] as const) {
      await act()
      await expect.poll(errors).toEqual([expect.stringContaining(`The server answered ${refused[verb]}.`)])
    }
    await page.unroute('**/users/sample-3/move')
    await move()
    await page.getByText('The user is being moved to the step.').waitFor()
    await expect.poll(errors).toEqual([])
  })

export const journeys = (site: () => Site) =>
  describe('journeys', () => {
    drawing(site)
    copying(site)
    byHand(site)
    failing(site)
  })
