import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

export const archived = (site: () => Site) =>
  describe('archived objects', () => {
    test('a list that was archived comes back with Undo, and later from the archived ones, as campaigns and journeys do', async () => {
      const { id } = await site().api('POST', 'lists', { name: 'Winter', type: 'static' })
      await using opened = await memberPage(site(), `/p/1/lists/${id}`)
      const { page } = opened
      const archive = async () => {
        await page.getByRole('button', { name: 'More about Winter' }).click()
        await page.getByRole('menuitem', { name: 'Archive the list…' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Archive the list' }).click()
        await page.getByText('Winter is archived.').waitFor()
      }
      await archive()
      expect((await site().api('GET', 'lists?archived=true')).results).toMatchObject([{ id }])
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Winter is restored.').waitFor()
      await page.getByRole('link', { name: 'Winter' }).click()
      await archive()
      await page.getByRole('button', { name: 'Archived' }).click()
      await page.getByRole('menuitem', { name: 'shown' }).click()
      await page.getByRole('button', { name: 'Restore Winter' }).click()
      await page.getByText('No match.').waitFor()
      expect((await site().api('GET', 'lists?archived=true')).results).toEqual([])
      const { results: types } = await site().api('GET', 'subscriptions?q=email')
      for (const [kind, body] of [
        ['campaigns', { type: 'blast', name: 'Frost', subscription_id: types[0].id }],
        ['journeys', { name: 'Frost' }],
      ] as const) {
        const made = await site().api('POST', kind, body)
        await site().api('DELETE', `${kind}/${made.id}`)
        await page.goto(`/p/1/${kind}?show=archived`)
        await page.getByRole('button', { name: 'Restore Frost' }).click()
        await page.getByText('Frost is restored.').waitFor()
        expect((await site().api('GET', `${kind}?q=Frost`)).results).toMatchObject([{ id: made.id }])
        await site().api('DELETE', `${kind}/${made.id}`)
      }
    })
  })
