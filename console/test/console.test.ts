/** The console in a real browser. All stories are in this file, so that they share one server and one browser. */
import { afterAll, beforeAll } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'
import { someSecretKey, startChild, temporaryDir } from '../../server/test/child-server.ts'
import { cloneTemplate } from '../../server/test/ground.ts'
import { openSite, type Site } from './site.ts'
import { campaigns } from './stories/campaigns.ts'
import { consent } from './stories/consent.ts'
import { firstSteps } from './stories/first-steps.ts'
import { frame } from './stories/frame.ts'
import { imports } from './stories/imports.ts'
import { keys } from './stories/keys.ts'
import { lists } from './stories/lists.ts'
import { looks } from './stories/looks.ts'
import { messages } from './stories/messages.ts'
import { sandbox } from './stories/sandbox.ts'
import { signingIn } from './stories/signing-in.ts'
import { users } from './stories/users.ts'

const START_MS = 180_000

const closing = new AsyncDisposableStack()
let opened: Site | undefined
const site = () => opened as Site

beforeAll(async () => {
  await ensureBuilt()
  const { path: dataDir } = closing.use(await temporaryDir())
  const DATABASE_URL = await cloneTemplate()
  opened = closing.use(await openSite({ key: someSecretKey(), start: (env) => startChild({ dataDir, env: { ...env, DATABASE_URL } }) }))
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
keys(site)
campaigns(site)
looks(site)
