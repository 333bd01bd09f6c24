/** A link to any screen works: the server answers with the page of the console at the path of every route of the console (D-CON-30). */
import { beforeAll, expect, test } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'
import { someSecretKey, startChild, temporaryDir } from '../../server/test/child-server.ts'
import { cloneTemplate } from '../../server/test/ground.ts'

const START_MS = 180_000

/** The paths of all screens, with 1 for each parameter. Imported by name, because types of JSX are checked with the console only. */
async function pathsOfScreens(): Promise<string[]> {
  const { router } = (await import(new URL('../src/router.ts', import.meta.url).href)) as { router: { routesByPath: object } }
  return Object.keys(router.routesByPath).map((path) => path.replaceAll(/\$\w+/g, '1'))
}

// Also where the console has to be built first.
beforeAll(() => void ensureBuilt(), START_MS)

test(
  'the server serves every path of the console',
  async () => {
    await using closing = new AsyncDisposableStack()
    const { path: dataDir } = closing.use(await temporaryDir())
    const env = { BOOTSTRAP_SECRET_KEY: someSecretKey(), DATABASE_URL: await cloneTemplate() }
    const { url } = closing.use(await startChild({ dataDir, env }))
    const page = async (path: string) => {
      const reply = await fetch(`${url}${path}`)
      return { status: reply.status, html: (await reply.text()).replaceAll(/nonce="[^"]*"/g, '') }
    }
    const expected = await page('/sign-in')
    expect(expected).toMatchObject({ status: 200, html: expect.stringContaining('/console/assets/') })
    const paths = await pathsOfScreens()
    expect(paths).toEqual(expect.arrayContaining(['/', '/sign-in/callback', '/p/1/campaigns/1/edit']))
    const served = await Promise.all(paths.map(async (path) => ({ path, ...(await page(`${path}?code=1`)) })))
    expect(served.filter(({ html }) => html !== expected.html).map(({ path }) => path)).toEqual([])
  },
  START_MS,
)
