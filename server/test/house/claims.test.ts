/**
 * No plan can turn a claim round: PostgreSQL plans with what it found when it looked at a table last, which for a queue is often that it was
 * empty. Whatever it believes, a claim reads rows in proportion to those that it claims. Counted in rows and pages of `explain (analyze,
 * buffers)`, never in time. The beliefs are written to its catalogue, in a transaction that is undone, so that they depend on nothing that
 * happened before.
 */
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sql, sql } from '../../src/infra/postgres/db.ts'
import { claimEntries, deleteEntries, projectsWithEntries } from '../../src/infra/queue/queue.ts'
import { type Ctx, claimFirst, inClaim, inTx, type ProjectCtx, quickly } from '../../src/infra/runtime/ctx.ts'
import type { CampaignId, EndpointId, ProjectId } from '../../src/lib/ids.ts'
import { findRunning } from '../../src/modules/campaigns/preflight/queries.ts'
import { claimImport, importsDue } from '../../src/modules/imports/queries.ts'
import { findRetired, findUnfinished } from '../../src/modules/lists/building/queries.ts'
import { claimMessages, nextDueAt, nextLeaseEnd, queuesByDueTime, releaseLeases } from '../../src/modules/messages/sending/queries.ts'
import { claimRateLimited, deferDue, takeRateQueues } from '../../src/modules/messages/sending/rates.queries.ts'
import {
  claimMail,
  nextHeldExpiry,
  nextMailAt,
  nextMailLeaseEnd,
  projectsWithMail,
  releaseExpired,
  releaseMailLeases,
} from '../../src/modules/mta/queue/queries.ts'
import { eventsAfter, nextDispatchAt, numberEvents, projectsWithEvents, saveCursors } from '../../src/modules/webhook-events/index.ts'
import { backlogsOf, claimDeliveries, nextAttemptAt } from '../../src/modules/webhooks/deliveries.queries.ts'
import { BELIEFS, believe, explaining, fillTables, PLANS, type Reading, rolledBack, WORSE_BELIEFS, withoutAutovacuum } from '../explain.ts'
import { type World, world } from '../world.ts'

const ROWS = 12_000
const CLAIMED = 100
/** What a claim may read for each row that it claims, and in any case. */
const ROWS_EACH = 15
const PAGES_EACH = 30
const ANYWAY = 500

let w: World
let projects: ProjectId[]
beforeAll(async () => {
  w = await world({ own: true, env: {} })
  projects = [w.projectId, (await w.other()).projectId, (await w.other()).projectId]
  await withoutAutovacuum(w.db)
})
afterAll(() => w[Symbol.asyncDispose]())

/** `rows` is the number of rows that the claim is for, where its statement returns none. */
type Claim = { table: string; fill: () => Sql; claim: (ctx: Ctx) => Promise<unknown>; rows?: number }

const due = () => new Date(w.clock.now().getTime() - 1000)
const later = () => new Date(w.clock.now().getTime() + 60_000)
const someProject = () => sql`(${projects}::bigint[])[1 + i % 3]`
const numbers = sql`generate_series(1, ${ROWS}::int) as i`
const inAll = <T>(work: (id: ProjectId) => T) => projects.map(work)

const messages =
  (state: string, lease: () => Date | null, token: string | null, campaign = sql`1`) =>
  () =>
    sql`insert into messages (project_id, user_id, campaign_id, channel, cause, state, due_at, lease_until, lease_token, created_at)
        select ${someProject()}, i, ${campaign}, 'email', 'c' || i, ${state}, ${due()}, ${lease()}, ${token}::uuid, ${due()}
        from ${numbers}`

const queued = messages('queued', () => null, null)
const queuedOfTwo = () => messages('queued', () => null, null, sql`case when i <= ${ROWS - 10}::int then 1 else 2 end`)()
const leased = messages('claimed', due, '00000000-0000-0000-0000-000000000001')

const mail =
  (state: string, lease: () => Date | null, isHeld = false) =>
  () =>
    sql`insert into mail_recipients (project_id, mail_id, no, priority, size, address, domain, state, is_held, due_at, lease_until, lease_token, created_at)
      select ${someProject()}, i, 0, 0, 1000, 'u@example.com', 'example.com', ${state}, ${isHeld}, ${due()}, ${lease()}, gen_random_uuid(), ${due()}
      from ${numbers}`

const queuedMail = mail('queued', () => null)
const leasedMail = mail('claimed', due)
const heldMail = mail('queued', () => null, true)

const events = (position: Sql) => () =>
  sql`insert into webhook_events (id, project_id, type, occurred_at, data, version, created_at, position)
      select 'evt_' || i, ${someProject()}, 'delivery.failed', ${due()}, '{}', 1, ${due()}, ${position} from ${numbers}`

const cursors = () =>
  sql`insert into webhook_cursors (project_id, endpoint_id, position, due_at, looked_order)
      select ${someProject()}, i, 0, ${due()}, i from ${numbers}`

const rateQueues = (limit: number) => inAll((project_id) => ({ project_id, campaign_id: 1 as CampaignId, limit }))

const openQueues = () =>
  sql`insert into rate_queues (project_id, campaign_id, priority, channel, next_at)
      select ${someProject()}, i, 0, 'email', ${due()}::timestamptz from ${numbers}
      union all select p.id, 1, 0, 'email', ${due()}::timestamptz from unnest(${projects}::bigint[]) as p(id)
      on conflict do nothing`

const rateLimited = () =>
  sql`insert into messages (project_id, user_id, campaign_id, channel, cause, state, reason, due_at, created_at)
      select ${someProject()}, i, 1, 'email', 'c' || i, 'deferred', 'rate_limited', ${later()}, ${due()} from ${numbers}`

const deferDueOf = (ctx: Ctx, campaign: number) =>
  deferDue(
    { ...quickly(ctx), projectId: w.projectId } as ProjectCtx,
    0,
    { campaign_id: campaign as CampaignId, channel: 'email' },
    { from: later(), rate: { limit: 10, intervalMs: 1000 }, limit: CLAIMED },
  )

const claims: Record<string, Claim> = {
  'ingest.projectsWithEntries': { table: 'queue_entries', fill: entries, claim: (ctx) => projectsWithEntries(quickly(ctx)) },
  'ingest.claimEntries': {
    table: 'queue_entries',
    fill: entries,
    claim: (ctx) => inClaim(ctx, (ctx) => claimEntries(ctx, w.projectId, CLAIMED)),
    rows: 400,
  },
  'ingest.deleteEntries': {
    table: 'queue_entries',
    fill: entries,
    claim: async (ctx) => {
      const found = await w.db.many(
        Type.Object({ position: Type.Integer() }),
        sql`select position from queue_entries where project_id = ${w.projectId} order by position limit ${CLAIMED}`,
      )
      await inTx(ctx, (ctx) => deleteEntries(ctx, w.projectId, found))
    },
    rows: CLAIMED,
  },
  'messages.queuesByDueTime': { table: 'messages', fill: queued, claim: (ctx) => queuesByDueTime(quickly(ctx), 0, 100) },
  'messages.nextDueAt': { table: 'messages', fill: queued, claim: (ctx) => nextDueAt(quickly(ctx), 0), rows: 1 },
  'messages.claimMessages': {
    table: 'messages',
    fill: queued,
    claim: (ctx) =>
      claimMessages(
        quickly(ctx),
        0,
        inAll((project_id) => ({ project_id, channel: 'email' as const, limit: CLAIMED })),
        later(),
      ),
  },
  'messages.deferDue': { table: 'messages', fill: queued, claim: (ctx) => deferDueOf(ctx, 1), rows: CLAIMED },
  'messages.deferDue behind another campaign': {
    table: 'messages',
    fill: queuedOfTwo,
    claim: (ctx) => deferDueOf(ctx, 2),
    rows: CLAIMED,
  },
  'messages.claimRateLimited': {
    table: 'messages',
    fill: rateLimited,
    claim: (ctx) => claimRateLimited(quickly(ctx), 0, rateQueues(CLAIMED), later()),
  },
  'messages.takeRateQueues': {
    table: 'rate_queues',
    fill: openQueues,
    claim: (ctx) => takeRateQueues(quickly(ctx), 0, rateQueues(1), later()),
  },
  'messages.nextLeaseEnd': { table: 'messages', fill: leased, claim: (ctx) => nextLeaseEnd(quickly(ctx)), rows: 1 },
  'messages.releaseLeases': {
    table: 'messages',
    fill: leased,
    claim: (ctx) => releaseLeases(quickly(ctx), CLAIMED),
    rows: CLAIMED,
  },
  'mta.projectsWithMail': { table: 'mail_recipients', fill: queuedMail, claim: (ctx) => projectsWithMail(quickly(ctx), 0, 100) },
  'mta.nextMailAt': { table: 'mail_recipients', fill: queuedMail, claim: (ctx) => nextMailAt(quickly(ctx), 0), rows: 1 },
  'mta.claimMail': {
    table: 'mail_recipients',
    fill: queuedMail,
    claim: (ctx) =>
      claimMail(
        quickly(ctx),
        0,
        inAll((project_id) => ({ project_id, limit: CLAIMED })),
        later(),
      ),
  },
  'mta.nextMailLeaseEnd': { table: 'mail_recipients', fill: leasedMail, claim: (ctx) => nextMailLeaseEnd(quickly(ctx)), rows: 1 },
  'mta.releaseMailLeases': {
    table: 'mail_recipients',
    fill: leasedMail,
    claim: (ctx) => releaseMailLeases(quickly(ctx), CLAIMED),
    rows: CLAIMED,
  },
  'mta.nextHeldExpiry': { table: 'mail_recipients', fill: heldMail, claim: (ctx) => nextHeldExpiry(quickly(ctx)), rows: 1 },
  'mta.releaseExpired': {
    table: 'mail_recipients',
    fill: heldMail,
    claim: (ctx) => releaseExpired(quickly(ctx), CLAIMED),
    rows: CLAIMED,
  },
  'webhooks.nextAttemptAt': { table: 'webhook_deliveries', fill: deliveries, claim: (ctx) => nextAttemptAt(quickly(ctx)), rows: 1 },
  'webhooks.nextDispatchAt': { table: 'webhook_cursors', fill: cursors, claim: (ctx) => nextDispatchAt(quickly(ctx)), rows: 1 },
  'webhooks.claimDeliveries': {
    table: 'webhook_deliveries',
    fill: deliveries,
    claim: async (ctx) => {
      const room = {
        total: CLAIMED,
        usual: 20,
        rooms: new Map([[1 as EndpointId, 5]]),
        failingAfter: 10,
        projects: { usual: CLAIMED, rooms: new Map() },
      }
      await claimDeliveries(quickly(ctx), room, 10)
      await inClaim(ctx, (ctx) =>
        backlogsOf(
          ctx,
          inAll((project_id) => ({ project_id, endpoint_id: 3 as EndpointId })),
          100,
          200,
        ),
      )
    },
  },
  'webhooks.numberEvents': {
    table: 'webhook_events',
    fill: events(sql`null`),
    claim: async (ctx) => {
      await projectsWithEvents(quickly(ctx), 0 as ProjectId, 100)
      await inClaim(ctx, (ctx) => numberEvents(ctx, projects, CLAIMED))
    },
    rows: CLAIMED * 3,
  },
  'webhooks.eventsAfter': {
    table: 'webhook_events',
    fill: subscribedEvents,
    claim: (ctx) =>
      inClaim(ctx, (ctx) =>
        eventsAfter(
          ctx,
          inAll((project_id) => ({ project_id, endpoint_id: 1 as EndpointId, position: 0, reads: CLAIMED })),
        ),
      ),
  },
  'webhooks.saveCursors': {
    table: 'webhook_cursors',
    fill: cursors,
    claim: (ctx) =>
      inClaim(ctx, (ctx) =>
        saveCursors(
          ctx,
          inAll((project_id) => ({ project_id, endpoint_id: 3 as EndpointId, position: 9, due_at: null })),
        ),
      ),
    rows: 3,
  },
  'imports.importsDue': {
    table: 'imports',
    fill: imports,
    claim: async (ctx) => {
      await inClaim(ctx, importsDue)
      await inTx(ctx, (ctx) => claimImport({ ...ctx, projectId: w.projectId } as never, 3 as never))
    },
  },
  'lists.findUnfinished': {
    table: 'list_versions',
    fill: () => versions('building'),
    claim: (ctx) => findUnfinished(quickly(ctx)),
  },
  'lists.findRetired': { table: 'list_versions', fill: () => versions('retired'), claim: (ctx) => findRetired(ctx, []) },
  'campaigns.findRunning': {
    table: 'campaign_preflights',
    fill: () =>
      sql`with made as (
            insert into campaigns (id, project_id, name, type, channel, state, subscription_id, created_at, updated_at) overriding system value
            select 1, id, 'n', 'blast', 'email', 'draft', 1, ${due()}, ${due()} from unnest(${projects}::bigint[]) as p (id)
            on conflict do nothing
          )
          insert into campaign_preflights (project_id, campaign_id, state, people_total, created_at, touched_at)
          select ${someProject()}, 1, 'running', 1, ${due()}, ${due()} from ${numbers}`,
    claim: (ctx) => findRunning(quickly(ctx), [], 10),
  },
}

function subscribedEvents() {
  return sql`with subscribed as (
               insert into webhook_event_subscriptions (project_id, endpoint_id, from_version, event_types)
               select id, 1, 1, '{delivery.failed,delivery.null-mx}' from unnest(${projects}::bigint[]) as p (id)
               on conflict do nothing
             )
             ${events(sql`i`)()}`
}

function deliveries() {
  return sql`with endpoints as (
            insert into webhook_endpoints (id, project_id, name, url, status, event_types, api_version, created_at, updated_at) overriding system value
            select e, (${projects}::bigint[])[1 + e % 3], 'n', 'u', 'active', '{}', 'v', ${due()}, ${due()} from generate_series(1, 30) as e
            on conflict do nothing
          )
          insert into webhook_deliveries (project_id, endpoint_id, event_id, event_type, status, next_attempt_at, created_at)
          select (${projects}::bigint[])[1 + (1 + i % 30) % 3], 1 + i % 30, 'evt_' || i, 'delivery.failed', 'pending', ${due()}, ${due()} from ${numbers}`
}

function entries() {
  return sql`insert into queue_entries (project_id, kind, request_id, received_at, items, body)
             select ${someProject()}, 'events', 'r', ${due()}, 1, 'x' from ${numbers}`
}

function imports() {
  return sql`insert into imports (project_id, list_id, state, delimiter, columns, position, line, dry_run, update_existing, consent_source,
                                  subscription_ids, created_at, received_at)
             select ${someProject()}, 1, 'queued', ',', '[]', 0, 1, false, true, null, '{}', ${due()}, ${due()} from ${numbers}`
}

function versions(status: string) {
  return sql`insert into list_versions (project_id, list_id, status, created_at) select ${someProject()}, 1, ${status}, ${due()} from ${numbers}`
}

const fills = Map.groupBy(Object.entries(claims), ([, { table, fill }]) => `${table} ${fill.name}`)

describe.each([...fills])('%s', (_, statements) => {
  beforeAll(async () => {
    const [, { table, fill }] = statements[0] as [string, Claim]
    await fillTables(w.db, { [table]: fill })
  })

  describe.each(Object.entries({ ...BELIEFS, ...WORSE_BELIEFS }))('if PostgreSQL believes %s', (_, belief) => {
    test.each(statements)('%s reads in proportion to what it claims', async (_, { table, claim, rows }) => {
      const readings: Reading[] = []
      for (const plannedFor of PLANS) {
        await rolledBack(w.ctx, async (ctx) => {
          await believe(ctx.db, belief, [table])
          await claim(explaining(ctx, readings, plannedFor))
        })
      }
      expect(readings.length).toBeGreaterThan(0)
      for (const { rows: read, pages, claimed, plan } of readings) {
        const count = rows ?? claimed
        expect([read, pages], `${read} rows and ${pages} pages for ${count}\n${plan}`).toEqual([
          Math.min(read, ANYWAY + count * ROWS_EACH),
          Math.min(pages, ANYWAY + count * PAGES_EACH),
        ])
      }
    })
  })
})

test('PostgreSQL keeps the statistics of rows that a table had when it finds it empty', async () => {
  await fillTables(w.db, { queue_entries: entries })
  await w.db.run(sql`truncate queue_entries`)
  await w.db.run(sql`vacuum analyze queue_entries`)
  const Known = Type.Object({ pages: Type.Integer(), rows: Type.Number(), columns: Type.Integer() })
  const known = await w.db.one(
    Known,
    sql`select relpages as pages, reltuples as rows, (select count(*) from pg_statistic where starelid = c.oid) as columns
        from pg_class c where oid = 'queue_entries'::regclass`,
  )
  expect(known).toEqual({ pages: 0, rows: 0, columns: expect.toSatisfy((count) => count > 0) })
})

test('a claim at the start of a transaction leaves its settings as they were', async () => {
  const Settings = Type.Object({ sort: Type.String(), scan: Type.String(), limit: Type.String() })
  const settings = (ctx: Ctx) =>
    ctx.db.one(
      Settings,
      sql`select current_setting('enable_sort') as sort, current_setting('enable_seqscan') as scan, current_setting('statement_timeout') as limit`,
    )
  const [before, during, after] = await inTx(w.ctx, async (ctx) => [
    await settings(ctx),
    await claimFirst(ctx, () => settings(ctx)),
    await settings(ctx),
  ])
  expect([before, during, after]).toEqual([
    { sort: 'on', scan: 'off', limit: '1min' },
    { sort: 'off', scan: 'off', limit: '5s' },
    { sort: 'on', scan: 'off', limit: '1min' },
  ])
})
