/** How often an event waits for the database on its way to its email: what does not depend on an answer is sent without waiting for it. */
import { expect, test } from 'vitest'
import { applyAcceptedRequests } from '../../src/batches.ts'
import { openDatabase } from '../../src/infra/postgres/db.ts'
import { findSendingCampaigns, recordOverBudget } from '../../src/modules/campaigns/index.ts'
import { createInboxStreams } from '../../src/modules/inbox/index.ts'
import { createSender, sendDueMessages, TRANSACTIONAL } from '../../src/modules/messages/index.ts'
import { openHeldAnswers } from '../held-answers.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { world } from '../world.ts'

/** Statements that are sent together, by parts of their texts, in the order of the groups. */
const TOGETHER = {
  'the projects with requests, and with timers': ['from queue_entries a where', 'from journey_timers order by'],
  'the transaction, the claim, and what is read of the project': [
    'begin\0',
    "hashtextextended('accepted requests'",
    "hashtextextended('lists of a project'",
    'join queue_batches',
    'sum(items) over',
    'from projects',
    'join journeys j',
    'join identity_epochs',
    'join list_versions',
  ],
  'the event, its counts, its triggers, and the end of the request': [
    'insert into events',
    'insert into event_days',
    'select id, event_name, event_rule',
    'delete from queue_entries',
  ],
  'the message, and which webhook events are wanted': ['insert into messages', 'cross join unnest(v.event_types)'],
}

const OF_MESSAGE = {
  'the project of a message, its campaign, its template, its user and the policy': [
    'from projects',
    'from campaigns',
    'from campaign_templates',
    'from users',
    'join sending_policies',
  ],
}

test('an event waits for the database once for each of these groups, and so does its email', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana')
  await answerOrders(w)
  await w.drain()
  await order(w, 'ana')

  await using applying = await openHeldAnswers(w.databaseUrl, TOGETHER)
  await using ofPipeline = openDatabase({ url: applying.url, connectionsMax: 4, name: 'test', checkRows: true })
  const applied = await applyAcceptedRequests({ ...w.ctx, db: ofPipeline })
  await applied.finished
  expect(applying.complete()).toEqual(Object.keys(TOGETHER))

  await using sending = await openHeldAnswers(w.databaseUrl, OF_MESSAGE)
  await using ofSender = openDatabase({ url: sending.url, connectionsMax: 8, name: 'test', checkRows: true })
  const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
  const sent = await sendDueMessages({ ...w.ctx, db: ofSender }, sender)
  await sent.finished
  expect(sending.complete()).toEqual(Object.keys(OF_MESSAGE))
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
}, 30_000)
