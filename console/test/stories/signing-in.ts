import { describe, expect, test } from 'vitest'
import { OWNER, type Site, signIn } from '../site.ts'

export const signingIn = (site: () => Site) =>
  describe('signing in', () => {
    test('a wrong password is refused; the right one leads to where one wanted to go', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto('/account')
      await page.waitForURL(/\/sign-in/)
      await signIn(page, { ...OWNER, password: 'not the password' })
      expect(await page.getByRole('alert').textContent()).toContain('wrong')
      await signIn(page, OWNER)
      await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
      await context.close()
    })

    test('a session that ends while a page is open is continued on that page, and what was typed stays', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto('/sign-in')
      await signIn(page, OWNER)
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByLabel('Search users').fill('sample-1')
      await page.getByRole('link', { name: /^sample.one/ }).click()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Custom attributes, as JSON').fill('{ "plan": "enterprise" }')
      await context.clearCookies()
      await page.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.getByLabel('Password', { exact: true }).fill(OWNER.password)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await page.getByLabel('Custom attributes, as JSON').inputValue()).toContain('enterprise')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The attributes are saved.').waitFor()
      expect((await site().api('GET', 'users/sample-1')).data.plan).toBe('enterprise')
      await context.close()
    })

    test('signing out ends the session', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto('/sign-in')
      await signIn(page, OWNER)
      await page.getByRole('button', { name: `Account: ${OWNER.name}` }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.waitForURL(/\/sign-in/)
      await page.goto('/account')
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await context.close()
    })
  })
