import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, SubscriptionId } from '../../../lib/ids.ts'
import { type Channel, IdOf } from '../../../lib/shapes.ts'
import { campaignColumns } from '../queries.ts'
import { CampaignRow } from '../schema.ts'

/** The campaigns that requests name, by id or by slug. */
export const namedCampaigns = (ctx: ProjectCtx, ids: CampaignId[], slugs: string[]) =>
  ctx.db.many(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and archived_at is null and (id = any(${ids}::bigint[]) or slug = any(${slugs}::text[]))`,
  )

const SlugRow = Type.Object({ id: IdOf<CampaignId>(), slug: Type.String() })

/** The slugs of these campaigns, archived ones among them. */
export const slugsOf = (ctx: ProjectCtx | InTx, ids: CampaignId[]) =>
  ctx.db.many(
    SlugRow,
    sql`select id, slug from campaigns where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and slug is not null`,
  )

/** The campaigns for messages of these subscription types whose content comes with the request. */
export const directCampaigns = (ctx: ProjectCtx, ids: SubscriptionId[]) =>
  ctx.db.many(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and subscription_id = any(${ids}::bigint[]) and is_direct and archived_at is null`,
  )

/** Changes how long messages live whose content comes with the request, if it is the value given as `from`. */
export const changeDirectDeadline = (ctx: InTx, id: SubscriptionId, { from, to }: { from: number; to: number }) =>
  ctx.db.run(
    sql`update campaigns set expires_after_hours = ${to}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and subscription_id = ${id} and is_direct and expires_after_hours = ${from}`,
  )

/** A campaign to make for messages whose content comes with the request. */
type DirectCampaign = { subscription_id: SubscriptionId; channel: Channel; name: string; expires_after_hours: number }

/** Makes the campaigns for messages whose content comes with the request, unless they exist. */
export const insertDirectCampaigns = (ctx: InTx, campaigns: DirectCampaign[]) =>
  ctx.db.run(
    sql`insert into campaigns (project_id, type, channel, name, subscription_id, state, is_direct, expires_after_hours, created_at, updated_at)
        select ${ctx.projectId}, 'trigger', c.channel, c.name, c.subscription_id, 'running', true, c.expires_after_hours, ${ctx.clock.now()},
               ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(campaigns)}::jsonb)
             as c(channel text, name text, subscription_id bigint, expires_after_hours smallint)
        order by c.subscription_id
        on conflict (project_id, subscription_id) where is_direct and archived_at is null do nothing`,
  )
