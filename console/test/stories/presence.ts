import { expect, test } from 'vitest'
import { OWNER, type Site } from '../site.ts'
import { memberPage } from './member-page.ts'

/** A second member. */
export const ANA = { name: 'Ana Ng', email: 'ana@bellbird.test', password: 'four words that are long' }

/** Ana, who has an object open or not, without a browser. */
async function anaAt(site: Site, object: 'campaign' | 'journey' | 'list', object_id: number) {
  const context = await site.context()
  const headers = { origin: site.url }
  await context.request.post('/api/console/sign-in', { headers, data: { email: ANA.email, password: ANA.password } })
  return {
    /** The names of the others who have it open. */
    async says(more: object = {}): Promise<string[]> {
      const reply = await context.request.put('/api/console/presence', { headers, data: { project_id: 1, object, object_id, ...more } })
      return (await reply.json()).others.map(({ name }: { name: string }) => name)
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** What two members see of each other. Ana is in the project. */
export function presence(site: () => Site): void {
  test('members see who else has the same rule open, until the other leaves', async () => {
    const { id } = await site().api('POST', 'lists', { name: 'Of both', type: 'dynamic', rule: { attribute: 'email', is_set: true } })
    await using ana = await anaAt(site(), 'list', id)
    expect(await ana.says()).toEqual([])
    await using opened = await memberPage(site(), `/p/1/lists/${id}?view=rule`)
    const { page } = opened
    await page.getByText('Ana Ng is editing this too.').waitFor()
    expect(await ana.says()).toEqual([OWNER.name])
    await Promise.all([
      page.waitForResponse((reply) => reply.request().postData()?.includes('"is_here":false') === true),
      page.getByRole('link', { name: 'Home' }).first().click(),
    ])
    expect(await ana.says()).toEqual([])
  })

  test('a campaign that another member edits opens to be read, is edited anyway, and is free when the other leaves', async () => {
    const [{ id: subscription_id }] = (await site().api('GET', 'subscriptions?q=email')).results
    const { id } = await site().api('POST', 'campaigns', { type: 'blast', name: 'Of both', subscription_id })
    const path = `campaigns/${id}/templates/en`
    const put = (subject: string) => site().api('PUT', path, { subject, html: '<p>{{ unsubscribe_url }}</p>' })
    await put('First')
    await using ana = await anaAt(site(), 'campaign', id)
    await ana.says()
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
    const { page } = opened
    await page.getByText('Ana Ng is editing this.').waitFor()
    expect(await page.getByLabel('Subject').isDisabled()).toBe(true)
    // All of it can be read.
    await page.getByRole('group', { name: 'Body' }).getByRole('button', { name: 'Text' }).click()
    await page.getByRole('textbox', { name: 'Text of the email' }).waitFor()
    // Who only reads is no editor to the other.
    expect(await ana.says()).toEqual([])
    await put('Second')
    await page.getByRole('button', { name: 'Edit anyway' }).click()
    // What was saved meanwhile is there before anything is changed.
    await expect.poll(() => page.getByLabel('Subject').isEnabled()).toBe(true)
    expect(await page.getByLabel('Subject').inputValue()).toBe('Second')
    await page.getByText('Ana Ng is editing this too.').waitFor()
    expect(await ana.says()).toEqual([OWNER.name])
    await page.getByLabel('Subject').fill('Third')
    await page.locator('.editor output.saved').waitFor()
    expect((await site().api('GET', path)).data.subject).toBe('Third')
    await ana.says({ is_here: false })
    await page.reload()
    await expect.poll(() => page.getByLabel('Subject').isEnabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Edit anyway' }).count()).toBe(0)
  })

  test('a journey that another member edits opens to be read', async () => {
    const { id } = await site().api('POST', 'journeys', { name: 'Of both' })
    await using ana = await anaAt(site(), 'journey', id)
    await ana.says()
    await using opened = await memberPage(site(), `/p/1/journeys/${id}`)
    const { page } = opened
    await page.getByText('Ana Ng is editing this.').waitFor()
    const add = page.getByRole('button', { name: 'Add an entrance' })
    expect(await add.count()).toBe(0)
    await page.getByRole('button', { name: 'Edit anyway' }).click()
    await add.first().waitFor()
  })
}
