/** What the stories of a file share: one server with the built console, one browser, an owner who is signed in. */
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'

export const OWNER = { name: 'Mia Tan', email: 'mia@bellbird.test', password: `${randomBytes(9).toString('hex')} bell` }

/** How long a page may take to show something on a busy machine. */
const WAIT_MS = 60_000

/** Each reply of the API comes up to so much later, which finds what only works as long as replies are fast. */
const SLOW_REPLIES_MS = Number(process.env.CARILLON_SLOW_REPLIES ?? 0)

export type Site = AsyncDisposable & {
  url: string
  browser: Browser
  /** A secret key of the first project. */
  key: string
  /** The link of the first start. */
  ownerLink: string
  /** Opens a browser profile of its own, without a session. */
  context(): Promise<BrowserContext>
  /** Kills the server, waits for what happens while it is away, and starts another one in its place. */
  restarted(meanwhile: () => Promise<void>): Promise<void>
  /** Calls the API with the key. */
  api(method: string, path: string, body?: unknown): Promise<any>
}

/** A server that has started: its address, and what it has printed. */
export type Started = AsyncDisposable & { url: string; log(): string }

export type SiteOptions = {
  /** Starts a server with this environment. */
  start: (env: Record<string, string>) => Promise<Started>
  /** The secret key of the first project. */
  key: string
}

/** Starts the server and the browser. */
export async function openSite({ start, key }: SiteOptions): Promise<Site> {
  await using opening = new AsyncDisposableStack()
  let server = await start({ BOOTSTRAP_SECRET_KEY: key })
  opening.defer(() => server[Symbol.asyncDispose]())
  const browser = await launchBrowser()
  opening.defer(() => browser.close())
  const url = server.url
  const ownerLink = /Console: (\S+)/.exec(server.log())?.[1]
  if (ownerLink === undefined) throw new Error(`No link for the owner was printed:\n${server.log()}`)
  const closing = opening.move()
  return {
    url,
    browser,
    key,
    ownerLink,
    async context() {
      const context = await browser.newContext({
        baseURL: url,
        locale: 'en-AU',
        timezoneId: 'Australia/Melbourne',
        viewport: { width: 1440, height: 900 },
        // What moves is drawn sixty times a second, without a graphics card.
        reducedMotion: 'reduce',
      })
      context.setDefaultTimeout(WAIT_MS)
      if (SLOW_REPLIES_MS > 0)
        await context.route('**/api/**', async (route) => {
          await setTimeout(Math.random() * SLOW_REPLIES_MS)
          // The page may be closed by now.
          await route.continue().catch(() => undefined)
        })
      return context
    },
    async restarted(meanwhile) {
      await server[Symbol.asyncDispose]()
      await meanwhile()
      server = await start({ BOOTSTRAP_SECRET_KEY: key, PORT: new URL(url).port })
    },
    async api(method, path, body) {
      const reply = await fetch(`${url}/api/client/${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
      return reply.status === 204 ? null : reply.json()
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Creates the owner by the API. */
export async function registerOwner({ url, ownerLink }: Site): Promise<void> {
  const token = /#token=(.+)$/.exec(ownerLink)?.[1]
  const reply = await fetch(`${url}/api/console/owner`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, ...OWNER }),
  })
  if (!reply.ok) throw new Error(`The owner was not created: ${await reply.text()}`)
}

/** Creates the owner with the link of the first start. The page is then at Home. */
export async function createOwner({ ownerLink }: Site, page: Page): Promise<void> {
  await page.goto(ownerLink)
  await page.getByLabel('Your name').fill(OWNER.name)
  await page.getByLabel('Email').fill(OWNER.email)
  await page.getByLabel('New password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Create the owner and sign in' }).click()
  await page.getByRole('heading', { level: 2, name: 'Set up' }).waitFor()
}

/** Signs in on the page of the sign-in. */
export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
