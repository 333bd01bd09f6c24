/**
 * Users are looked up by their keys on the first day too, when PostgreSQL has not looked at the table yet. It then believes that each index
 * with a condition holds one row, so that all of them seem as good.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import type { InTx } from '../../src/infra/runtime/ctx.ts'
import type { ListVersionId, UserId } from '../../src/lib/ids.ts'
import { fillUsers } from '../../src/modules/lists/building/queries.ts'
import { lockUsers as lockMembers } from '../../src/modules/lists/members/queries.ts'
import { sampleValues } from '../../src/modules/users/attribute-profiles/queries.ts'
import { contactsOf } from '../../src/modules/users/contact-details.queries.ts'
import { lockLiveUsers } from '../../src/modules/users/erasure.queries.ts'
import { findUser, findUserByName, findUsers, lockUsers } from '../../src/modules/users/queries.ts'
import { explaining, PLANS, type Reading, rolledBack, withoutAutovacuum } from '../explain.ts'
import { type World, world } from '../world.ts'

/** The smallest index of so many users has 150 pages. */
const USERS = 40_000
const PAGES_MAX = 100

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
