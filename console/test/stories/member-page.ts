import type { BrowserContext, Page } from 'playwright-core'
import { OWNER, type Site, signIn } from '../site.ts'

let signedIn: Promise<BrowserContext> | undefined

/** A page in which the owner is signed in. All pages share a profile, so that there is one sign-in for all stories. */
export async function memberPage(site: Site, path: string): Promise<AsyncDisposable & { page: Page }> {
  signedIn ??= signInOwner(site)
  const page = await (await signedIn).newPage()
  await page.goto(path)
  // `/` leads to the project.
  if (path === '/') await page.waitForURL(/\/p\/\d+$/)
  return { page, [Symbol.asyncDispose]: () => page.close() }
}

async function signInOwner(site: Site): Promise<BrowserContext> {
  const context = await site.context()
  const page = await context.newPage()
  await page.goto('/sign-in')
  await signIn(page, OWNER)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForURL(/\/p\/\d+/)
  // A page that stays keeps the process of the others, with the console that it has compiled.
  await page.goto('/livez')
  return context
}
