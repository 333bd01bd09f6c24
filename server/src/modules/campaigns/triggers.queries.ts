import { Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, SubscriptionId } from '../../lib/ids.ts'
import { CHANNELS, IdOf, OneOf } from '../../lib/shapes.ts'
import { CampaignRow } from './schema.ts'

const TriggerRow = Type.Object({
  id: IdOf<CampaignId>(),
  event_name: Type.String(),
  event_rule: CampaignRow.properties.event_rule,
  channel: OneOf(CHANNELS),
  subscription_id: IdOf<SubscriptionId>(),
  expires_after_hours: Type.Integer(),
})

/** The running trigger campaigns of these events. */
export const runningTriggers = (ctx: ProjectCtx, eventNames: string[]) => findTriggers(ctx, ctx.projectId, eventNames)

const findTriggers = jointMany(
  TriggerRow,
  (_, calls: JointCall<string[]>[]) =>
    sql`select q.call, c.*
        from ${callRows(calls, sql`names text[]`, (names) => ({ names }))}
        cross join lateral unnest(q.names) as n(name)
        cross join lateral (
          select id, event_name, event_rule, channel, subscription_id, expires_after_hours
          from campaigns
          where project_id = q.project_id and event_name = n.name and type = 'trigger' and state = 'running' and archived_at is null
          ${fence}
        ) c
        order by q.call, c.id`,
)
