import { sql } from '../../infra/postgres/db.ts'
import type { RuleTables } from '../rules/index.ts'

/** The tables that rules read: those of this module and of the modules it depends on. */
export const ruleTables: RuleTables = {
  users: sql`users`,
  events: sql`events`,
  trackedTimes: sql`tracked_times`,
  devices: sql`devices`,
  lists: sql`lists`,
  memberships: sql`list_memberships`,
  subscriptions: sql`subscriptions`,
  userSubscriptions: sql`user_subscriptions`,
  journeyUsers: sql`journey_users`,
  journeyEntrances: sql`journey_entrances`,
  journeySteps: sql`journey_steps`,
}
