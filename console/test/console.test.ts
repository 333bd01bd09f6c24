/** The console in a real browser: what members do in it, from users to journeys. `members.test.ts` and `looks.test.ts` have the other stories. */
import { SAMPLE_USERS } from '../src/parts/sample-users.ts'
import { ownSite } from './own-site.ts'
import type { Site } from './site.ts'
import { abTest } from './stories/ab-test.ts'
import { apiLog } from './stories/api-log.ts'
import { calendar } from './stories/calendar.ts'
import { campaignNetwork } from './stories/campaign-network.ts'
import { campaignSteps } from './stories/campaign-steps.ts'
import { campaigns } from './stories/campaigns.ts'
import { consent } from './stories/consent.ts'
import { copiedSteps } from './stories/copied-steps.ts'
import { dialogs } from './stories/dialogs.ts'
import { domains } from './stories/domains.ts'
import { editing } from './stories/editing.ts'
import { failedReads } from './stories/failed-reads.ts'
import { imports } from './stories/imports.ts'
import { journeys } from './stories/journeys.ts'
import { keptDrafts } from './stories/kept-drafts.ts'
import { keptEdits } from './stories/kept-edits.ts'
import { launches } from './stories/launches.ts'
import { listIndex } from './stories/list-index.ts'
import { lists } from './stories/lists.ts'
import { mail } from './stories/mail.ts'
import { messages } from './stories/messages.ts'
import { notLost } from './stories/not-lost.ts'
import { providers } from './stories/providers.ts'
import { reports } from './stories/reports.ts'
import { safeSaves } from './stories/safe-saves.ts'
import { sandbox } from './stories/sandbox.ts'
import { schema } from './stories/schema.ts'
import { shown } from './stories/shown.ts'
import { templateFields } from './stories/template-fields.ts'
import { unsaved } from './stories/unsaved.ts'
import { userList } from './stories/user-list.ts'
import { users } from './stories/users.ts'
import { webhooks } from './stories/webhooks.ts'

/** Some users, and what one of them did. */
async function someUsers(site: Site): Promise<void> {
  await site.api('POST', 'users/batch', SAMPLE_USERS)
  await site.api('POST', 'events', [{ external_id: 'sample-2', name: 'order_placed', data: { total: 64 } }])
}

const { site } = ownSite({ fill: someUsers })

// In this order: some stories count what those before them made.
users(site)
userList(site)
sandbox(site)
messages(site)
apiLog(site)
lists(site)
imports(site)
listIndex(site)
consent(site)
domains(site)
webhooks(site)
providers(site)
campaigns(site)
campaignSteps(site)
campaignNetwork(site)
calendar(site)
abTest(site)
templateFields(site)
keptEdits(site)
safeSaves(site)
launches(site)
unsaved(site)
notLost(site)
copiedSteps(site)
keptDrafts(site)
reports(site)
editing(site)
journeys(site)
mail(site)
schema(site)
shown(site)
dialogs(site)
failedReads(site)
