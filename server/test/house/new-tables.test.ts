/**
 * Rows are looked up by their keys on the first day too, when PostgreSQL has not looked at the tables yet. It then believes that each index
 * with a condition holds one row, and that a project has few rows, so that many ways seem as good.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { type InTx, quickly } from '../../src/infra/runtime/ctx.ts'
import type { CampaignId, ListVersionId, UserId } from '../../src/lib/ids.ts'
import { fillUsers } from '../../src/modules/lists/building/queries.ts'
import { lockUsers as lockMembers } from '../../src/modules/lists/members/queries.ts'
import { claimMessages } from '../../src/modules/messages/sending/queries.ts'
import { claimRateLimited } from '../../src/modules/messages/sending/rates.queries.ts'
import { claimMail } from '../../src/modules/mta/queue/queries.ts'
import { sampleValues } from '../../src/modules/users/attribute-profiles/queries.ts'
import { contactsOf } from '../../src/modules/users/contact-details.queries.ts'
import { lockLiveUsers } from '../../src/modules/users/erasure.queries.ts'
import { findUser, findUserByName, findUsers, lockUsers } from '../../src/modules/users/queries.ts'
import { BELIEFS, believe, explaining, PLANS, type Reading, rolledBack, withoutAutovacuum } from '../explain.ts'
import { type World, world } from '../world.ts'

/** The smallest index of so many users has 150 pages. */
const USERS = 40_000
/** Messages that were sent, of which a claim must read none, and those that wait. */
const SENT = 4000
const WAITING = 5
const PAGES_MAX = 100
/** An earlier test file may have had rows in them, which PostgreSQL has looked at. */
const TABLES = ['users', 'user_anonymous_ids', 'messages', 'mail_recipients', 'list_memberships']

const ids = [77, 20_077] as UserId[]
const everyone = { columns: sql`u.email`, joins: sql``, holds: sql`true`, nextChangeAt: sql`null::timestamptz` }

const lookups: Record<string, (ctx: InTx) => Promise<unknown>> = {
  'a user by id': (ctx) => findUser(ctx, 77 as UserId),
  'a user by external id': (ctx) => findUserByName(ctx, 'user-77'),
  'users by id': (ctx) => findUsers(ctx, ids),
  'users by id, locked': (ctx) => lockUsers(ctx, [], ids, false),
  'users by external id, locked': (ctx) => lockUsers(ctx, ['user-77', 'user-20077'], [], true),
  'users to erase': (ctx) => lockLiveUsers(ctx, ids),
  'users who are added to a list': (ctx) => lockMembers(ctx, ids),
  'addresses of users': (ctx) => contactsOf(ctx, ids),
  'values of attributes': (ctx) => sampleValues(ctx, ['email', 'data.plan'], ids),
  'messages that are due': (ctx) =>
    claimMessages(quickly(ctx), 1, [{ project_id: w.projectId, channel: 'email', limit: WAITING }], w.clock.now()),
  'messages that wait for a rate': (ctx) =>
    claimRateLimited(quickly(ctx), 1, [{ project_id: w.projectId, campaign_id: 1 as CampaignId, limit: WAITING }], w.clock.now()),
  'mail that is due': (ctx) => claimMail(quickly(ctx), 1, [{ project_id: w.projectId, limit: WAITING }], w.clock.now()),
  'users between two ids': (ctx) => fillUsers(ctx, 1 as ListVersionId, everyone as never, 77 as UserId, 80 as UserId),
}

let w: World
beforeAll(async () => {
  w = await world({ own: true, env: {} })
  await withoutAutovacuum(w.db)
  await w.db.run(
    sql`insert into users (project_id, id, external_id, email, created_at, updated_at) overriding system value
        select ${w.projectId}, i, 'user-' || i, 'user-' || i || '@example.com', now() + i * interval '1 s', now() from generate_series(1, ${USERS}::int) i`,
  )
  const at = w.clock.now()
  await w.db.transaction(async (db) => {
    await db.run(sql`set local session_replication_role = replica`)
    for (const state of ['deferred', 'queued', 'sent'])
      await db.run(
        sql`insert into messages (project_id, user_id, campaign_id, channel, cause, priority, state, reason, due_at, created_at)
            select ${w.projectId}, i, 1, 'email', ${state} || i, 1, ${state}, ${state === 'deferred' ? 'rate_limited' : null}, ${at}, ${at}
            from generate_series(1, ${state === 'sent' ? SENT : WAITING}::int) i`,
      )
    for (const state of ['queued', 'delivered'])
      await db.run(
        sql`insert into mail_recipients (project_id, mail_id, no, priority, size, address, domain, state, is_held, due_at, created_at)
            select ${w.projectId}, i, ${state === 'queued' ? 1 : 0}, 1, 1000, 'u@example.com', 'example.com', ${state}, false, ${at}, ${at}
            from generate_series(1, ${state === 'queued' ? WAITING : SENT}::int) i`,
      )
  })
  await believe(w.db, BELIEFS['that nobody has looked'], TABLES)
})
afterAll(() => w[Symbol.asyncDispose]())

test.each(Object.entries(lookups).flatMap(([name, call]) => PLANS.map((plan) => [name, plan, call] as const)))(
  '%s are read by their keys, planned for %s',
  async (_, plannedFor, call) => {
    const readings: Reading[] = []
    await rolledBack(w.ctx, (tx) => call(explaining(tx, readings, plannedFor)))
    const pages = readings.reduce((sum, reading) => sum + reading.pages, 0)
    expect(readings.length).toBeGreaterThan(0)
    expect(pages, readings.map(({ plan }) => plan).join('\n')).toBeLessThanOrEqual(PAGES_MAX)
  },
)
