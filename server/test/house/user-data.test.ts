/** What is stored about users is in the export of a user and is removed when the user is erased, whichever table it is in. */
import { expect, test } from 'vitest'
import type { CampaignId, LinkId, MessageId, UserId } from '../../src/lib/ids.ts'
import { saveLinks, trackerOf } from '../../src/modules/tracking/index.ts'
import { EXPORTED } from '../../src/modules/users/index.ts'
import { USER_STORES } from '../../src/user-data.ts'
import { blastTo, listOf, schedule } from '../blasts.ts'
import { createJourney, READY } from '../journeys.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

/** Tables with users that an export leaves out, and the reason. */
const NOT_EXPORTED: Record<string, string> = {
  erasures: 'the receipt of an erasure has the number of a user and nothing else, and stays',
  user_search: 'the searched text of the profile, which is exported',
  tracked_times: 'times of events, which are exported',
  message_addresses: 'the hash of an address that is exported with its message',
  inbox_counters: 'a count of in-app messages, which are exported',
  journey_keys: 'the hash of an entry key that is exported with its entrance',
  journey_timers: 'the time at which an entrance is due, which is exported with it',
  queue_entries: 'a change that is applied within a second, and is then in the other tables',
}

/** Tables that keep rows of erased users, and the reason. */
const KEPT: Record<string, string> = {
  erasures: 'the receipt',
  messages: 'the rows stay for the counts of campaigns, without what is personal',
  message_addresses: 'hashes of addresses that a blast has reached, until the blast is over',
}

/** Tables without a column for users in which a user can be named, why an export leaves them out, and what an erasure does. */
const NAMING: Record<string, string> = {
  import_failures: 'refused rows belong to no user, and are downloaded with their import; an erasure deletes those that name the user',
  import_chunks: 'the file of an import that is running',
  import_dry_run_rows: 'profiles of a dry run that is running',
  imports: 'the first rows of a file; an erasure deletes those of the user',
  webhook_events: 'payloads repeat messages, events and consents, which are exported; deleted after 30 days',
  webhook_deliveries: 'they refer to webhook events',
  webhook_attempts: 'answers of receivers; deleted with their delivery',
  parked_items: 'items that could not be applied, exported by the ids of the user; an erasure deletes those that name the user',
  idempotency_records: 'replies, which repeat profiles, for 24 hours',
  erased_ids: 'keyed hashes of ids, until the queue has passed the erasure',
  mail_messages:
    'the content of an email while it waits to be delivered; an erasure deletes it, that of submitted email once no other recipient waits',
  mail_recipients:
    'the addresses of these emails, which are exported; an erasure clears those of messages, and of submitted email and copies by the address of the user',
  soft_bounces: 'hashes of addresses that bounced, for 30 days',
  preflight_addresses: 'hashes of addresses while a preflight runs',
  suppressions: 'keyed hashes of addresses, exported by the addresses of the profiles; an erasure adds to them',
  message_requests: 'members of messages, which are exported; an erasure empties them',
  message_states: 'states of messages; an erasure deletes them with the details of their messages',
  message_contents: 'content without values of the user; deleted with the last message that has it',
  journey_backtests: 'examples of what would have happened to users, made of their events; an erasure deletes those of the user',
  journey_steps: 'what authors wrote',
  campaign_templates: 'what authors wrote',
  template_versions: 'what authors wrote, with the key or member',
  template_attachments: 'files of authors, the same for every user',
  attribute_profiles: 'samples of values, made again every hour while they are asked for',
}

/** Tables that name no user. */
const WITHOUT_USERS =
  `activity_feeds api_keys api_requests attribute_profiling attributes audit_chains audit_entries campaign_audiences campaign_opens campaign_preflights campaigns
  credentials_version dkim_keys domains event_days event_day_totals event_ids event_name_totals event_names event_removals identity_epochs introduced_names journey_clocks
  journey_counts journey_rates journey_sweeps journey_versions journeys links list_build_parts list_clocks list_counts list_days list_versions lists mail_pauses mail_processes
  mail_site_hours mail_sites member_challenges member_identities member_links member_mails member_passkeys member_recovery_codes member_roles member_sessions members message_counts message_days
  log_positions mta_sts_policies organisations page_themes projects providers queue_batches queue_partitions quota_refusals rate_buckets rate_queues retention_progress sandbox_faults
  schema_migrations
  send_attempts sending_policies sign_in_failures sign_in_redirects subscriptions suppression_keys tls_reports tls_results traced_messages usage_counters warm_up_sites warm_ups
  webhook_cursors webhook_endpoints
  webhook_event_subscriptions webhook_hours webhook_replays webhook_secrets webhook_versions`.split(/\s+/)

/** The tables that have a column for users, without partitions and without those of a list that is being built, which are dropped after it. */
const TABLES = `
  select distinct c.relname as name from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname ~ '(^|_)user_id$' and not a.attisdropped
  where c.relname !~ '_found_[0-9]+$' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
  order by 1`

const ALL_TABLES = `
  select c.relname as name from pg_class c
  where c.relname !~ '_found_[0-9]+$' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
  order by 1`

test('every table with users is exported, or is an exception', async () => {
  await using w = await world()
  const found = (await select(w, TABLES)).map(({ name }) => String(name))
  const exported = USER_STORES.map(({ table }) => table)
  expect(found.filter((name) => !exported.includes(name) && !Object.hasOwn(NOT_EXPORTED, name))).toEqual([])
  expect(Object.keys(NOT_EXPORTED).filter((name) => !found.includes(name) || exported.includes(name))).toEqual([])
})

test('every table without a column for users is known to name none, or how it does', async () => {
  await using w = await world()
  const withUsers = (await select(w, TABLES)).map(({ name }) => String(name))
  const all = (await select(w, ALL_TABLES)).map(({ name }) => String(name))
  const stores: string[] = USER_STORES.map(({ table }) => table)
  const known = [...WITHOUT_USERS, ...Object.keys(NAMING), ...stores]
  expect(all.filter((name) => !withUsers.includes(name) && !known.includes(name))).toEqual([])
  expect([...WITHOUT_USERS, ...Object.keys(NAMING)].filter((name) => !all.includes(name))).toEqual([])
})

test('a table with users that is in neither is found', async () => {
  await using w = await world({ own: true })
  await select(w, 'create table bells (project_id bigint, ringing_user_id bigint)')
  expect((await select(w, TABLES)).map(({ name }) => name)).toContain('bells')
  await select(w, 'drop table bells')
})

test('the members of an export are those that are documented', () => {
  expect([...USER_STORES.map(({ name }) => name), 'emails', 'suppressions', 'refused_items']).toEqual(Object.keys(EXPORTED))
})

/** The tables with rows of a user, and the columns that name the user. */
async function tablesWith(w: World, id: UserId): Promise<{ table: string; name: string }[]> {
  const found = []
  for (const { name: table } of await select(w, TABLES)) {
    const columns = await select(
      w,
      `select a.attname as name from pg_attribute a where a.attrelid = '${table}'::regclass and a.attname ~ '(^|_)user_id$' and not a.attisdropped`,
    )
    for (const { name } of columns) {
      const rows = await select(w, `select 1 from ${table} where project_id = $1 and ${name} = $2`, [w.projectId, id])
      if (rows.length > 0) found.push({ table: String(table), name: String(name) })
    }
  }
  return found
}

/** A click on a link of a campaign, as a browser makes it. */
async function click(w: World, campaignId: CampaignId, userId: UserId): Promise<void> {
  const [link] = await saveLinks(w.ctx, campaignId, ['https://shop.test/a'])
  const [message] = await select(w, 'select id::int from messages where project_id = $1 and campaign_id = $2', [w.projectId, campaignId])
  const tracker = trackerOf(w.ctx, { projectId: w.projectId, campaignId, userId, messageId: message?.id as MessageId })
  // A click in the first second would be a bot.
  w.advance('5 seconds')
  const url = tracker.click(link as LinkId, 'https://shop.test/a').replace('http://carillon.test', '')
  expect((await w.app.inject({ url, headers: { 'user-agent': 'Mozilla/5.0 Firefox/132.0' } })).statusCode).toBe(302)
  w.advance('5 seconds')
}

test('an erased user is in no table but the exceptions', async () => {
  await using w = await world()
  await createJourney(w, { status: 'live' }, READY)
  const list = await listOf(w, 'kim')
  const id = (await w.get('/api/client/users/kim')).body.id
  const blast = await blastTo(w, [list])
  await schedule(w, blast)
  await w.post('/api/client/events', [
    { external_id: 'kim', anonymous_id: 'visitor', name: 'order' },
    { external_id: 'kim', name: 'cart' },
  ])
  await w.post('/api/client/devices', { external_id: 'kim', device_id: 'd', token: 't' })
  const raw = 'external_id,email,plan\nkim,kim@example.com,pro\n'
  const headers = { 'content-type': 'text/csv' }
  expect((await w.request('POST', `/api/client/lists/${list}/import`, undefined, { raw, headers })).status).toBe(202)
  await w.drain()
  await click(w, blast.id, id)
  await w.drain()
  const before = (await tablesWith(w, id)).map(({ table }) => table)
  expect(before).toEqual(expect.arrayContaining(['devices', 'events', 'import_changes', 'journey_entrances', 'link_clicks', 'messages']))
  await w.delete('/api/client/users/kim')
  await w.drain()
  expect((await tablesWith(w, id)).filter(({ table }) => !Object.hasOwn(KEPT, table))).toEqual([])
})
