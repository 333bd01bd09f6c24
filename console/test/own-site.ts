/** A server and a browser for the stories of a file. Several files run at the same time, so that no processor waits for the last one. */
import { afterAll, beforeAll } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'
import { someSecretKey, startChild, temporaryDir } from '../../server/test/child-server.ts'
import { cloneTemplate } from '../../server/test/ground.ts'
import { openRelay, type Relay } from '../../server/test/relay.ts'
import { openSite, registerOwner, type Site } from './site.ts'

const START_MS = 180_000

export type OwnSite = {
  site: () => Site
  /** The link of the latest email to an address. */
  mailedTo: (address: string) => string | undefined
}

/** Opens a site before the stories of a file. With `fill`, it has an owner, and what `fill` makes in the first project. */
export function ownSite({ fill }: { fill?: (site: Site) => Promise<unknown> } = {}): OwnSite {
  const closing = new AsyncDisposableStack()
  let opened: Site | undefined
  let relay: Relay | undefined
  beforeAll(async () => {
    ensureBuilt()
    const { path: dataDir } = closing.use(await temporaryDir())
    const DATABASE_URL = await cloneTemplate()
    relay = closing.use(await openRelay())
    const mail = { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@bellbird.test' }
    const start = (env: Record<string, string>) => startChild({ dataDir, env: { ...env, ...mail, DATABASE_URL } })
    opened = closing.use(await openSite({ key: someSecretKey(), start }))
    if (!fill) return
    await registerOwner(opened)
    await fill(opened)
  }, START_MS)
  afterAll(() => closing.disposeAsync())
  return {
    site: () => opened as Site,
    mailedTo(address) {
      const mail = relay?.mails.findLast(({ to }) => to.includes(address))
      return /http\S+#token=[\w-]+/.exec(mail?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '')?.[0]
    },
  }
}
