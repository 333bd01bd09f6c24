/** Networks that go away, and replies that are held until a story lets them go. */
import type { Page, Route } from 'playwright-core'

export type Reply = { results: unknown[] }

/** Holds the replies of these reads until they are let go. `asked` resolves with the first of them. */
export async function holdReads(page: Page, reads: RegExp, change: (reply: Reply) => Reply = (reply) => reply) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(reads, async (route: Route) => {
    asked.resolve()
    await released.promise
    const response = await route.fetch()
    await route.fulfill({ response, json: change(await response.json()) })
  })
  return { asked: asked.promise, release: released.resolve }
}

export const twoFrames = (page: Page) => page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

/** Makes what was read up to now old, so that it is read again as soon as there is a network. */
export const agePage = (page: Page) => page.evaluate('{ const { now } = Date; Date.now = () => now() + 60_000 }')

/** Takes the network away until it is disposed of. All pages of the profile are without it. */
export async function withoutNetwork(page: Page): Promise<AsyncDisposable> {
  await page.context().setOffline(true)
  return { [Symbol.asyncDispose]: () => page.context().setOffline(false) }
}
