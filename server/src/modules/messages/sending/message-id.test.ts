/** The Message-ID of mails, as a relay receives them. */
import { expect, test } from 'vitest'
import { blastTo, listOf, pathOf, schedule } from '../../../../test/blasts.ts'
import { answerOrders, order, sendOver } from '../../../../test/mailing.ts'
import { openRelay, type Relay } from '../../../../test/relay.ts'
import { world } from '../../../../test/world.ts'
import { createSecrets } from '../../../infra/runtime/secrets.ts'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { messageKey } from '../message-key.ts'

const idsOf = ({ mails }: Relay) => mails.map(({ headers }) => headers['message-id'] as string)

test('it differs for every message and test send, and shows no counter', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const blast = await blastTo(w, [await listOf(w, 'ana', 'bo')])
  for (let time = 0; time < 2; time++) await w.post(`${pathOf(blast)}/test`, { to: ['me@example.com'] })
  await schedule(w, blast)
  await answerOrders(w)
  await order(w, 'ana')
  await w.drain()
  const ids = idsOf(relay)
  expect(ids).toHaveLength(5)
  expect(new Set(ids).size).toBe(5)
  for (const id of ids) {
    expect(id).toMatch(/^<[\w-]{22}@example\.com>$/)
    expect(id).not.toContain('test')
  }
})

test('it is the same for every attempt', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana')
  const campaign = await answerOrders(w)
  await order(w, 'ana')
  relay.answer({ at: 'BODY', code: 451, text: '4.3.0 Later' })
  await w.drain()
  expect(relay.mails).toEqual([])
  // It depends only on what no attempt changes.
  const [message] = (await w.get(`${pathOf(campaign)}/recipients/ana/explain`)).body.messages
  expect(message).toMatchObject({ state: 'deferred', attempts: 1 })
  w.advance('1 hour')
  await w.drain()
  const key = messageKey(w.ctx, { project_id: w.projectId, id: message.id, created_at: new Date(message.created_at) })
  expect(idsOf(relay)).toEqual([`<${key}@example.com>`])
})

test.each([
  ['another message', { id: 2 as MessageId }, 1],
  ['another project', { project_id: 2 as ProjectId }, 1],
  ['a message of the same id in a database that was made later', { created_at: new Date('2027-01-01T00:00:00Z') }, 1],
  ['the same message of another installation', {}, 2],
])('the key of %s is another one', (_, more, secret) => {
  const message = { project_id: 1 as ProjectId, id: 1 as MessageId, created_at: new Date('2026-11-22T00:00:00Z') }
  const of = (byte: number) => ({ secrets: createSecrets([`k:${Buffer.alloc(32, byte).toString('base64')}`]) })
  expect(messageKey(of(1), message)).toBe(messageKey(of(1), { ...message }))
  expect(messageKey(of(secret), { ...message, ...more })).not.toBe(messageKey(of(1), message))
})
