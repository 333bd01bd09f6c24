import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { hasFocus, pressOn } from './keyboard.ts'
import { expectNoFaults } from './looks.ts'
import { memberPage } from './member-page.ts'

const address = (id: number) => `/p/1/campaigns/${id}/edit?step=content`

/** Waits until the editor has saved. The wizard around it says the same of its own. */
const saved = (page: Page) => page.locator('.editor output.saved').waitFor()

export const editing = (site: () => Site) =>
  describe('editing', () => {
    twoMembers(site)
    restarts(site)
    lateCode(site)
    versions(site)
    bodies(site)
    blocks(site)
  })

const twoMembers = (site: () => Site) =>
  test('of two members who edit one template, each keeps what the other has written', async () => {
    const { id, path } = await draftWithTemplate(site(), 'Shared draft')
    await using mia = await memberPage(site(), address(id))
    await using leo = await memberPage(site(), address(id))
    const [hers, his] = [mia.page, leo.page]
    await Promise.all([hers, his].map((page) => page.getByLabel('Subject').waitFor()))
    await hers.getByLabel('Subject').fill('Written by Mia')
    await saved(hers)
    // He has not seen that, and changes something else.
    await his.getByLabel('Preheader').fill('Written by Leo')
    await his.getByText('Their changes and yours are both kept.').waitFor()
    await saved(his)
    expect(await his.getByLabel('Subject').inputValue()).toBe('Written by Mia')
    expect((await site().api('GET', path)).data).toMatchObject({ subject: 'Written by Mia', preheader: 'Written by Leo' })
    // Where both have changed the same, nothing is saved before one of both is chosen.
    await hers.getByLabel('Subject').fill('Mia again')
    await saved(hers)
    await his.getByLabel('Subject').fill('Leo again')
    const clash = his.getByRole('region', { name: 'subject' })
    await clash.getByText('Mia again', { exact: true }).waitFor()
    await clash.getByText('Leo again', { exact: true }).waitFor()
    expect((await site().api('GET', path)).data.subject).toBe('Mia again')
    await clash.getByRole('button', { name: 'Keep mine: subject' }).click()
    await saved(his)
    expect((await site().api('GET', path)).data).toMatchObject({ subject: 'Leo again', preheader: 'Written by Leo' })
  })

const restarts = (site: () => Site) =>
  test('what was written while the server was restarted is saved when it is back, also after the page was closed', async () => {
    const { id, path } = await draftWithTemplate(site(), 'Restarted')
    const subject = async () => (await site().api('GET', path)).data.subject
    await using first = await memberPage(site(), address(id))
    await using second = await memberPage(site(), address(id))
    await first.page.getByLabel('Subject').waitFor()
    await second.page.getByLabel('Preheader').waitFor()
    await site().restarted(async () => {
      await first.page.getByLabel('Subject').fill('Written while it was away')
      await first.page.getByText('Offline: kept on this device').waitFor()
      await first.page.close()
    })
    await using again = await memberPage(site(), address(id))
    await saved(again.page)
    expect(await again.page.getByLabel('Subject').inputValue()).toBe('Written while it was away')
    expect(await subject()).toBe('Written while it was away')
    // The page that stayed open goes on, with what was saved elsewhere.
    await second.page.getByLabel('Preheader').fill('Written afterwards')
    await saved(second.page)
    expect((await site().api('GET', path)).data).toMatchObject({ subject: 'Written while it was away', preheader: 'Written afterwards' })
  })

const lateCode = (site: () => Site) =>
  test('code of the page that could not be loaded while the server was away is loaded when it is back', async () => {
    const { id } = await draftWithTemplate(site(), 'Late code')
    await using opened = await memberPage(site(), '/livez')
    const { page } = opened
    let refused = 0
    // The editor of code comes after the rest of the page.
    await page.route(/code-editor[^/]*\.js/, (route) => (refused++ < 2 ? route.abort() : route.continue()))
    await page.goto(address(id))
    await page.getByLabel('Subject').fill('Typed before')
    await page.getByRole('textbox', { name: 'HTML of the email' }).waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Typed before')
    expect(refused).toBeGreaterThan(2)
  })

const versions = (site: () => Site) =>
  test('an earlier version of a template is compared and restored, and what it replaces is kept', async () => {
    const { id, path } = await draftWithTemplate(site(), 'Versions')
    await using opened = await memberPage(site(), address(id))
    const { page } = opened
    await page.getByLabel('Subject').fill('Second')
    await saved(page)
    const card = page.getByRole('region', { name: 'Versions' })
    await card.getByText('Version 2', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Compare version 1 with the current content' }).click()
    const difference = card.getByRole('region', { name: 'subject' })
    await difference.getByText('First', { exact: true }).waitFor()
    await difference.getByText('Second', { exact: true }).waitFor()
    await expectNoFaults(page)
    await card.getByRole('button', { name: 'Restore version 1' }).click()
    await card.getByText('This version is the same as the current content.').waitFor()
    await saved(page)
    expect((await site().api('GET', path)).data.subject).toBe('First')
    const { results } = await site().api('GET', `${path}/versions`)
    const versions: { number: number; data: { subject: string } }[] = await Promise.all(
      results.map(({ number }: { number: number }) => site().api('GET', `${path}/versions/${number}`)),
    )
    expect(versions.map(({ number, data }) => [number, data.subject])).toEqual([
      [3, 'First'],
      [2, 'Second'],
      [1, 'First'],
    ])
  })

const bodies = (site: () => Site) =>
  test('an email is shown as what it is not without being changed, and what replaces its body is undone alone', async () => {
    const { id, path } = await draftWithTemplate(site(), 'Bodies')
    const stored = async () => (await site().api('GET', path)).data
    const { html } = await stored()
    await using opened = await memberPage(site(), address(id))
    const { page } = opened
    await page.getByRole('button', { name: 'MJML', exact: true }).click()
    await page.getByText('The email is written as HTML.').waitFor()
    await page.getByLabel('Subject').fill('Second')
    await saved(page)
    expect(await stored()).toEqual({ subject: 'Second', html })
    await page.getByRole('button', { name: 'Start again with MJML' }).click()
    await page.getByLabel('MJML of the email').waitFor()
    await page.getByLabel('Subject').fill('Third')
    await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
    await page.getByLabel('HTML of the email').waitFor()
    await saved(page)
    expect(await stored()).toEqual({ subject: 'Third', html })
  })

const blocks = (site: () => Site) =>
  test('an email is made of blocks by the keyboard, undone and stored as MJML, and what was written by hand is not lost', async () => {
    const { id, path } = await draftWithTemplate(site(), 'Blocks')
    const mjml = async (): Promise<string> => (await site().api('GET', path)).data.mjml
    await using opened = await memberPage(site(), address(id))
    const { page } = opened
    const editor = page.getByRole('group', { name: 'Blocks of the email' })
    const press = (name: string) => pressOn(editor.getByRole('button', { name, exact: true }), 'Enter')
    await pressOn(page.getByRole('button', { name: 'Blocks', exact: true }), 'Enter')
    await page.getByText('This email was written as HTML').waitFor()
    expect((await site().api('GET', path)).data.html).toContain('Hello')
    await pressOn(page.getByRole('button', { name: 'Start again with blocks' }), 'Enter')
    await press('Add a block')
    await pressOn(page.getByRole('menuitem', { name: 'Button' }), 'Enter')
    // The first field of the new block gets the focus.
    const text = editor.getByLabel('Text', { exact: true })
    await hasFocus(text.last())
    await page.keyboard.type('Order {{ event.data.what }}')
    await press('Move up: Button 4')
    await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Move up: Button 3')
    await press('Add a block')
    await pressOn(page.getByRole('menuitem', { name: 'Two columns' }), 'Enter')
    await press('Add to column 2')
    await pressOn(page.getByRole('menuitem', { name: 'Text' }), 'Enter')
    await hasFocus(text.last())
    await page.keyboard.type('Beside **it**')
    await saved(page)
    await expectNoFaults(page)
    expect((await mjml()).indexOf('Order {{ event.data.what }}</mj-button>')).toBeLessThan((await mjml()).indexOf('Unsubscribe'))
    expect(await mjml()).toContain('Beside <strong>it</strong>')
    // What was typed is one step.
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await saved(page)
    expect(await mjml()).not.toContain('Beside')
    await page.reload()
    await text.nth(2).waitFor()
    expect(await text.nth(2).inputValue()).toBe('Order {{ event.data.what }}')
    // MJML with something else stays as it is.
    const byHand = (await mjml()).replace('<mj-body>', '<mj-body width="500px">')
    await site().api('PUT', path, { subject: 'First', mjml: byHand })
    await page.reload()
    await page.getByLabel('MJML of the email').waitFor()
    await pressOn(page.getByRole('button', { name: 'Blocks', exact: true }), 'Enter')
    await page.getByText('parts that blocks cannot show').waitFor()
    expect(await mjml()).toBe(byHand)
  })

/** A draft with a template, and the path of that. */
async function draftWithTemplate(site: Site, name: string): Promise<{ id: number; path: string }> {
  const [{ id: subscription_id }] = (await site.api('GET', 'subscriptions?q=email')).results
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id })
  const path = `campaigns/${id}/templates/en-AU`
  await site.api('PUT', path, { subject: 'First', html: '<p>Hello <a href="{{ unsubscribe_url }}">x</a></p>' })
  return { id, path }
}
