import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { draftWithAll, watch } from './campaign-steps.ts'
import { agePage, holdReads, twoFrames, withoutNetwork } from './held-reads.ts'
import { focusOn, hasFocus } from './keyboard.ts'
import { memberPage } from './member-page.ts'

type Case = {
  /** The step that is open when the network goes away. */
  from: string
  /** What is done without a network before something is typed. */
  without?: (page: Page) => Promise<void>
  opened: string
  step: string
  field: string
  typed: string
  /** What is read when the network is back. */
  reads: RegExp
}

const HOLDOUT = { step: 'audience', field: 'Control group, in per cent', typed: '7', reads: /\/api\/client\/lists\?/ }
const SUBJECT = { step: 'content', field: 'Subject', typed: 'Beans' }
const VARIANT = { step: 'content', field: 'Name of variant A', typed: 'Short' }
const TEMPLATES = /\/templates$/

const goTo = (step: string) => (page: Page) => page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: step }).click()

async function chooseGerman(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Language' }).click()
  await page.getByRole('option', { name: 'German (de)' }).click()
}

async function testVariants(page: Page): Promise<void> {
  await goTo('content')(page)
  await page.getByRole('switch', { name: 'Test variants of the content' }).click()
}

const CASES: Case[] = [
  { ...HOLDOUT, from: 'about', without: goTo('audience'), opened: 'without a network' },
  { ...HOLDOUT, from: 'audience', opened: 'before' },
  { ...VARIANT, from: 'about', without: testVariants, opened: 'without a network', reads: TEMPLATES },
  { ...SUBJECT, from: 'content', opened: 'before', reads: TEMPLATES },
  { ...SUBJECT, from: 'content', without: chooseGerman, opened: 'without a network in another language', reads: /\/attachments/ },
]

/** Has the page know its fields, with their names. */
const keepFields = (page: Page) =>
  page.evaluate(`{
    const fields = [...document.querySelectorAll('main :is(input, textarea)')]
    window.fields = fields.map((field) => ({ field, name: field.labels?.[0]?.textContent ?? field.type }))
  }`)

/** The fields that were taken away since then. */
const lostFields = (page: Page): Promise<string[]> =>
  page.evaluate('fields.filter(({ field }) => !field.isConnected).map(({ name }) => name)')

export const campaignNetwork = (site: () => Site) =>
  describe('a campaign whose network comes back', () => {
    test.each(CASES)('keeps $field of $step, opened $opened, with what is typed and the focus', async (given) => {
      const { from, without, field: label, typed, reads } = given
      await using campaign = await draftWithAll(site())
      await using opened = await memberPage(site(), campaign.path(from))
      const { page } = opened
      const field = page.getByLabel(label)
      // Nothing can be changed before the server says that no other member does.
      await focusOn(from === 'about' ? page.getByLabel('Name', { exact: true }) : field)
      await using network = new AsyncDisposableStack()
      network.use(await withoutNetwork(page))
      await without?.(page)
      await focusOn(field)
      await field.fill(typed)
      await keepFields(page)
      await agePage(page)
      await watch(page, label)
      const held = await holdReads(page, reads)
      await network.disposeAsync()
      await held.asked
      await twoFrames(page)
      expect(await lostFields(page)).toEqual([])
      const answered = page.waitForResponse(reads)
      held.release()
      await answered
      await twoFrames(page)
      expect(await lostFields(page)).toEqual([])
      expect(await page.evaluate('places')).toHaveLength(1)
      await hasFocus(field)
      expect(await field.inputValue()).toBe(typed)
    })
  })
