import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { OWNER, type Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const MINUTE_S = 60
const START = Date.parse('2026-11-19T03:00:00Z')

const REFUSED = { status: 401, json: { error: { message: 'Sign in.', reason: 'session_invalid' } } }

/** What the server says of the end, beside what it says now. */
type End = { expires_at?: string; latest_expires_at?: string; remaining_seconds: number } | 'ended'

/** A page whose clock the test moves, and whose session ends when the test says so. */
async function watchedPage(site: Site) {
  const opened = await memberPage(site, '/livez')
  const { page } = opened
  let end: End = { remaining_seconds: 60 * MINUTE_S }
  await page.clock.install({ time: START })
  await page.route('**/api/console/session/end', async (route) => {
    if (end === 'ended') return route.fulfill(REFUSED)
    const response = await route.fetch()
    return route.fulfill({ response, json: { ...(await response.json()), ...end } })
  })
  const asked = page.waitForResponse('**/api/console/session/end')
  await page.goto('/')
  await page.getByRole('link', { name: 'Users' }).click()
  const typedInto = page.getByLabel('Search users')
  await typedInto.fill('half a na')
  await asked
  const after = async (minutes: number, next: End) => {
    end = next
    await page.clock.runFor(minutes * MINUTE_S * 1000)
  }
  return { ...opened, page, typedInto, after, says: (next: End) => (end = next) }
}

const warning = (page: Page) => page.getByRole('status').filter({ hasText: /signed out at|session ends at/ })
const focused = (page: Page) =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent')

export const sessionEnd = (site: () => Site) =>
  describe('the end of a session', () => {
    test('is said five minutes before, without taking the focus; to stay signed in is one press, and the focus goes back', async () => {
      await using opened = await watchedPage(site())
      const { page, typedInto, after, says } = opened
      const had = await focused(page)
      await after(54, { remaining_seconds: 6 * MINUTE_S })
      expect(await warning(page).count()).toBe(0)
      await after(1, { expires_at: '2026-11-19T04:00:00Z', remaining_seconds: 5 * MINUTE_S })
      await warning(page).getByText('You will be signed out at 3:00 pm AEDT, because the console has not been used.').waitFor()
      expect(await focused(page)).toBe(had)

      says({ remaining_seconds: 60 * MINUTE_S })
      const used = page.waitForRequest(/\/api\/console\/session$/)
      const stay = warning(page).getByRole('button', { name: 'Stay signed in' })
      await stay.focus()
      await page.keyboard.press('Enter')
      await used
      await warning(page).waitFor({ state: 'detached' })
      await page.getByText('You stay signed in.').waitFor()
      expect(await focused(page)).toBe(had)
      expect(await typedInto.inputValue()).toBe('half a na')
    })

    test('at the limit says that signing in again will be asked; then it is, over the page with what was typed', async () => {
      await using opened = await watchedPage(site())
      const { page, typedInto, after, says } = opened
      const limit = '2026-11-19T04:00:00.000Z'
      await after(55, { expires_at: limit, latest_expires_at: limit, remaining_seconds: 5 * MINUTE_S })
      await warning(page).getByText('Your session ends at 3:00 pm AEDT. You will then be asked to sign in again.').waitFor()
      expect(await warning(page).getByRole('button').allTextContents()).toEqual(['Close'])
      await warning(page).getByRole('button', { name: 'Close' }).click()
      await warning(page).waitFor({ state: 'detached' })
      await after(5, 'ended')
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.getByLabel('Password', { exact: true }).fill(OWNER.password)
      says({ remaining_seconds: 60 * MINUTE_S })
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await typedInto.inputValue()).toBe('half a na')
    })

    test('that was missed, because the machine slept, is said over the page when one comes back', async () => {
      await using opened = await watchedPage(site())
      const { page, typedInto, after } = opened
      await page.route(/\/api\/console\/session$/, (route) => route.fulfill(REFUSED))
      await after(2, 'ended')
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
      expect(await typedInto.inputValue()).toBe('half a na')
    })
  })
