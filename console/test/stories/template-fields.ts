import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { expectNoFaults } from './looks.ts'
import { copiedRequest, memberPage } from './member-page.ts'

const DOT = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg+M9QDwADgQF/e5IkGQAAAABJRU5ErkJggg==', 'base64')

/** A draft for a channel, with content. */
async function draft(site: Site, channel: string, locale: string, template: object): Promise<number> {
  const { results } = await site.api('GET', 'subscriptions')
  const found = results.find((type: { channel: string }) => type.channel === channel)
  const type = found ?? (await site.api('POST', 'subscriptions', { name: `All ${channel}`, channel }))
  const { id } = await site.api('POST', 'campaigns', { type: 'trigger', name: `Fields of ${channel}`, subscription_id: type.id })
  await site.api('PUT', `campaigns/${id}/templates/${locale}`, template)
  return id
}

const templateOf = async (site: Site, id: number) => (await site.api('GET', `campaigns/${id}/templates/en`)).data

const replacedFile = (site: () => Site) =>
  test('of an email asks before a file is replaced, which keeps the id that the HTML shows it by', async () => {
    const html = '<p>Beans</p><img src="cid:mark" alt="A dot"><a href="{{ unsubscribe_url }}">Unsubscribe</a>'
    const id = await draft(site(), 'email', 'en', { from: 'hello@bellbird.example', subject: 'Beans', html })
    const path = `campaigns/${id}/templates/en/attachments`
    const content = Buffer.from('before').toString('base64')
    await site().api('PUT', `${path}/mark.png`, { content_type: 'image/png', content, content_id: 'mark' })
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
    const { page } = opened
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Add a file' }).click()])
    await chooser.setFiles({ name: 'mark.png', mimeType: 'image/png', buffer: DOT })
    await page
      .getByText(/mark\.png (has been added|has been replaced)\.|Replace mark\.png\?/)
      .first()
      .waitFor()
    expect((await site().api('GET', `${path}/mark.png`)).content).toBe(content)
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the file' }).click()
    await page.getByText('mark.png has been replaced.').waitFor()
    // A browser says that a file was chosen only if the field had another one.
    expect(await page.locator('.editor input[type=file]').inputValue()).toBe('')
    expect(await site().api('GET', `${path}/mark.png`)).toMatchObject({ content: DOT.toString('base64'), content_id: 'mark' })
  })

const spellings = (site: () => Site) =>
  test('in another spelling of a language is the same one', async () => {
    const html = '<p>Beans</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>'
    const id = await draft(site(), 'email', 'en-US', { from: 'hello@bellbird.example', subject: 'Beans', html })
    await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content&locale=en-us`)
    const { page } = opened
    await page.getByLabel('Subject').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Beans')
    const language = page.getByRole('combobox', { name: 'Language' })
    const add = page.getByRole('option', { name: /^Add / })
    for (const refused of ['EN-us', 'en-USA']) {
      await language.fill(refused)
      await page.getByText('Type a locale such as', { exact: false }).or(page.getByRole('option').first()).first().waitFor()
      expect(await add.count(), refused).toBe(0)
    }
    await language.fill('pt-BR')
    await add.waitFor()
  })

export const templateFields = (site: () => Site) =>
  describe('the content of a campaign', () => {
    test('of an email has copies, required variables and files, and the preview shows an inline image', async () => {
      const html = '<p>Beans</p><img src="cid:dot.png" alt="A dot"><a href="{{ unsubscribe_url }}">Unsubscribe</a>'
      const id = await draft(site(), 'email', 'en', { from: 'hello@bellbird.example', subject: 'Beans', html })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      await page.getByText('More fields').click()
      await page.getByLabel('Cc', { exact: true }).fill('office@bellbird.example')
      await page.getByLabel('Variables that must not be empty').first().fill('user.data.first_name')
      await page.keyboard.press('Enter')
      await expect.poll(() => templateOf(site(), id)).toMatchObject({ cc: 'office@bellbird.example', required: ['user.data.first_name'] })
      // What was saved is offered as the request that saved it.
      await page.locator('.editor output.saved').waitFor()
      const code = await copiedRequest(page, page.locator('.editor .savedline'))
      expect(code).toContain(`curl -X PUT "${site().url}/api/client/campaigns/${id}/templates/en?variant=A"`)
      expect(code).toContain('"cc": "office@bellbird.example"')
      await page.getByRole('switch', { name: 'An image that the HTML shows' }).click()
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Add a file' }).click()])
      await chooser.setFiles({ name: 'dot.png', mimeType: 'image/png', buffer: DOT })
      const files = page.getByRole('region', { name: 'Attachments' })
      await files.getByText('cid:dot.png').waitFor()
      const image = page.frameLocator('iframe[title="Preview of the email"]').getByRole('img', { name: 'A dot' })
      await expect.poll(() => image.getAttribute('src')).toMatch(/^data:image\/png;base64,iVBOR/)
      await files.getByRole('button', { name: 'Delete dot.png' }).click()
      await page.getByRole('button', { name: 'Delete the file' }).click()
      await expect.poll(async () => (await site().api('GET', `campaigns/${id}/templates/en/attachments`)).results).toEqual([])
      await page.getByText('dot.png has been deleted.').waitFor()
    })

    replacedFile(site)
    spellings(site)

    test('of a text message is measured for users, and costs what the provider says', async () => {
      const id = await draft(site(), 'text', 'en', { body: 'Hello {{ user.data.first_name }}' })
      const provider = await site().api('POST', 'providers', { name: 'Texts', kind: 'sandbox', channel: 'text', settings: {} })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      const card = page.getByRole('region', { name: 'Length and cost' })
      await card.getByText(/^Measured for \d+ users? who would get the message/).waitFor()
      await card.getByText('The provider has no price for an SMS segment.').waitFor()
      // What is typed is measured before it is saved.
      await page.getByLabel('Message', { exact: true }).fill(`Hello ${'x'.repeat(400)}`)
      await card.getByText('3 segments, 406 characters').last().waitFor()
      await expectNoFaults(page)
      await page.goto(`/p/1/providers/${provider.id}`)
      await page.getByRole('switch', { name: 'Price of an SMS segment' }).click()
      await page.getByLabel('Currency').fill('eur')
      await page.getByRole('button', { name: 'Save the settings' }).click()
      await page.getByText('Texts has been changed.').waitFor()
      await page.goto(`/p/1/campaigns/${id}/edit?step=review`)
      await card.getByText('EUR').waitFor()
      await site().api('DELETE', `providers/${provider.id}`)
    })

    test('of an in-app message has HTML and a picture, which the preview shows', async () => {
      const image = `data:image/png;base64,${DOT.toString('base64')}`
      const id = await draft(site(), 'in_app', 'en', { title: 'Beans', body: 'Two bags', image, html: '<b>Two bags of Gesha</b>' })
      await using opened = await memberPage(site(), `/p/1/campaigns/${id}/edit?step=content`)
      const { page } = opened
      const frame = page.frameLocator('iframe[title="Preview of the in-app message"]')
      await frame.getByText('Two bags of Gesha').waitFor()
      expect(await frame.locator('img').getAttribute('src')).toBe(image)
      await page.getByText('More fields').click()
      await page.getByLabel('Disappears at').fill('2031-03-14T01:59:00Z')
      await expect.poll(() => templateOf(site(), id)).toMatchObject({ expires_at: '2031-03-14T01:59:00Z' })
    })
  })
