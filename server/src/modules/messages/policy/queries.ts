import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { leaseNow } from '../../../infra/runtime/lease-time.ts'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { RECEIVED_STATES } from '../schema.ts'
import { Cap, QuietHours, type SendingPolicy } from './policy.ts'

const PolicyRow = Type.Object({ caps: Type.Array(Cap), quiet_hours: Nullable(QuietHours) })

export const findPolicy = async (ctx: ProjectCtx) => (await findPolicies(ctx, ctx.projectId, null))[0]

const findPolicies = jointMany(
  PolicyRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, p.caps, p.quiet_hours from ${callRows(calls)} join sending_policies p on p.project_id = q.project_id`,
)

export const savePolicy = (ctx: ProjectCtx, { caps, quiet_hours }: SendingPolicy) =>
  ctx.db.run(
    sql`insert into sending_policies (project_id, caps, quiet_hours, updated_at)
        values (${ctx.projectId}, ${JSON.stringify(caps)}::jsonb, ${quiet_hours === null ? null : JSON.stringify(quiet_hours)}::jsonb, ${ctx.clock.now()})
        on conflict (project_id) do update set caps = excluded.caps, quiet_hours = excluded.quiet_hours, updated_at = excluded.updated_at`,
  )

const ReceivedRow = Type.Object({
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  at: Instant,
  in_flight: Nullable(IdOf<MessageId>()),
  lease_token: Nullable(Type.String()),
  /** It is stored that it counts. Whether others do depends on their campaigns. */
  is_counted: Type.Boolean(),
})
export type ReceivedRow = Static<typeof ReceivedRow>

/**
 * The messages that these users got since then, and those in flight except the given ones, transactional ones among them. One that was reported
 * before its sender saved what it sent has its lease still, and is in flight until that ends. No statement removes it if the sender died.
 */
export const receivedSince = (ctx: ProjectCtx, userIds: UserId[], since: Date, except: MessageId[]) =>
  ctx.db.many(
    ReceivedRow,
    sql`select user_id, campaign_id, channel, case when state = 'claimed' then ${ctx.clock.now()}::timestamptz(3) else settled_at end as at,
               case when state = 'claimed' or lease_token is not null and lease_until > ${leaseNow(ctx)} then id end as in_flight,
               lease_token,
               state <> 'claimed' and counts_to_caps and (lease_token is null or lease_until <= ${leaseNow(ctx)}) as is_counted
        from messages
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
          and ((state = any(${RECEIVED_STATES}::text[]) and settled_at > ${since}
                and (counts_to_caps or (lease_token is not null and id <> all(${except}::bigint[]))))
               or (state = 'claimed' and id <> all(${except}::bigint[])))`,
  )
