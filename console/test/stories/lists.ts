import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const lists = (site: () => Site) =>
  describe('lists', () => {
    test('a rule is put together by fields, read as a sentence, counted before it is saved, and explained for a user', async () => {
      await site().api('POST', 'users/batch', [
        { external_id: 'pro-1', email: 'pro-1@example.com', data: { tier: 'pro' } },
        { external_id: 'pro-2', data: { tier: 'pro' } },
        { external_id: 'free-1', data: { tier: 'free' } },
      ])
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/lists`)
      await page.getByRole('button', { name: 'Create a list' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Write its rule' }).click()
      await page.getByLabel('Name of the list').fill('Pro users')
      expect(await page.getByRole('button', { name: 'Create the list' }).isDisabled()).toBe(true)
      await page.getByRole('combobox', { name: 'Attribute', exact: true }).fill('data.tier')
      await page.getByRole('combobox', { name: 'Value', exact: true }).fill('pro')
      await page.getByText('tier is “pro”').first().waitFor()
      await page.getByRole('region', { name: 'Match now' }).getByText('2').first().waitFor()
      const reach = page.getByRole('table', { name: 'With an address, before consents and suppressions' })
      await reach.getByRole('row', { name: 'Email 50 % of 2' }).waitFor()
      await page.getByRole('region', { name: 'Sample' }).getByRole('link', { name: 'pro-2' }).waitFor()
      await page.getByRole('button', { name: 'Create the list' }).click()
      await page.getByRole('heading', { level: 1, name: 'Pro users' }).waitFor()
      await page.getByRole('table', { name: 'Users in the list' }).getByRole('link', { name: 'pro-1' }).waitFor()
      await page.getByLabel('External id').fill('free-1')
      await page.getByRole('button', { name: 'Test', exact: true }).click()
      await page.getByText('Not in the list.').waitFor()
      await page.getByText('Found: "free"').waitFor()
    })

    test('of two members who change one rule, the second is asked; conditions are read in German too', async () => {
      const { id } = await site().api('POST', 'lists', {
        name: 'Shared rule',
        type: 'dynamic',
        rule: { attribute: 'data.tier', is: 'pro' },
      })
      await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
      const { page } = opened
      const value = page.getByRole('combobox', { name: 'Value', exact: true })
      await value.fill('free')
      await site().api('PATCH', `lists/${id}`, { rule: { attribute: 'data.tier', is: 'team' } })
      const stored = async () => JSON.stringify((await site().api('GET', `lists/${id}`)).rule)
      await page.getByRole('button', { name: 'Save the rule' }).click()
      await page.getByText('Another member changed this in the meantime').waitFor()
      expect(await stored()).toContain('team')
      await page.getByRole('button', { name: 'Keep all of mine' }).click()
      await page.getByText('The rule is saved.').first().waitFor()
      expect(await stored()).toContain('free')
      await page.getByRole('button', { name: /Mia Tan/ }).click()
      await page.getByRole('menuitem', { name: 'Deutsch' }).click()
      await page.getByText('tier ist „free“').first().waitFor()
      // The other stories share the profile, and are in English.
      await page.getByRole('button', { name: /Mia Tan/ }).click()
      await page.getByRole('menuitem', { name: 'English' }).click()
      await page.getByText('tier is “free”').first().waitFor()
    })

    takenRule(site)
    ownRules(site)
    leftRule(site)
    ownUndo(site)
    refusedUndo(site)
    freshJson(site)
    decimals(site)

    test('users are added to a static list by their ids, and removing one can be undone', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/lists`)
      await page.getByRole('button', { name: 'Create a list' }).click()
      await page.getByLabel('static').check()
      await page.getByRole('dialog').getByLabel('Name').fill('Testers')
      await page.getByRole('dialog').getByRole('button', { name: 'Create the list' }).click()
      await page.getByRole('heading', { level: 1, name: 'Testers' }).waitFor()
      const id = Number(new URL(page.url()).pathname.split('/').at(-1))
      await page.getByRole('button', { name: 'Add users' }).click()
      await page.getByLabel('External ids, one per line').fill('pro-1\nnot-there')
      await page.getByRole('button', { name: 'Add 2 users' }).click()
      await page.getByText('1 id has no user. It stays in the field.').waitFor()
      const members = async () => (await site().api('GET', `lists/${id}/users`)).results.length
      expect(await members()).toBe(1)
      await page.getByRole('button', { name: 'Remove pro-1 from the list' }).click()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('button', { name: 'Remove pro-1 from the list' }).waitFor()
      expect(await members()).toBe(1)
    })
  })

const takenRule = (site: () => Site) =>
  test('the rule of another member is shown beside one’s own, taken as it is now, and what Undo brings back', async () => {
    const rule = (is: string) => ({ rule: { attribute: 'data.tier', is } })
    const { id } = await site().api('POST', 'lists', { name: 'Taken rule', type: 'dynamic', ...rule('pro') })
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    const meet = async (other: string) => {
      await value.fill('free')
      await site().api('PATCH', `lists/${id}`, rule(other))
      await page.getByRole('button', { name: 'Save the rule' }).click()
      await page.getByRole('alert').getByText(`"is": "${other}"`).waitFor()
    }
    await meet('team')
    await page.getByRole('button', { name: 'Take all of theirs' }).click()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    expect(await value.inputValue()).toBe('team')
    await meet('trial')
    await page.getByRole('button', { name: 'Keep all of mine' }).click()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect.poll(async () => (await site().api('GET', `lists/${id}`)).rule, { timeout: 60_000 }).toMatchObject(rule('trial').rule)
  })

const ownRules = (site: () => Site) =>
  test('a changed rule is that of its own list when another one is opened', async () => {
    const make = (name: string, is: string) => site().api('POST', 'lists', { name, type: 'dynamic', rule: { attribute: 'data.tier', is } })
    const { id } = await make('Left for a moment', 'pro')
    await make('Looked at meanwhile', 'free')
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    await value.waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or run a command').fill('looked at mean')
    await page.getByRole('dialog').getByText('Looked at meanwhile').click()
    await page.getByRole('heading', { level: 1, name: 'Looked at meanwhile' }).waitFor()
    await page.getByRole('button', { name: 'Rule', exact: true }).click()
    await expect.poll(() => value.inputValue()).toBe('free')
    await value.fill('team')
    page.once('dialog', (question) => void question.accept())
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Left for a moment' }).waitFor()
    await expect.poll(() => value.inputValue()).toBe('pro')
  })

const leftRule = (site: () => Site) =>
  test('a changed rule is not left without a question, neither for another view nor for another screen', async () => {
    const rule = { attribute: 'data.tier', is: 'pro' }
    const { id } = await site().api('POST', 'lists', { name: 'Not left', type: 'dynamic', rule })
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    const views = page.getByRole('button', { name: 'Users', exact: true })
    const questions: string[] = []
    page.on('dialog', (question) => {
      questions.push(question.message())
      void question.dismiss()
    })
    await value.fill('team')
    await views.click()
    await expect.poll(() => questions.length).toBe(1)
    await page.getByRole('link', { name: 'Home' }).first().click()
    await expect.poll(() => questions.length).toBe(2)
    expect(questions[0]).toContain('not saved')
    expect(await value.inputValue()).toBe('team')
    await page.getByRole('button', { name: 'Discard the changes' }).click()
    await views.click()
    await page.getByRole('table', { name: 'Users in the list' }).or(page.getByText('No users')).first().waitFor()
    expect(questions).toHaveLength(2)
  })

const ownUndo = (site: () => Site) =>
  test('Undo adds a user to the list that it was removed from, also when another one is open', async () => {
    const make = (name: string) => site().api('POST', 'lists', { name, type: 'static' })
    const [{ id: first }, { id: other }] = [await make('Removed from'), await make('Opened meanwhile')]
    await site().api('POST', `lists/${first}/users`, { external_ids: ['sample-1'] })
    const members = async (id: number) => (await site().api('GET', `lists/${id}/users`)).results.length
    await using opened = await memberPage(site(), `/p/1/lists/${other}`)
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: 'Opened meanwhile' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or run a command').fill('removed fr')
    await page.getByRole('dialog').getByText('Removed from').click()
    await page.getByRole('button', { name: 'Remove sample-1 from the list' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Opened meanwhile' }).waitFor()
    await undo.click()
    await expect.poll(async () => [await members(first), await members(other)]).toEqual([1, 0])
  })

const refusedUndo = (site: () => Site) =>
  test('an Undo that is refused says so, also when another list is open', async () => {
    const make = (name: string) => site().api('POST', 'lists', { name, type: 'dynamic', rule: { attribute: 'data.tier', is: 'gold' } })
    const [{ id }] = [await make('Saved and left'), await make('Opened in its place')]
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    await page.getByRole('combobox', { name: 'Value', exact: true }).fill('silver')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Save the rule' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await site().api('PATCH', `lists/${id}`, { rule: { attribute: 'data.tier', is: 'tin' } })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or run a command').fill('opened in its')
    await page.getByRole('dialog').getByText('Opened in its place').click()
    await page.getByRole('heading', { level: 1, name: 'Opened in its place' }).waitFor()
    await undo.click()
    await page.getByText('It was not undone.', { exact: false }).waitFor({ timeout: 15_000 })
    expect(JSON.stringify((await site().api('GET', `lists/${id}`)).rule)).toContain('tin')
  })

const freshJson = (site: () => Site) =>
  test('the JSON of a rule is the stored one again after a change was undone or discarded', async () => {
    const { id } = await site().api('POST', 'lists', { name: 'As JSON', type: 'dynamic', rule: { attribute: 'data.tier', is: 'gold' } })
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const json = page.getByRole('textbox', { name: 'The rule as JSON' })
    const silver = (await json.inputValue()).replace('gold', 'silver')
    await json.fill(silver)
    await page.getByRole('button', { name: 'Save the rule' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => json.inputValue()).toContain('gold')
    await json.fill(`${silver}\n`)
    await page.getByText('tier is “silver”').first().waitFor()
    expect(await json.inputValue()).toBe(`${silver}\n`)
    await page.getByRole('button', { name: 'Discard' }).click()
    await expect.poll(() => json.inputValue()).toContain('gold')
  })

const decimals = (site: () => Site) =>
  test('decimals are typed into the fields of a rule key by key', async () => {
    const compared = (...[above, from, to, is]: number[]) => ({
      all: [
        { attribute: 'data.score', greater_than: above },
        { attribute: 'data.score', between: [from, to] },
        { attribute: 'data.score', is },
      ],
    })
    const { id } = await site().api('POST', 'lists', { name: 'Scores', type: 'dynamic', rule: compared(1, 2, 3, 4) })
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    const fields = [
      [page.getByRole('textbox', { name: 'Value', exact: true }), '0.05'],
      [page.getByRole('textbox', { name: 'From', exact: true }), '1.50'],
      [page.getByRole('textbox', { name: 'To', exact: true }), '10.5'],
      [page.getByRole('combobox', { name: 'Value', exact: true }), '-0.50'],
    ] as const
    for (const [field, text] of fields) {
      await field.fill('')
      await field.pressSequentially(text)
      expect(await field.inputValue()).toBe(text)
    }
    await page.getByRole('button', { name: 'Save the rule' }).click()
    await page.getByText('The rule is saved.').first().waitFor()
    expect((await site().api('GET', `lists/${id}`)).rule).toEqual(compared(0.05, 1.5, 10.5, -0.5))
  })
