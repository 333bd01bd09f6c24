import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const CSV = 'Customer no,email,age\nimported-1,one@example.com,41\nimported-2,not an address,42\nimported-3,three@example.com,43\n'

const manyLists = (site: () => Site) =>
  test('a list that is older than a hundred others can be chosen, for a file and for a campaign', async () => {
    await using opened = await memberPage(site(), '/p/1')
    const { page } = opened
    // A project of its own: the stories of other screens expect few lists.
    const post = async (path: string, data: object, project?: number) => {
      const headers = { origin: site().url, ...(project !== undefined && { 'carillon-project': String(project) }) }
      const reply = await page.request.post(`${site().url}/api/client/${path}`, { headers, data })
      expect(reply.ok(), await reply.text()).toBe(true)
      return reply.json()
    }
    const { id } = await post('projects', { name: 'Many lists', locale: 'en-AU', timezone: 'Australia/Melbourne' })
    const { id: newsletter } = await post('lists', { name: 'Newsletter', type: 'static' }, id)
    for (let number = 0; number < 100; number++) await post('lists', { name: `Fair ${number}`, type: 'static' }, id)
    await page.goto(`/p/${id}/imports`)
    const choice = page.getByRole('combobox', { name: 'Static list' })
    await choice.click()
    await page.getByRole('option').first().waitFor()
    expect(await page.getByRole('option').count()).toBe(100)
    await choice.fill('Newsl')
    await page.getByRole('option', { name: 'Newsletter' }).click()
    await page.waitForURL(/list=\d+/)

    const { id: subscription } = await post('subscriptions', { name: 'News', channel: 'email' }, id)
    const campaign = await post('campaigns', { type: 'blast', name: 'June', subscription_id: subscription }, id)
    await page.goto(`/p/${id}/campaigns/${campaign.id}/edit?step=audience`)
    await page.getByRole('combobox', { name: 'Lists', exact: true }).fill('Newsl')
    await page.getByRole('option', { name: 'Newsletter (0)' }).waitFor()

    // The page of a campaign reads the lists that its head names, and no others.
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const named = { type: 'blast', name: 'July', subscription_id: subscription, list_ids: [newsletter] }
    const { id: july } = await post('campaigns', named, id)
    await page.goto(`/p/${id}/campaigns/${july}`)
    await page.getByText('to Newsletter', { exact: false }).waitFor()
    expect(asked.filter((url) => url.includes('/lists?'))).toEqual([])
  })

export const imports = (site: () => Site) =>
  describe('imports', () => {
    test('a file is tried, mapped and imported with its refused rows shown, and undone', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Trade fair', type: 'static' })
      const members = async () => (await site().api('GET', `lists/${id}/users`)).results.length
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/imports/new?list=${id}`)
      await page
        .getByLabel('Choose a CSV file, or drop it here')
        .setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
      // A browser says that a file was chosen only if the field had another one.
      expect(await page.locator('label.drop input').inputValue()).toBe('')
      await page.getByRole('button', { name: 'Try the file' }).click()
      await page.getByRole('combobox', { name: 'Where Customer no goes' }).fill('external_id')
      await page.getByRole('combobox', { name: 'Where age goes' }).fill('data.age:number')
      await page.getByRole('button', { name: 'Try again with these columns' }).click()
      await page.getByText('not an address').waitFor()
      expect(await members()).toBe(0)
      await page.getByRole('button', { name: 'Import 2 rows' }).click()
      await page.getByRole('button', { name: 'Undo…' }).waitFor()
      expect(await members()).toBe(2)
      expect((await site().api('GET', 'users/imported-3')).data.age).toBe(43)
      await page.getByRole('button', { name: 'Undo…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Undo the import' }).click()
      await page.getByRole('region', { name: 'fair.csv' }).getByText('undone').waitFor()
      expect(await members()).toBe(0)
    })

    test('the columns that were mapped stay when the server refuses them, and a file that is sent cannot be sent again', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Mapped twice', type: 'static' })
      await using opened = await memberPage(site(), `/p/1/imports/new?list=${id}`)
      const { page } = opened
      await page
        .getByLabel('Choose a CSV file, or drop it here')
        .setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
      const tryIt = page.getByRole('button', { name: 'Try the file' })
      await tryIt.click()
      const columnOf = (name: string) => page.getByRole('combobox', { name: `Where ${name} goes` })
      await columnOf('Customer no').fill('external_id')
      await columnOf('age').fill('email')
      await page.getByRole('button', { name: 'Try again with these columns' }).click()
      await page.getByText('Two columns are mapped to', { exact: false }).waitFor()
      expect(await columnOf('Customer no').inputValue()).toBe('external_id')
      await columnOf('age').fill('data.age:number')
      await page.getByRole('button', { name: 'Try again with these columns' }).click()
      const run = page.getByRole('button', { name: 'Import 2 rows' })
      await run.waitFor()
      const held = Promise.withResolvers<void>()
      await page.route(/dry_run=false/, async (route) => {
        await held.promise
        await route.continue()
      })
      await run.click()
      await expect.poll(() => tryIt.isDisabled()).toBe(true)
      expect(await columnOf('Customer no').inputValue()).toBe('external_id')
      held.resolve()
      await page.getByRole('button', { name: 'Undo…' }).waitFor()
    })

    manyLists(site)
  })
