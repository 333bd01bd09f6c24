import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ListId } from '../../lib/ids.ts'
import { CampaignRow } from './schema.ts'
import { LIVE_STATES } from './states.ts'

const UsingRow = Type.Object({
  name: CampaignRow.properties.name,
  list_ids: CampaignRow.properties.list_ids,
  exclusion_list_ids: CampaignRow.properties.exclusion_list_ids,
  event_rule: CampaignRow.properties.event_rule,
})

/** The live campaigns that send to a list or exclude it, and those with `list` in the text of their rule. */
export const campaignsThatMayUseList = (ctx: ProjectCtx, listId: ListId) =>
  ctx.db.many(
    UsingRow,
    sql`select name, to_jsonb(list_ids) as list_ids, to_jsonb(exclusion_list_ids) as exclusion_list_ids, event_rule from campaigns
        where project_id = ${ctx.projectId} and archived_at is null and state = any(${LIVE_STATES}::text[])
          and (${listId} = any(list_ids || exclusion_list_ids) or event_rule::text like '%list%')
        order by id`,
  )
