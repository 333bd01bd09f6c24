import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { holdReads, type Reply, twoFrames, withoutNetwork } from './held-reads.ts'
import { hasFocus } from './keyboard.ts'
import { memberPage } from './member-page.ts'

/** Everyone, as the step of the audience knows such a list: with it, the button that makes one is not needed. */
const EVERYONE = { attribute: 'external_id', is_set: true }

const PROVIDERS = /\/api\/client\/providers\?/

const FILE = { content_type: 'text/plain', content: Buffer.from('Beans').toString('base64') }

type Step = {
  step: string
  reads: RegExp
  /** Below what comes with the reads. */
  below: string
  about: string
  change?: (reply: Reply) => Reply
}

const STEPS: Step[] = [
  {
    step: 'audience',
    reads: /\/api\/client\/lists\?/,
    about: 'Create a list of all users',
    below: 'Control group, in per cent',
    // The story of a campaign has made that list.
    change: (reply) => ({ ...reply, results: reply.results.filter(({ rule }: any) => JSON.stringify(rule) !== JSON.stringify(EVERYONE)) }),
  },
  { step: 'content', reads: /\/attachments/, about: 'menu.txt', below: 'Add a file' },
  { step: 'delivery', reads: PROVIDERS, about: 'Provider', below: 'Custom retry times for deferred email' },
  { step: 'delivery', reads: /\/api\/client\/domains\?/, about: 'Domain of links', below: 'UTM parameters' },
]

/** Notes in each frame how far a field or a button is below the top of its card, if it is there: as often as that changes. */
export const watch = (page: Page, name: string) =>
  page.evaluate(`(() => {
    const places = (window.places = [])
    const look = () => {
      const isIt = ({ childNodes }) => [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data === ${JSON.stringify(name)})
      const found = [...document.querySelectorAll('section *')].find(isIt)
      if (found) {
        const place = Math.round(found.getBoundingClientRect().top - found.closest('section').getBoundingClientRect().top)
        if (places.at(-1) !== place) places.push(place)
      }
      requestAnimationFrame(look)
    }
    look()
  })()`)

export const campaignSteps = (site: () => Site) =>
  describe('the steps of a campaign', () => {
    test.each(STEPS)('$step comes whole: $below is not moved by $about', async ({ step, reads, below, about, change }) => {
      await using campaign = await draftWithAll(site())
      await using opened = await memberPage(site(), campaign.path('about'))
      const { page } = opened
      await page.getByRole('heading', { level: 2, name: 'Name and type' }).waitFor()
      const held = await holdReads(page, reads, change)
      await watch(page, below)
      await page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: step }).click()
      await held.asked
      await twoFrames(page)
      held.release()
      await page.locator('section').getByText(about, { exact: true }).first().waitFor()
      await twoFrames(page)
      expect(await page.evaluate('places')).toHaveLength(1)
    })

    test('delivery is changed without a network, and saved when it is back, without taking the focus', async () => {
      await using campaign = await draftWithAll(site())
      await using opened = await memberPage(site(), campaign.path('about'))
      const { page } = opened
      await page.getByRole('heading', { level: 2, name: 'Name and type' }).waitFor()
      const messages = page.getByLabel('Messages', { exact: true })
      await using network = new AsyncDisposableStack()
      network.use(await withoutNetwork(page))
      await page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: 'delivery' }).click()
      await page.getByRole('switch', { name: 'Limit the sending rate of this campaign' }).click()
      await messages.fill('77')
      await page.getByText('Offline: kept on this device').waitFor()
      const held = await holdReads(page, PROVIDERS)
      await watch(page, 'Limit the sending rate of this campaign')
      await network.disposeAsync()
      await held.asked
      await twoFrames(page)
      held.release()
      await expect.poll(() => page.getByRole('combobox', { name: 'Provider' }).isEnabled()).toBe(true)
      await twoFrames(page)
      expect(await page.evaluate('places')).toHaveLength(1)
      await hasFocus(messages)
      await expect.poll(async () => (await site().api('GET', `campaigns/${campaign.id}`)).rate?.limit).toBe(77)
    })
  })

/** A draft with a template and an attachment, in a project with a provider and a domain, until it is disposed of. */
export async function draftWithAll(site: Site) {
  await using making = new AsyncDisposableStack()
  const make = async (kind: string, body: object): Promise<number> => {
    const { id } = await site.api('POST', kind, body)
    making.defer(() => site.api('DELETE', `${kind}/${id}`))
    return id
  }
  const [{ id: subscription_id }] = (await site.api('GET', 'subscriptions?q=email')).results
  await make('providers', { name: 'Steps', kind: 'sandbox', channel: 'email', settings: {} })
  // A story that was stopped has left its own.
  await make('domains', { sending_domain: `steps-${Date.now()}.bellbird.test` })
  const id = await make('campaigns', { type: 'blast', name: 'Steps', subscription_id })
  const template = `campaigns/${id}/templates/en-AU`
  await site.api('PUT', template, { subject: 'First', html: '<p>Hello <a href="{{ unsubscribe_url }}">x</a></p>' })
  await site.api('PUT', `${template}/attachments/menu.txt`, FILE)
  await site.api('PUT', `campaigns/${id}/templates/de`, { subject: 'Erste', html: '<p>Hallo <a href="{{ unsubscribe_url }}">x</a></p>' })
  const made = making.move()
  return {
    id,
    path: (step: string) => `/p/1/campaigns/${id}/edit?step=${step}`,
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}
