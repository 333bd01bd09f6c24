import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. Suppressions are stored by address, and are read by it. */
export const subscriptionStores: UserStore[] = [
  userStore('subscriptions', 'user_subscriptions', ({ projectId }) => ({
    from: sql`user_subscriptions s`,
    where: sql`s.project_id = ${projectId}`,
    user: sql`s.user_id`,
    select: sql`s.user_id, s.subscription_id, s.state, s.updated_at, s.consent_id`,
    key: [
      { column: sql`s.user_id`, type: 'bigint' },
      { column: sql`s.subscription_id`, type: 'bigint' },
    ],
  })),
  userStore('consents', 'consent_entries', ({ projectId }) => ({
    from: sql`consent_entries c`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.id, c.user_id, c.subscription_id, c.state, c.previous_state, c.source, c.wording, c.proof, c.at`,
    key: [{ column: sql`c.id`, type: 'bigint' }],
  })),
  userStore('confirmations', 'confirmations', ({ projectId }) => ({
    from: sql`confirmations c`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.user_id, c.subscription_id, c.requested_at`,
    key: [{ column: sql`c.id`, type: 'bigint' }],
  })),
]
