/** Campaigns for tests: lists of users, complete blasts, and their messages as the database has them. */

import { Type } from 'typebox'
import { expect } from 'vitest'
import { sql } from '../src/infra/postgres/db.ts'
import { runToEnd } from '../src/infra/queue/jobs.ts'
import type { CampaignId } from '../src/lib/ids.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { allJobs } from '../src/workers.ts'
import type { World } from './world.ts'

export const CAMPAIGNS = '/api/client/campaigns'
export const pathOf = (campaign: { id: number }) => `${CAMPAIGNS}/${campaign.id}`

/** The default subscription type of a channel. */
export const subscriptionTo = async (w: World, channel = 'email'): Promise<number> =>
  (await w.get('/api/client/subscriptions')).body.results.find((type: { channel: string }) => type.channel === channel).id

const AT_ONCE = 100

/** Saves users, and a static list of them. */
export async function listOf(w: World, ...names: string[]): Promise<number> {
  const { body } = await w.post('/api/client/lists', { name: `List of ${names.length}`, type: 'static' })
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const some = names.slice(from, from + AT_ONCE)
    await w.users(...some)
    const put = await w.post(`/api/client/lists/${body.id}/users`, { external_ids: some })
    expect(put.status, put.text).toBe(200)
  }
  return body.id
}

/** Creates a draft of a blast to these lists, with a template. By default it is due now. */
export async function blastTo(w: World, lists: number[], more: object = {}) {
  const body = {
    type: 'blast',
    name: 'Spring',
    subscription_id: await subscriptionTo(w),
    list_ids: lists,
    send_at: w.clock.now().toISOString(),
    ...more,
  }
  const made = await w.post(CAMPAIGNS, body)
  expect(made.status, made.text).toBe(201)
  const html = { from: 'Shop <shop@example.com>', subject: 'Hi', html: '<p>Hello</p>' }
  const variants: { name: string }[] = made.body.variants
  for (const [index] of (variants.length > 0 ? variants : [{ name: 'only' }]).entries()) {
    const letter = String.fromCharCode('A'.charCodeAt(0) + index)
    const put = await w.put(`${pathOf(made.body)}/templates/en?variant=${letter}`, html)
    expect(put.status, put.text).toBe(200)
  }
  return made.body as { id: CampaignId }
}

/** Changes a campaign, and expects success. */
export async function write(w: World, campaign: { id: number }, body: object) {
  const reply = await w.patch(pathOf(campaign), body)
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

export const schedule = (w: World, campaign: { id: number }) => write(w, campaign, { state: 'scheduled' })

/**
 * Sends a blast to a visitor and to the user `ana`, who have the same address and are merged then. The message went to the visitor.
 */
export async function blastBeforeMerge(w: World) {
  const users = '/api/client/users/batch'
  await w.post(users, [{ anonymous_id: 'browser', email: 'ana@example.com' }])
  await w.post(users, [{ external_id: 'ana', email: 'ana@example.com' }])
  const { body: browser } = await w.get('/api/client/users/browser')
  const list = await listOf(w, 'ana')
  await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  await w.drain()
  await w.post(users, [{ external_id: 'ana', anonymous_id: 'browser' }])
  await w.drain()
  return campaign
}

/** Runs a job this many times. Returns how much it did. */
export async function run(w: World, name: string, times = 1): Promise<number> {
  const job = allJobs(createInboxStreams()).find((job) => job.name === name)
  if (!job) throw new Error(`There is no job ${name}.`)
  let done = 0
  for (let time = 0; time < times; time++) done += await runToEnd(job, w.ctx, new AbortController().signal)
  return done
}

const MessageRow = Type.Object({
  user: Type.String(),
  state: Type.String(),
  reason: Type.Union([Type.String(), Type.Null()]),
  variant: Type.Union([Type.Integer(), Type.Null()]),
  due_at: Type.Unsafe<Date>({ instant: true }),
  expires_at: Type.Unsafe<Date | null>({}),
  is_held: Type.Boolean(),
})

/** The messages of a campaign in the database, sorted by the name of the user. */
export const messagesIn = (w: World, campaign: { id: number }) =>
  w.db.many(
    MessageRow,
    sql`select coalesce(u.external_id, '?') as user, m.state, m.reason, m.variant, m.due_at, m.expires_at, m.is_held
        from messages m left join users u on u.id = m.user_id
        where m.campaign_id = ${campaign.id}
        order by u.external_id, m.id`,
  )

/** The state of each message, such as `ana: skipped excluded`. */
export const outcomes = async (w: World, campaign: { id: number }): Promise<string[]> =>
  (await messagesIn(w, campaign)).map(({ user, state, reason }) => `${user}: ${state}${reason === null ? '' : ` ${reason}`}`)

/** The number of messages by state, reason and variant. */
export const countsOf = (rows: { state: string; reason: string | null; variant: number | null }[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { state, reason, variant } of rows) {
    const name = [state, reason, variant].join(' ')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
