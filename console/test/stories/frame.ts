import { describe, expect, test } from 'vitest'
import type { Site } from '../site.ts'
import { pressApart } from './keyboard.ts'
import { memberPage } from './member-page.ts'

const singleKeys = (site: () => Site) =>
  test('g and a letter open a screen, until single keys are switched off', async () => {
    await using opened = await memberPage(site(), '/')
    const { page } = opened
    await page.getByRole('heading', { level: 1 }).waitFor()
    const screens = await page.evaluate<number>('history.length')
    await pressApart(page, 'g', 'c', 2)
    await pressApart(page, 'g', 'i', 1)
    await page.getByRole('heading', { level: 1, name: 'Sandbox inbox' }).waitFor()
    // The letter that came too late has opened none.
    expect(await page.evaluate('history.length')).toBe(screens + 1)
    // Rows of a list, its search, and what edits an object.
    await pressApart(page, 'g', 'u', 1)
    const rows = page.getByRole('table', { name: 'Users' }).getByRole('link')
    await rows.nth(1).waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.type')
    const names = await rows.allTextContents()
    for (const [key, at] of [
      ['j', 0],
      ['j', 1],
      ['k', 0],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(focused).toBe(names[at])
    }
    await page.keyboard.press('/')
    await expect.poll(focused).toBe('search')
    await page.keyboard.type('wilhelmina')
    await expect.poll(() => rows.count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /wilhelmina/i }).waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Custom attributes, as JSON').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByRole('switch', { name: 'Single keys' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or run a command').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    await page.evaluate("localStorage.removeItem('carillon.single-keys')")
  })

export const frame = (site: () => Site) =>
  describe('the frame', () => {
    test('says on every screen that messages stay here, and names the screen', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.getByRole('complementary', { name: 'Environment' }).getByText('Sandbox.').waitFor()
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
      await expect.poll(() => page.title()).toBe('Users · Carillon')
      expect(await page.getByRole('link', { name: 'Users' }).last().getAttribute('aria-current')).toBe('page')
      // A screen reader hears where it is.
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
    })

    test('Ctrl K finds screens, users and objects, and begins new ones', async () => {
      await site().api('POST', 'journeys', { name: 'Back to beans' })
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.getByRole('heading', { level: 1 }).waitFor()
      const search = page.getByRole('dialog').getByPlaceholder('Search or run a command')
      await page.keyboard.press('Control+k')
      await search.fill('back to b')
      await page.getByRole('dialog').getByText('Journey · draft').click()
      await page.getByRole('heading', { level: 1, name: 'Back to beans' }).waitFor()
      await page.keyboard.press('Control+k')
      await search.fill('new jour')
      await search.press('Enter')
      await page.getByRole('dialog', { name: 'New journey' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByPlaceholder('Search or run a command').fill('wilhelmina')
      await page.getByRole('dialog').getByText('wilhelmina.featherstonehaugh@example.com').click()
      await page.getByRole('heading', { level: 1, name: /wilhelmina/i }).waitFor()
    })

    singleKeys(site)

    test('the first load has at most 250 kB of compressed scripts, with the home screen', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.getByRole('heading', { name: 'Set up' }).waitFor()
      const sizes: number[] = await page.evaluate(
        `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ encodedBodySize }) => encodedBodySize)`,
      )
      expect(Math.min(...sizes)).toBeGreaterThan(0)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000)
    })

    test('the page runs no script and no style but its own', async () => {
      const reply = await fetch(`${site().url}/sign-in`)
      const policy = reply.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toContain('unsafe')
      expect(reply.headers.get('cache-control')).toBe('no-store')
      const html = await reply.text()
      expect(html).not.toContain('__NONCE__')
      const [, script] = /src="(\/console\/assets\/start-[^"]+\.js)"/.exec(html) ?? []
      const file = await fetch(`${site().url}${script}`, { headers: { 'accept-encoding': 'br' } })
      expect([file.headers.get('cache-control'), file.headers.get('content-encoding')]).toEqual([
        'public, max-age=31536000, immutable',
        'br',
      ])
    })

    test('a path of the API that does not exist is not a page of the console', async () => {
      for (const path of ['/api/client/nothing', '/nothing', '/console/assets/nothing.js'])
        expect((await fetch(`${site().url}${path}`)).status, path).toBe(404)
    })
  })
