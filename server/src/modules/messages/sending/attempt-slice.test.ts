/**
 * One message of a slice meets an error while it is prepared, or while it is sent. Neither it nor the others are sent twice. Emails are counted
 * at a relay and at a fake provider.
 */
import { expect, test } from 'vitest'
import { outcomes, run, subscriptionTo, write } from '../../../../test/blasts.ts'
import { type FakeProvider, openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { summaryOf } from '../../../infra/postgres/sql.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { createSender, sendDueMessages } from './sender.ts'

const FILE = { name: 'invoice.txt', content_type: 'text/plain', content: Buffer.from('Invoice 7').toString('base64') }

/** Asks for an email to a user. */
async function ask(w: World, external_id: string, more: object = {}): Promise<{ id: number }> {
  const user = { external_id, email: `${external_id}@example.com` }
  const content = { from: 'App <app@example.com>', subject: 'Invoice', html: '<p>Invoice {{ event.data.code }}</p>' }
  const subscription_id = await subscriptionTo(w)
  const asked = await w.post('/api/client/messages', { subscription_id, content, user, ...more })
  expect(asked.status, asked.text).toBe(202)
  return asked.body
}

/** The database fails the next statement that reads files of requests. */
function failNextFiles(w: World): void {
  const { db } = w.ctx
  let left = 1
  const many: typeof db.many = (row, statement) =>
    summaryOf(statement).includes('from message_attachments') && left-- > 0
      ? Promise.reject(new Error('canceling statement due to statement timeout'))
      : db.many(row, statement)
  w.ctx.db = { ...db, many }
}

test('a message whose files cannot be read is sent later, and those beside it once', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await ask(w, 'ana')
  await ask(w, 'bo', { attachments: [FILE] })
  failNextFiles(w)
  await run(w, 'messages.send')
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  w.advance('6 minutes')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
  expect(relay.mails.find(({ to }) => to.includes('bo@example.com'))?.raw).toContain(FILE.content)
})

/** The recipients of the requests for emails. */
const sentTo = ({ requests }: FakeProvider): string[] =>
  requests.filter(({ url }) => url.endsWith('/emails')).map(({ json }) => String((json as { to: unknown }).to))

test('the results of a slice are saved when one of its attempts throws, which is repeated with its key', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  let thrown = 0
  w.replaceFetch({
    request: async (request) => {
      const answer = await fake.fetch.request(request)
      if (String(request.body).includes('ana@example.com') && thrown++ === 0) throw new Error('A fault of this program.')
      return answer
    },
  })
  fake.answer(...Array.from({ length: 5 }, (_, at) => ({ status: 200, body: { id: `r-${at}` } })))
  await providerOf(w, { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } })
  await w.users('ana', 'bo')
  const campaign = await answerOrders(w)
  await order(w, 'ana', 'bo')
  await run(w, 'ingest.apply')
  await expect(w.drain('messages.send')).rejects.toThrow('A fault of this program.')
  expect((await outcomes(w, campaign)).toSorted()).toEqual(['ana: claimed', 'bo: sent'])
  w.advance('6 minutes')
  await w.drain()
  expect(sentTo(fake).toSorted()).toEqual(['ana@example.com', 'ana@example.com', 'bo@example.com'])
  expect(new Set(fake.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
  expect((await outcomes(w, campaign)).toSorted()).toEqual(['ana: sent', 'bo: sent'])
})

test('a message about which nothing can be decided does not keep those beside it from being sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana', 'bo')
  const [broken, other] = [await answerOrders(w), await answerOrders(w)]
  await write(w, other, { event_name: 'refund' })
  await order(w, 'ana')
  await w.post('/api/client/events', [{ name: 'refund', external_id: 'bo' }])
  await run(w, 'ingest.apply')
  const failing: typeof findSendingCampaigns = async (...given) =>
    (await findSendingCampaigns(...given)).map((campaign) => (campaign.id === broken.id ? withoutState(campaign) : campaign))
  const sender = createSender({ recordOverBudget, findSendingCampaigns: failing, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
  await (await sendDueMessages(w.ctx, sender)).finished
  expect(recipientsOf(relay)).toEqual(['bo@example.com'])
  w.advance('6 minutes')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
})

/** Fails when it is asked whether it is running. */
const withoutState = <C extends object>(campaign: C): C =>
  Object.defineProperty({ ...campaign }, 'state', {
    get() {
      throw new Error('A fault of this program.')
    },
  })

test('a message whose redacted values cannot be decrypted fails, and those beside it are sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await ask(w, 'ana')
  const { id } = await ask(w, 'bo', { data: { code: '4711' }, redact: ['data.code'] })
  await w.db.run(
    sql`update message_requests set sealed = split_part(sealed, '.', 1) || '.AAAA' || split_part(sealed, '.', 2) where project_id = ${w.projectId} and message_id = ${id}`,
  )
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  const { body } = await w.get(`/api/client/messages/${id}`)
  expect(body).toMatchObject({
    state: 'failed',
    reason: 'render_failed',
    detail: 'The redacted values of the message can no longer be decrypted. Send it again as a new message.',
  })
})

test('a message whose redacted values have a key that this process does not have yet is sent when it has it, once', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const { id } = await ask(w, 'bo', { data: { code: '4711' }, redact: ['data.code'] })
  const ofKey = (from: string, to: string) =>
    w.db.run(
      sql`update message_requests set sealed = regexp_replace(sealed, ${from}, ${to}) where project_id = ${w.projectId} and message_id = ${id}`,
    )
  await ofKey('^', 'new-')
  await w.drain()
  expect(recipientsOf(relay)).toEqual([])
  await ofKey('^new-', '')
  w.advance('10 minutes')
  await w.drain()
  expect(relay.mails.map(({ raw }) => raw.includes('Invoice 4711'))).toEqual([true])
})
