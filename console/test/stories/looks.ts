import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf, SCREENS } from '../screens.ts'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** What the colours decide. In the dark, the elements and their names are those of the light; on a narrow screen, the colours are. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']
const NO_COLOUR_RULES = Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }]))

const MODES = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 }, options: {} },
  { colorScheme: 'dark', viewport: { width: 1440, height: 900 }, options: { runOnly: COLOUR_RULES } },
  { colorScheme: 'light', viewport: { width: 360, height: 740 }, options: { rules: NO_COLOUR_RULES } },
] as const

const faultsOf = (page: Page, options: object): Promise<unknown> =>
  page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })})
      .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  )

async function show(page: Page, { colorScheme, viewport }: (typeof MODES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize(viewport)
}

/** Looks at the page as it is now, in each mode. */
export async function expectNoFaults(page: Page): Promise<void> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE)
  for (const mode of MODES) {
    const { colorScheme, viewport, options } = mode
    await show(page, mode)
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor({ state: 'attached' })
    expect(await faultsOf(page, options), `${colorScheme} ${viewport.width}`).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${viewport.width}`).toBeLessThanOrEqual(0)
  }
  await show(page, MODES[0])
}

/**
 * Leads to an address as a link of the console does, and waits until it is drawn. To load each screen anew takes as long as to look at it;
 * the stories load most of them.
 */
async function lead(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(address)})`)
  const shown = () => page.evaluate(`(({ resolvedLocation, status }) => [status, resolvedLocation?.href])(__TSR_ROUTER__.state)`)
  await expect.poll(shown).toEqual(['idle', address])
}

export const looks = (site: () => Site) =>
  describe('every screen', () => {
    // A page for all screens: a new one would compile the console again.
    const closing = new AsyncDisposableStack()
    let [inside, outside]: Page[] = []
    beforeAll(async () => {
      inside = closing.use(await memberPage(site(), '/account')).page
      const context = await site().context()
      closing.defer(() => context.close())
      outside = await context.newPage()
      await outside.goto('/sign-in')
    })
    afterAll(() => closing.disposeAsync())

    test.each(SCREENS)('$name has no fault of accessibility in light, dark and at 360 px, where nothing is cut off', async (screen) => {
      const page = (screen.isOutside ? outside : inside) as Page
      await show(page, MODES[0])
      await lead(page, await addressOf(site(), screen))
      await page.getByRole('heading', { level: 1, name: screen.heading }).waitFor()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      await expectNoFaults(page)
    })
  })
