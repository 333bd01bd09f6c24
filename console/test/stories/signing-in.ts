import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { OWNER, type Site, signIn } from '../site.ts'

const openMenu = (page: Page) => page.getByRole('button', { name: `Account: ${OWNER.name}` }).click()

async function openAccount(page: Page): Promise<void> {
  await openMenu(page)
  await page.getByRole('menuitem', { name: /account/i }).click()
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
}

async function signOut(page: Page): Promise<void> {
  await openMenu(page)
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
}

const failedSignOut = (site: () => Site) =>
  test('signing out asks about what is not saved, and says so where it fails: the member is still signed in', async () => {
    const context = await site().context()
    const page = await context.newPage()
    await page.goto('/sign-in')
    await signIn(page, OWNER)
    await page.waitForURL(/\/p\/\d+/)
    const signOut = async () => {
      await openMenu(page)
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    await page.route('**/api/console/sign-out', (route) => route.abort())
    await signOut()
    await page.getByText('You are still signed in.').waitFor()
    await page.getByRole('heading', { level: 2, name: 'Set up' }).waitFor()
    await page.unroute('**/api/console/sign-out')

    const { id } = await site().api('POST', 'journeys', { name: 'Not saved' })
    await page.goto(`/p/1/journeys/${id}`)
    await page.route(/\/steps$/, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
    await page.getByRole('button', { name: 'Add an entrance' }).first().click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Find a kind of step' }).fill('entrance')
    await page.keyboard.press('Enter')
    await page.getByText('Offline: kept on this device').waitFor()
    const asked = Promise.withResolvers<string>()
    page.once('dialog', (dialog) => dialog.dismiss().then(() => asked.resolve(dialog.message())))
    await signOut()
    expect(await asked.promise).toContain('Leave the page?')
    expect((await context.request.get('/api/console/session')).status()).toBe(200)
    const questions: string[] = []
    page.on('dialog', (dialog) => dialog.accept().then(() => questions.push(dialog.message())))
    await signOut()
    await page.waitForURL(/\/sign-in/)
    expect(questions).toHaveLength(1)
    expect((await context.request.get('/api/console/session')).status()).toBe(401)
    await context.close()
  })

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
      await page.getByText('The attributes have been saved.').waitFor()
      expect((await site().api('GET', 'users/sample-1')).data.plan).toBe('enterprise')
      await context.close()
    })

    test('a passkey is added in the account, and signs in without a password', async () => {
      const context = await site().context()
      const page = await context.newPage()
      // Browsers bind passkeys to a name, and this server has none but localhost.
      await page.goto(`${site().url.replace('127.0.0.1', 'localhost')}/sign-in`)
      const devtools = await context.newCDPSession(page)
      await devtools.send('WebAuthn.enable')
      await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      })
      await signIn(page, OWNER)
      await page.waitForURL(/\/p\/\d+/)
      await openAccount(page)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByLabel('Name of the passkey').fill('Key ring')
      await page.getByLabel('Current password').last().fill(OWNER.password)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByRole('button', { name: 'I have saved them' }).click()
      await page.getByRole('row', { name: /Key ring.*not yet/ }).waitFor()

      await signOut(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.waitForURL(/\/p\/\d+/)
      await openAccount(page)
      await page.getByRole('button', { name: 'Remove Key ring' }).click()
      await page.getByLabel('Current password').last().fill(OWNER.password)
      await page.getByRole('button', { name: 'Remove Key ring' }).last().click()
      await page.getByRole('row', { name: /Key ring/ }).waitFor({ state: 'detached' })
      await context.close()
    })

    failedSignOut(site)

    test('signing out ends the session', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto('/sign-in')
      await signIn(page, OWNER)
      await signOut(page)
      await page.goto('/account')
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await context.close()
    })
  })
