import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { addressOf, SCREENS, type Screen } from '../screens.ts'
import type { Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`

const MODES = [
  ['light', { width: 1440, height: 900 }],
  ['dark', { width: 1440, height: 900 }],
  ['light', { width: 360, height: 740 }],
] as const

async function faultsOf(page: Page): Promise<unknown> {
  await page.evaluate(AXE)
  return page.evaluate(RUN)
}

async function outside(site: Site, screen: Screen): Promise<AsyncDisposable & { page: Page }> {
  const context = await site.context()
  const page = await context.newPage()
  await page.goto(await addressOf(site, screen))
  return { page, [Symbol.asyncDispose]: () => context.close() }
}

export const looks = (site: () => Site) =>
  describe('every screen', () => {
    test.each(SCREENS)('$name has no fault of accessibility in light, dark and at 360 px, where nothing is cut off', async (screen) => {
      await using opened = await (screen.isOutside ? outside(site(), screen) : memberPage(site(), await addressOf(site(), screen)))
      const { page } = opened
      await page.getByRole('heading', { level: 1, name: screen.heading }).waitFor()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      for (const [colorScheme, viewport] of MODES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize(viewport)
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor({ state: 'attached' })
        expect(await faultsOf(page), `${colorScheme} ${viewport.width}`).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${viewport.width}`).toBeLessThanOrEqual(0)
      }
    })
  })
