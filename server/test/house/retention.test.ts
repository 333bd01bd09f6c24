/** Nothing grows for ever unseen: every table says how long its rows are kept, or why they are few. */
import { expect, test } from 'vitest'
import type { Config } from '../../src/infra/runtime/config.ts'
import { settings } from '../../src/infra/runtime/settings.ts'
import { AGED, STORES } from '../../src/retention.ts'
import { tables } from './modules.ts'

/** Rows deleted by age, with the setting or the fixed time, and what deletes them. */
const BY_AGE: Record<string, string> = {
  messages: 'MESSAGE_RETENTION_DAYS',
  message_states: 'MESSAGE_RETENTION_DAYS, with their message',
  message_requests: 'MESSAGE_RETENTION_DAYS, with their message',
  message_contents: 'MESSAGE_RETENTION_DAYS, with the last message that has it',
  message_attachments: 'MESSAGE_RETENTION_DAYS, with their message or sandbox message',
  mail_messages: 'MESSAGE_RETENTION_DAYS',
  mail_recipients: 'MESSAGE_RETENTION_DAYS, with their email',
  sandbox_messages: 'SANDBOX_RETENTION_DAYS',
  events: 'EVENT_RETENTION_MONTHS, by partition; forever unless it is set',
  event_days: 'EVENT_RETENTION_MONTHS',
  event_day_totals: 'EVENT_RETENTION_MONTHS',
  event_names: 'EVENT_RETENTION_MONTHS, when the last event is gone',
  event_name_totals: 'EVENT_RETENTION_MONTHS, when the last event is gone',
  event_ids: '30 days',
  audit_entries: 'AUDIT_RETENTION_DAYS',
  api_requests: 'API_LOG_RETENTION_DAYS',
  journey_past: 'JOURNEY_HISTORY_DAYS, by partition',
  journey_keys: 'JOURNEY_KEY_RETENTION_DAYS after an event last had the key',
  activity: '30 days',
  confirmations: '90 days',
  journey_backtests: '90 days',
  parked_items: 'PARKED_RETENTION_DAYS',
  link_clicks: 'MESSAGE_RETENTION_DAYS after the last click; the link keeps the sums',
  usage_counters: '400 days',
  list_days: '400 days',
  idempotency_records: '24 hours',
  import_failures: '30 days after the import',
  import_changes: '24 hours after the import',
  import_chunks: 'until the import ends',
  import_dry_run_rows: 'until the trial ends',
  inbox_messages: 'until the message expires',
  webhook_events: '30 days',
  webhook_deliveries: '30 days',
  webhook_attempts: '30 days, with their delivery',
  webhook_hours: 'a day and an hour',
  webhook_replays: '30 days after they ended',
  webhook_event_subscriptions: 'an hour after they ended',
  webhook_secrets: 'until a rotated secret expires',
  traced_messages: '7 days',
  mail_site_hours: '30 days',
  soft_bounces: '30 days',
  tls_results: '30 days',
  tls_reports: '30 days',
  sign_in_redirects: 'until they expire',
  member_sessions: 'until they end',
  member_links: 'until they expire',
  member_challenges: 'until they expire',
  sign_in_failures: 'by age: members.purge',
  mta_sts_policies: 'until they expire',
  message_addresses: 'until the blast is over',
  preflight_addresses: 'until the preflight ends',
  send_attempts: 'until the result is saved',
  erased_ids: 'until the queue has passed the erasure',
  queue_entries: 'until they are applied',
  queue_batches: 'until they are applied',
  rate_queues: 'until nothing waits for the rate',
  journey_calls: 'until they are answered, or given up: journeys.delete-calls',
  journey_sweeps: 'until they have passed',
  member_mails: 'until they are sent',
  journey_entrances: 'until the user has left',
  journey_timers: 'until they are due',
  journey_counts: 'added up: journeys.fold',
  message_counts: 'added up: messages.fold-counts',
  message_days: 'reports are kept: a row for each day, campaign and state',
  list_build_parts: 'until the next step of the build',
  list_versions: 'until a newer one has taken their place',
  dkim_keys: '7 days after they were replaced',
  template_versions: 'the last fifty of each template',
}

/** Rows that are as many as something which users of the product make by hand. */
const BY_HAND =
  `activity_feeds api_keys attribute_profiling attributes audit_chains campaign_audiences campaign_opens campaign_preflights campaign_templates campaigns
  credentials_version domains event_removals identity_epochs imports journey_clocks journey_rates journey_steps journey_versions journeys links list_clocks
  list_counts lists mail_pauses mail_processes member_identities member_passkeys member_recovery_codes member_roles members organisations page_themes projects providers
  log_positions retention_progress sandbox_faults schema_migrations sending_policies subscriptions suppression_keys template_attachments warm_ups webhook_cursors webhook_endpoints
  webhook_versions quota_refusals queue_partitions`.split(/\s+/)

/** Rows that are as many as users, addresses or mail sites, and the reason why they stay. */
const BY_USER: Record<string, string> = {
  users: 'the profile',
  user_anonymous_ids: 'the ids of the profile',
  user_search: 'the searched text of the profile',
  devices: 'the devices of the profile',
  user_subscriptions: 'one for each type and user who chose',
  consent_entries: 'evidence of consent (Article 7), which has to outlive what it allowed; erased with the user',
  suppressions: 'an address that must not get anything again',
  erasures: 'the receipt of an erasure',
  list_memberships: 'one for each live list and user whom it had',
  tracked_times: 'the times that live rules count, for each user',
  inbox_counters: 'one for each inbox',
  journey_users: 'one for each journey and user; it shows whether the user has entered before',
  attribute_profiles: 'one for each attribute',
  introduced_names: 'one for each name that publishable keys introduced, which are limited by day',
  rate_buckets: 'one for each rate',
  mail_sites: 'one for each destination',
  warm_up_sites: 'one for each mail site of a domain',
}

const known = [...Object.keys(BY_AGE), ...BY_HAND, ...Object.keys(BY_USER)]

test('every table says how long its rows are kept, or why they are few', () => {
  expect(tables.filter((table) => !known.includes(table))).toEqual([])
})

test('each is named once, and exists', () => {
  expect(known.filter((table, at) => !tables.includes(table) || known.indexOf(table) !== at)).toEqual([])
})

test('settings of retention exist', () => {
  const named = Object.values(BY_AGE).flatMap((kept) => kept.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? [])
  expect(named.filter((name) => !Object.hasOwn(settings, name))).toEqual([])
})

/** What is said of a table that is kept by a setting or for a fixed time. */
const kept = (name: string, days: (config: Config) => number) => {
  const [setting] = BY_AGE[name]?.match(/^[A-Z_]+_RETENTION_DAYS/) ?? []
  const config = {
    MESSAGE_RETENTION_DAYS: 0,
    SANDBOX_RETENTION_DAYS: 0,
    PARKED_RETENTION_DAYS: 0,
    API_LOG_RETENTION_DAYS: 0,
    JOURNEY_KEY_RETENTION_DAYS: 0,
    ...(setting && { [setting]: 7 }),
  }
  return setting ? days(config as Config) === 7 : BY_AGE[name]?.startsWith(`${days(config as Config)} days`)
}

test('what is deleted by its age is kept for as long as is said', () => {
  for (const { name, days } of [...STORES, ...AGED]) expect([name, kept(name, days)]).toEqual([name, true])
})
