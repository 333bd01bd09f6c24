import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, UserId } from '../../lib/ids.ts'
import { type Channel, IdOf, Nullable, OneOf } from '../../lib/shapes.ts'
import { CHECKED_AGAIN, isSkippedFor } from './messages.queries.ts'
import { MESSAGE_STATES, type Priority, type Reason } from './schema.ts'

/** The message of one user of an audience, or the reason why there is none. */
export type Planned = {
  user_id: UserId
  state: 'queued' | 'skipped'
  reason: Reason | null
  due_at: Date
  variant: number | null
  expires_at: Date | null
}

/** What the messages of a chunk have in common. */
export type Plan = { campaign_id: CampaignId; channel: Channel; priority: Priority; cause: string; started_at: Date | null }

/** Inserts one message for each user of a chunk. As arrays rather than JSON: a chunk is thousands. */
const insertion = (ctx: InTx, { campaign_id, channel, priority, cause }: Plan, users: Planned[]): Sql =>
  sql`insert into messages as m (project_id, user_id, campaign_id, channel, cause, priority, state, reason, variant, due_at, expires_at, created_at, settled_at)
      select ${ctx.projectId}, p.user_id, ${campaign_id}, ${channel}, ${cause}, ${priority}, p.state, p.reason, p.variant, p.due_at, p.expires_at,
             ${ctx.clock.now()}, case when p.state = 'skipped' then ${ctx.clock.now()}::timestamptz end
      from unnest(${users.map(({ user_id }) => user_id)}::bigint[], ${users.map(({ state }) => state)}::text[],
                  ${users.map(({ reason }) => reason)}::text[], ${users.map(({ variant }) => variant)}::smallint[],
                  ${users.map(({ due_at }) => due_at)}::timestamptz[], ${users.map(({ expires_at }) => expires_at)}::timestamptz[])
           as p(user_id, state, reason, variant, due_at, expires_at)`

/** Stores the messages of a chunk. Throws a unique violation if one of them exists for the cause. */
export const insertPlanned = (ctx: InTx, plan: Plan, users: Planned[]): Promise<number> => ctx.db.run(insertion(ctx, plan, users))

/**
 * Stores the messages of a chunk. A message that exists for the cause stays, unless it was withdrawn to be sent at another time, or skipped
 *
 * - for a reason that is checked again, and is to be sent now: another user was merged into its user meanwhile;
 * - for whatever reason before `started_at`: then the audience is loaded again for another time;
 * - as a duplicate, and its user is one of `withdrawn`.
 */
export const renewPlanned = (ctx: InTx, plan: Plan, users: Planned[], withdrawn: UserId[]): Promise<number> =>
  ctx.db.run(
    sql`${insertion(ctx, plan, users)}
        on conflict (project_id, user_id, cause) do update
        set state = excluded.state, reason = excluded.reason, variant = excluded.variant, due_at = excluded.due_at,
            expires_at = excluded.expires_at, settled_at = excluded.settled_at, detail = null, acted_at = null, attempts = 0, is_held = false
        where (m.state = 'aborted' and m.reason = 'rescheduled')
           or (${isSkippedFor(sql`m.`, CHECKED_AGAIN)} and not m.is_erased and (excluded.state = 'queued' or m.reason = 'duplicate_address'))
           or (m.state = 'skipped' and m.reason = 'duplicate' and not m.is_erased and m.user_id = any(${withdrawn}::bigint[]))
           or (m.state = 'skipped' and m.reason not in ('duplicate', 'user_gone') and not m.is_erased and m.settled_at < ${plan.started_at})`,
  )

const StateRow = Type.Object({ user_id: IdOf<UserId>(), state: OneOf(MESSAGE_STATES), reason: Nullable(Type.String()) })

export type StateOfCause = Static<typeof StateRow>

/** The states of the messages of a cause to these users. */
export const statesOfCause = (ctx: InTx, cause: string, userIds: UserId[]) =>
  ctx.db.many(
    StateRow,
    sql`select user_id, state, reason from messages
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and cause = ${cause}`,
  )
