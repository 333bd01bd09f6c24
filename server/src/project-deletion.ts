/**
 * Deleting a project. The request stops what it does: its keys, its campaigns and journeys, its mail queue and its webhooks. A job then deletes
 * its rows, in batches that are each a transaction, until a pass over all tables has found none: if the process ends, the next one continues.
 */
import { deleteRecordsOf } from './infra/http/idempotency-records.ts'
import { deleteRows } from './infra/postgres/project-rows.ts'
import { type Ctx, type InTx, inTx, type OrganisationCtx, type ProjectCtx } from './infra/runtime/ctx.ts'
import type { ProjectId } from './lib/ids.ts'
import { recordAction } from './modules/audit/index.ts'
import { archiveCampaigns, countCampaigns } from './modules/campaigns/index.ts'
import { archiveJourneys, countJourneys, deleteCalls } from './modules/journeys/index.ts'
import { archiveEveryKey, countKeys, keyIdsOf } from './modules/keys/index.ts'
import { countLists, releaseVersions } from './modules/lists/index.ts'
import { messageTotal } from './modules/messages/index.ts'
import { insertPause } from './modules/mta/index.ts'
import { beginDeletion, eraseNextProject, type ProjectSize, USERS_COUNTED_MAX } from './modules/projects/index.ts'
import { countUsers } from './modules/users/index.ts'
import { deleteEveryEndpoint } from './modules/webhooks/index.ts'

/**
 * The tables of a project, in the order in which its rows are deleted: what is still to be sent or due first, and what refers to something
 * before that.
 * A house test compares them with the catalogue of the database.
 */
export const PROJECT_TABLES: readonly string[] =
  `journey_calls journey_timers mail_recipients mail_messages webhook_attempts webhook_deliveries webhook_hours webhook_replays webhook_cursors webhook_event_subscriptions
  webhook_secrets webhook_endpoints webhook_events webhook_versions queue_partitions queue_batches queue_entries parked_items traced_messages
  message_requests message_attachments message_contents message_states sandbox_messages messages message_addresses message_counts message_days
  rate_queues rate_buckets send_attempts inbox_messages inbox_counters
  journey_backtests journey_sweeps journey_rates journey_keys journey_users journey_past journey_entrances journey_counts journey_clocks
  journey_steps journey_versions journeys
  import_changes import_chunks import_dry_run_rows import_failures imports
  list_memberships list_counts list_days list_build_parts list_versions lists list_clocks tracked_times
  preflight_addresses campaign_preflights campaign_audiences campaign_opens template_attachments template_versions campaign_templates campaigns
  link_clicks links confirmations consent_entries user_subscriptions subscriptions suppressions suppression_keys soft_bounces
  events event_days event_day_totals event_ids event_names event_name_totals introduced_names activity activity_feeds api_requests
  user_search user_anonymous_ids devices attribute_profiles attribute_profiling attributes erased_ids erasures users identity_epochs
  warm_up_sites warm_ups dkim_keys domains sandbox_faults providers tls_results tls_reports mail_site_hours mail_sites
  page_themes sending_policies quota_refusals usage_counters retention_progress member_roles mail_pauses`.split(/\s+/)

/** Tables of which a deleted project keeps rows, and the reason. */
export const KEPT_TABLES: Readonly<Record<string, string>> = {
  api_keys: 'archived, so that a key of the configuration is not created again at the next start',
  audit_entries: 'the organisation keeps who did what, as long as the setting says',
  audit_chains: 'the ends of the chains of these entries',
}

const ROWS_AT_ONCE = 5000

/** How much of each kind of data a project has, for the reply to its deletion. */
export async function sizeOf(ctx: ProjectCtx): Promise<ProjectSize> {
  const { messages, waiting } = await messageTotal(ctx)
  return {
    users: await countUsers(ctx, USERS_COUNTED_MAX),
    messages,
    waiting_messages: waiting,
    campaigns: await countCampaigns(ctx),
    journeys: await countJourneys(ctx),
    lists: await countLists(ctx),
    keys: await countKeys(ctx, ctx.projectId),
  }
}

/**
 * Deletes a project, if `name` is its name. Returns what it contained. Waits for messages whose sending has begun; none is begun after it. Throws
 * 404, and 422 for another name.
 */
export const deleteProject = (ctx: OrganisationCtx, id: ProjectId, name: string): Promise<ProjectSize> =>
  inTx(ctx, async (ctx) => {
    const inProject = await beginDeletion(ctx, id, name)
    const size = await sizeOf(inProject as unknown as ProjectCtx)
    await archiveEveryKey(inProject)
    await archiveCampaigns(inProject)
    await archiveJourneys(inProject)
    await deleteCalls(inProject)
    await insertPause(inProject, { scope: 'project', value: '' })
    await deleteEveryEndpoint(inProject)
    return size
  })

/**
 * Erases a batch of a project that was deleted. Returns the number of rows, 1 if the project had none left, or 0 when no project is due.
 */
export const eraseProjects = (ctx: Ctx, rowsMax = ROWS_AT_ONCE): Promise<number> =>
  eraseNextProject(
    ctx,
    (ctx) => eraseRows(ctx, rowsMax),
    (ctx) => recordAction(ctx, ctx.projectId, 'project.erased', ctx.projectId, {}),
  )

/** Deletes rows of a project, at most about `rowsMax`. Returns how many; 0 when there are none. */
async function eraseRows(ctx: InTx, rowsMax: number): Promise<number> {
  let rows = await deleteRecordsOf(ctx, await keyIdsOf(ctx), rowsMax)
  for (const table of PROJECT_TABLES) {
    if (rows >= rowsMax) break
    if (table === 'list_versions') await releaseVersions(ctx)
    rows += await deleteRows(ctx, table, rowsMax - rows)
  }
  return rows
}
