import type { BrowserContext, Locator, Page } from 'playwright-core'
import { OWNER, type Site } from '../site.ts'

const signedIn = new WeakMap<Site, Promise<BrowserContext>>()

/** A page in which the owner is signed in. The pages of a site share a profile, so that there is one sign-in for all its stories. */
export async function memberPage(site: Site, path: string): Promise<AsyncDisposable & { page: Page }> {
  const context = signedIn.get(site) ?? signInOwner(site)
  signedIn.set(site, context)
  const page = await (await context).newPage()
  await page.goto(path)
  // `/` leads to the project.
  if (path === '/') await page.waitForURL(/\/p\/\d+$/)
  return { page, [Symbol.asyncDispose]: () => page.close() }
}

/** Chooses from the menu of a write that was saved, and returns the code that it copies. */
export async function copiedRequest(page: Page, menu: Locator): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await menu.getByRole('button', { name: 'The request that was sent' }).click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  await page.getByText('Copied as curl').last().waitFor()
  return page.evaluate('navigator.clipboard.readText()')
}

/** Signs in without the page for it, which has stories of its own. */
async function signInOwner(site: Site): Promise<BrowserContext> {
  const context = await site.context()
  const { email, password } = OWNER
  const reply = await context.request.post('/api/console/sign-in', { data: { email, password } })
  if (!reply.ok()) throw new Error(`The owner was not signed in: ${await reply.text()}`)
  // A page that stays keeps the process of the others, with the console that it has compiled.
  await (await context.newPage()).goto('/livez')
  return context
}
