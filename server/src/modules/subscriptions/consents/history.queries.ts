import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { state } from '../schema.ts'

const PastConsent = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state,
  previous_state: Nullable(state),
  at: Instant,
  /** The journey that changed the state. */
  journey_id: Nullable(Type.Integer()),
})
/** A change of a subscription state. */
export type PastConsent = Static<typeof PastConsent>

/** The changes of subscription states of users since an instant, in order. */
export const consentsSince = (ctx: ProjectCtx, ids: UserId[], subscriptionIds: SubscriptionId[], since: Date) =>
  ctx.db.many(
    PastConsent,
    sql`select user_id, subscription_id, state, previous_state, at,
               case when source = 'journey' then (proof ->> 'journey_id')::bigint end as journey_id
        from consent_entries
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and subscription_id = any(${subscriptionIds}::bigint[])
          and at >= ${since}
        order by id`,
  )
