/** What happened to the messages of each day. Rows of `message_counts` move to `message_days` when they are added up. */
import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId } from '../../../lib/ids.ts'
import { CHANNELS, IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'
import { SENT_STATES } from '../schema.ts'

const counts = {
  messages: Type.Integer({ description: 'All messages, including skipped and waiting ones.' }),
  sent: Type.Integer({ description: 'Messages that a provider accepted.' }),
  delivered: Type.Integer({ description: 'Messages that were reported as delivered, including those later reported as spam.' }),
  opened: Type.Integer({ description: 'Messages that were opened. An estimate, because mail programs load images automatically.' }),
  clicked: Type.Integer({ description: 'Messages with a click.' }),
  bounced: Type.Integer({ description: 'Messages that bounced.' }),
  complained: Type.Integer({ description: 'Messages that were reported as spam.' }),
  failed: Type.Integer({ description: 'Messages that failed.' }),
  unsubscribed: Type.Integer({
    description: 'Messages through which the user unsubscribed: on a hosted page, in a mail program or by reporting spam.',
  }),
}

/** What is counted, as members of a reply. */
export const COUNTED_IN_DAYS = counts

const DayCounts = Type.Object({
  /** Null in rows of several days, as are campaign, channel and journey in rows of several of these. */
  day: Nullable(Type.String()),
  channel: Nullable(OneOf(CHANNELS)),
  campaign_id: Nullable(IdOf<CampaignId>()),
  /** 0 for messages of no journey. */
  journey_id: Nullable(Type.Unsafe<JourneyId | 0>({ type: 'integer' })),
  is_before: Type.Boolean(),
  ...counts,
})
export type DayCounts = Static<typeof DayCounts>

type Wanted = { from: string; to: string; channel?: string | undefined; campaign_id?: number | undefined; journey_id?: number | undefined }

const state = (states: readonly string[]) => sql`coalesce(sum(messages) filter (where state = any(${states}::text[])), 0)::bigint`

const sums = sql`sum(messages)::bigint as messages, sum(opens)::bigint as opened, sum(clicks)::bigint as clicked, sum(unsubscribes)::bigint as unsubscribed,
               ${state(SENT_STATES)} as sent, ${state(['delivered', 'complained'])} as delivered, ${state(['bounced'])} as bounced,
               ${state(['complained'])} as complained, ${state(['failed'])} as failed`

/** The rows of both tables from a day to another, both included. */
const counted = (ctx: ProjectCtx, { from, to, channel, campaign_id, journey_id }: Wanted, start: string) => {
  const days = sql`day >= ${from}::date and day <= ${to}::date`
  const only = sql`${channel === undefined ? sql`true` : sql`channel = ${channel}`}
            and ${campaign_id === undefined ? sql`true` : sql`campaign_id = ${campaign_id}`}
            and ${journey_id === undefined ? sql`true` : sql`journey_id = ${journey_id}`}`
  return sql`counted as (
          select day, day < ${start}::date as is_before, channel, campaign_id, journey_id, state, messages, opens, clicks, unsubscribes from message_days
          where project_id = ${ctx.projectId} and ${days} and ${only}
          union all
          select day, day < ${start}::date, channel, campaign_id, journey_id, state, messages, opens, clicks, unsubscribes from message_counts
          where project_id = ${ctx.projectId} and ${days} and ${only}
        )`
}

/**
 * The counts from a day to another, both included, four times: by day, by channel, by campaign and by journey. Days before `start` are
 * counted separately.
 */
export const countsOfDays = (ctx: ProjectCtx, wanted: Wanted, start: string) =>
  ctx.db.many(
    DayCounts,
    sql`with ${counted(ctx, wanted, start)}
        select day::text as day, channel, campaign_id, journey_id, is_before, ${sums}
        from counted
        group by grouping sets ((day, is_before), (channel, is_before), (campaign_id, channel, is_before), (journey_id, is_before))
        having sum(messages) <> 0
        order by day, channel, campaign_id, journey_id`,
  )

const ChannelCounts = Type.Object({ channel: OneOf(CHANNELS), is_before: Type.Boolean(), ...counts })

/** The counts from a day to another, both included, by channel. Days before `start` are counted separately. */
export const countsOfChannels = (ctx: ProjectCtx, wanted: Pick<Wanted, 'from' | 'to'>, start: string) =>
  ctx.db.many(
    ChannelCounts,
    sql`with ${counted(ctx, wanted, start)}
        select channel, is_before, ${sums}
        from counted
        group by channel, is_before
        having sum(messages) <> 0`,
  )
