/**
 * Statements that look rows up by their keys read rows in proportion to the keys, whatever PostgreSQL believes of the tables: for a large
 * batch of one project, and for the small ones of many projects that share a statement. Counted as in `claims.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sql, sql } from '../../src/infra/postgres/db.ts'
import { jointViews } from '../../src/infra/postgres/joint.ts'
import { eraseParkedAnonymous } from '../../src/infra/queue/erasing.ts'
import { asSystem, type InTx, inTx, type ProjectCtx } from '../../src/infra/runtime/ctx.ts'
import type { CampaignId, ImportId, MessageId, ProjectId, SubscriptionId, UserId } from '../../src/lib/ids.ts'
import { findSendingCampaigns } from '../../src/modules/campaigns/queries.ts'
import { runningTriggers } from '../../src/modules/campaigns/triggers.queries.ts'
import { verifiedDomains } from '../../src/modules/domains/queries.ts'
import { deleteChangesOf, markCounted, takeLastChanges } from '../../src/modules/imports/undo.queries.ts'
import { findHolders, holdAddresses } from '../../src/modules/messages/addresses.queries.ts'
import { renewResent } from '../../src/modules/messages/resend/queries.ts'
import { renewLeases, saveResults } from '../../src/modules/messages/sending/queries.ts'
import { usersWithConsent } from '../../src/modules/subscriptions/index.ts'
import { subscriptionStates, usersWithAddress } from '../../src/modules/subscriptions/queries.ts'
import { reasonsOf } from '../../src/modules/subscriptions/suppressions/queries.ts'
import { templatesOf } from '../../src/modules/templates/queries.ts'
import { ownersOfEmails, ownersOfPhones } from '../../src/modules/users/contact-details.queries.ts'
import { findMergedInto, findUsers, lockUsers, resolveIds } from '../../src/modules/users/queries.ts'
import { updateUsers } from '../../src/modules/users/save.queries.ts'
import { BELIEFS, believe, explaining, fillTables, type Reading, rolledBack, withoutAutovacuum } from '../explain.ts'
import { type World, world } from '../world.ts'

const ROWS = 12_000
const PROJECTS = 30
/** The keys of a large batch, and those of each of the small ones. */
const MANY = 200
const FEW = 2
/** What a statement may read for each key, and in any case. */
const ROWS_EACH = 20
const PAGES_EACH = 40
const ANYWAY = 1500

let w: World
beforeAll(async () => {
  w = await world({ own: true, env: {} })
  await withoutAutovacuum(w.db)
})
afterAll(() => w[Symbol.asyncDispose]())

/** Half of the rows belong to one project, and the others to a hundred. `p` is the project, `i` the number of the row, which is its id. */
const rows = sql`(select i, case when i % 2 = 0 then 1 else 2 + (i / 2) % ${PROJECTS}::int end as p from generate_series(1, ${ROWS}::int) as i) as r`
/** Numbers of the first rows of a project. All are at most a thousand. */
const numbers = (project: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => (project === 1 ? 2 * at + 2 : 2 * (project - 2 + PROJECTS * at) + 1))

const now = new Date('2026-01-01T00:00:00Z')
const token = '00000000-0000-0000-0000-000000000001'

const users = () =>
  sql`insert into users (project_id, id, external_id, created_at, updated_at) overriding system value select p, i, 'user-' || i, ${now}, ${now} from ${rows}`
const addressed = () =>
  sql`insert into users (project_id, id, email, phone, created_at, updated_at) overriding system value
      select p, i, 'User-' || i || '@example.com', '+61' || i, ${now}, ${now} from ${rows}`
const consents = () =>
  sql`insert into consent_entries (project_id, id, user_id, subscription_id, state, source, at) select p, i, i, 1, 1, 'api', ${now} from ${rows}`
const aliases = () =>
  sql`insert into user_anonymous_ids (project_id, anonymous_id, user_id, linked_at) select p, 'visit-' || i, i, ${now} from ${rows}`
const claimed = () =>
  sql`insert into messages (project_id, id, user_id, campaign_id, channel, cause, state, due_at, lease_until, lease_token, created_at) overriding system value
      select p, i, i, 1, 'email', 'c', case when i <= 1000 then 'claimed' else 'sent' end, ${now}, ${now}, ${token}, ${now} from ${rows}`
const campaigns = () =>
  sql`insert into campaigns (project_id, id, type, name, channel, subscription_id, state, event_name, created_at, updated_at) overriding system value
      select p, i, 'trigger', 'n', 'email', 1, 'running', 'event-' || i, ${now}, ${now} from ${rows}`
const templates = () =>
  sql`insert into campaign_templates (project_id, campaign_id, locale, data, created_at, updated_at) select p, i, 'en', '{}', ${now}, ${now} from ${rows}`
const states = () =>
  sql`insert into user_subscriptions (project_id, user_id, subscription_id, state, updated_at) select p, i, 1, 1, ${now} from ${rows}`
const types = () =>
  sql`insert into subscriptions (project_id, id, name, channel, is_public, created_at, updated_at) overriding system value
      select p, case when i <= ${2 * PROJECTS} then 1 else i end, 'n' || i, 'email', true, ${now}, ${now} from ${rows} on conflict do nothing`
const suppressions = () =>
  sql`insert into suppressions (project_id, channel, address_hash, reason, created_at) select p, 'email', 'h' || i, 'manual', ${now} from ${rows}`
const addresses = () =>
  sql`insert into users (project_id, id, external_id, email, created_at, updated_at) overriding system value
      select p, i, 'user-' || i, 'Box' || i || '@example.com', ${now}, ${now} from ${rows}`
const skipped = () =>
  sql`insert into messages (project_id, id, user_id, campaign_id, channel, cause, state, due_at, created_at) overriding system value
      select p, i, i, 1, 'email', 'c', 'skipped', ${now}, ${now} from ${rows}`
const resent = () =>
  sql`insert into messages (project_id, id, user_id, campaign_id, channel, cause, state, reason, resent_from, due_at, expires_at, created_at) overriding system value
      select p, i, i, 1, 'email', 'c', case when i <= 100 or i % 3 = 0 then 'aborted' else 'sent' end, case when i <= 100 or i % 3 = 0 then 'rescheduled' end,
             case when i <= 100 or i % 3 = 1 then i end, ${now}, ${now}, ${now} from ${rows}`
const held = () =>
  sql`insert into message_addresses (project_id, campaign_id, address_hash, user_id) select p, 1, lpad(i::text, 32, '0')::uuid, i from ${rows}`
const domains = () =>
  sql`insert into domains (project_id, id, host, verification_token, created_at, updated_at) overriding system value
      select p, i, 'links-' || i || '.example.com', 't', ${now}, ${now} from ${rows} where i <= ${2 * PROJECTS}`
const changes = () =>
  sql`insert into import_changes (project_id, import_id, position, no, user_id, is_new, before, after, joined, subscription_ids, at)
      select p, 1, i, 0, i, false, '{}', '{}', false, '{}', ${now} from ${rows}`
const parked = () =>
  sql`insert into parked_items (project_id, id, kind, request_id, received_at, item, reason, parked_at) overriding system value
      select p, i, 'events', '', ${now}, jsonb_build_object('name', 'x', 'anonymous_id', 'visit-' || i), '', ${now} from ${rows}`
const hashOf = (i: number) => String(i).padStart(32, '0')
const attempts = () =>
  sql`insert into send_attempts (project_id, id, lease_token, message_ids, provider, created_at) overriding system value
      select p, i, ${token}, '{}', 'smtp', ${now} from ${rows}`

const saved = (id: number) => ({
  id: id as UserId,
  external_id: `user-${id}`,
  anonymous_id: null,
  email: null,
  phone: null,
  timezone: null,
  locale: null,
  data: {},
  has_push_device: false,
  created_at: now,
  updated_at: now,
  merged_into: null,
  search_text: null,
})

const result = (id: number) => ({
  id: id as MessageId,
  lease_token: token,
  state: 'sent' as const,
  reason: null,
  detail: null,
  due_at: null,
  variant: null,
  recipient: null,
  provider: null,
  provider_id: null,
  provider_message_id: null,
  consent_id: null,
  counts_to_caps: false,
  untried: false,
})

/** The tables that a statement reads with the rows that fill them, and its call for the numbers of some rows. */
type Lookup = {
  tables: Record<string, () => Sql>
  call: (ctx: InTx, numbers: number[]) => Promise<unknown>
}

const lookups: Record<string, Lookup> = {
  'users by email address': {
    tables: { users: addressed },
    call: (ctx, numbers) =>
      ownersOfEmails(
        ctx,
        numbers.map((i) => `user-${i}@example.com`),
      ),
  },
  'users by phone number': {
    tables: { users: addressed },
    call: (ctx, numbers) =>
      ownersOfPhones(
        ctx,
        numbers.map((i) => `+61${i}`),
      ),
  },
  'consents of users': {
    tables: { consent_entries: consents },
    call: (ctx, numbers) => usersWithConsent(ctx, numbers as UserId[]),
  },
  'users by external id and id': {
    tables: { users, user_anonymous_ids: aliases },
    call: (ctx, [first, ...others]) =>
      lockUsers(
        ctx,
        others.map((i) => `user-${i}`),
        [first as UserId],
        true,
      ),
  },
  'ids of users': {
    tables: { users, user_anonymous_ids: aliases },
    call: (ctx, ids) =>
      resolveIds(
        ctx,
        ids.map((i) => `user-${i}`),
        ids.map((i) => `visit-${i}`),
      ),
  },
  'users by id': { tables: { users }, call: (ctx, ids) => findUsers(ctx, ids as UserId[]) },
  'merged users': { tables: { users }, call: (ctx, ids) => findMergedInto(ctx, ctx.projectId, ids as UserId[]) },
  'users to save': { tables: { users }, call: (ctx, ids) => updateUsers(ctx, ids.map(saved)) },
  'results of messages': {
    tables: { messages: claimed },
    call: (ctx, ids) => saveResults(ctx, { messages: ids.map(result), sendAttemptId: null }),
  },
  'leases of messages': {
    tables: { messages: claimed },
    call: (ctx, ids) => renewLeases(ctx, ids.map((id) => ({ id, lease_token: token })) as never, now),
  },
  'send attempts': {
    tables: { send_attempts: attempts },
    call: (ctx, ids) => Promise.all(ids.map((sendAttemptId) => saveResults(ctx, { messages: [], sendAttemptId }))),
  },
  'domains of links': { tables: { domains }, call: (ctx) => verifiedDomains(ctx, ctx.projectId) },
  'sending campaigns': { tables: { campaigns }, call: (ctx, ids) => findSendingCampaigns(ctx, ids as CampaignId[], 'share') },
  'trigger campaigns': {
    tables: { campaigns },
    call: (ctx, ids) =>
      runningTriggers(
        ctx,
        ids.map((i) => `event-${i}`),
      ),
  },
  'templates of campaigns': { tables: { campaign_templates: templates }, call: (ctx, ids) => templatesOf(ctx, ids as CampaignId[]) },
  'states of subscriptions': {
    tables: { subscriptions: types, user_subscriptions: states },
    call: (ctx, ids) =>
      subscriptionStates(
        ctx,
        ids.map((id) => ({ user_id: id as UserId, subscription_id: 1 as SubscriptionId })),
      ),
  },
  'users of an address': {
    tables: { users: addresses },
    call: async (ctx, ids) => {
      for (const i of ids) await usersWithAddress(ctx, 'email', `box${i}@example.com`)
    },
  },
  'addresses of a blast': {
    tables: { message_addresses: held, messages: skipped },
    call: async (ctx, ids) => {
      const wanted = ids.map((i) => ({ address_hash: hashOf(i), user_id: (i + 1) as UserId }))
      await holdAddresses(ctx, 1 as CampaignId, 'c', wanted)
      await findHolders(ctx, 1 as CampaignId, ids.map(hashOf))
    },
  },
  'messages of a campaign that were sent again and withdrawn': {
    tables: { messages: resent },
    call: (ctx) => renewResent(ctx, { id: 1 as CampaignId, expires_after_hours: 72 }),
  },
  'changes of an import': {
    tables: { import_changes: changes },
    call: async (ctx, ids) => {
      await markCounted(ctx, 1 as ImportId, ids as UserId[])
      await takeLastChanges(ctx, 1 as ImportId, ids.length)
      await deleteChangesOf(ctx, ids as UserId[])
    },
  },
  'parked items of anonymous ids': {
    tables: { parked_items: parked },
    call: (ctx, ids) =>
      eraseParkedAnonymous(
        ctx,
        ids.map((i) => `visit-${i}`),
      ),
  },
  suppressions: {
    tables: { suppressions },
    call: (ctx, ids) =>
      reasonsOf(
        ctx,
        ids.map((i) => ({ channel: 'email' as const, address_hash: `h${i}` })),
      ),
  },
}

const batches: Record<string, [project: number, count: number][]> = {
  'a large batch of one project': [[1, MANY]],
  'a small batch of one project': [[1, FEW]],
  'small batches of many projects': Array.from({ length: PROJECTS }, (_, at) => [2 + at, FEW]),
  'a large batch beside small ones': [[1, MANY], ...Array.from({ length: PROJECTS }, (_, at): [number, number] => [2 + at, FEW])],
}

function expectProportion(batch: string, parts: [project: number, count: number][], readings: Reading[]): void {
  const keys = parts.reduce((sum, [, count]) => sum + count, 0)
  const read = readings.reduce((sum, { rows }) => sum + rows, 0)
  const pages = readings.reduce((sum, { pages }) => sum + pages, 0)
  expect(readings.length).toBeGreaterThan(0)
  expect(
    [read, pages],
    `${batch}: ${read} rows and ${pages} pages for ${keys} keys\n${readings.map(({ plan }) => plan).join('\n')}`,
  ).toEqual([Math.min(read, ANYWAY + keys * ROWS_EACH), Math.min(pages, ANYWAY + keys * PAGES_EACH)])
}

const combined = [
  ...Object.entries(BELIEFS).map(([name, belief]) => [name, 'any values', belief] as const),
  ...(['what is true', 'that they are empty'] as const).map((name) => [name, 'these values', BELIEFS[name]] as const),
]

describe.each(Object.entries(lookups))('%s are read by their keys', (_, { tables, call }) => {
  beforeAll(() => fillTables(w.db, tables))
  test.each(combined)('if PostgreSQL believes %s, planned for %s', async (_, plannedFor, belief) => {
    for (const [batch, parts] of Object.entries(batches)) {
      const readings: Reading[] = []
      await rolledBack(w.ctx, async (tx) => {
        await believe(tx.db, belief, Object.keys(tables))
        const ctx = explaining(tx as unknown as ProjectCtx, readings, plannedFor)
        const db = jointViews()(ctx.db)
        await Promise.all(
          parts.map(([project, count]) =>
            inTx(asSystem({ ...ctx, db }, project as ProjectId, ctx.project), (ctx) => call(ctx, numbers(project, count))),
          ),
        )
      })
      expectProportion(batch, parts, readings)
    }
  })
})
