/** The console in a real browser. All stories are in this file, so that they share one server and one browser. */
import { afterAll, beforeAll } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'
import { someSecretKey, startChild, temporaryDir } from '../../server/test/child-server.ts'
import { cloneTemplate } from '../../server/test/ground.ts'
import { openRelay, type Relay } from '../../server/test/relay.ts'
import { openSite, type Site } from './site.ts'
import { audit } from './stories/audit.ts'
import { campaigns } from './stories/campaigns.ts'
import { consent } from './stories/consent.ts'
import { domains } from './stories/domains.ts'
import { firstSteps } from './stories/first-steps.ts'
import { frame } from './stories/frame.ts'
import { imports } from './stories/imports.ts'
import { journeys } from './stories/journeys.ts'
import { keys } from './stories/keys.ts'
import { lists } from './stories/lists.ts'
import { looks } from './stories/looks.ts'
import { messages } from './stories/messages.ts'
import { providers } from './stories/providers.ts'
import { sandbox } from './stories/sandbox.ts'
import { signingIn } from './stories/signing-in.ts'
import { team } from './stories/team.ts'
import { users } from './stories/users.ts'
import { webhooks } from './stories/webhooks.ts'

const START_MS = 180_000

const closing = new AsyncDisposableStack()
let opened: Site | undefined
const site = () => opened as Site
let relay: Relay | undefined

/** The link of the latest email to an address. */
const mailedTo = (address: string): string | undefined => {
  const mail = relay?.mails.findLast(({ to }) => to.includes(address))
  return /http\S+#token=[\w-]+/.exec(mail?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '')?.[0]
}

beforeAll(async () => {
  await ensureBuilt()
  const { path: dataDir } = closing.use(await temporaryDir())
  const DATABASE_URL = await cloneTemplate()
  relay = closing.use(await openRelay())
  const mail = { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@bellbird.test' }
  const start = (env: Record<string, string>) => startChild({ dataDir, env: { ...env, ...mail, DATABASE_URL } })
  opened = closing.use(await openSite({ key: someSecretKey(), start }))
}, START_MS)
afterAll(() => closing.disposeAsync())

// In this order: the first story creates the owner and the users of the others.
firstSteps(site)
signingIn(site)
frame(site)
users(site)
sandbox(site)
messages(site)
lists(site)
imports(site)
consent(site)
domains(site)
keys(site)
webhooks(site)
providers(site)
campaigns(site)
journeys(site)
audit(site)
team(site, mailedTo)
looks(site)
