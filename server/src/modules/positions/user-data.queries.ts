import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. */
export const positionStores: UserStore[] = [
  userStore('journeys', 'journey_users', ({ projectId }) => ({
    from: sql`journey_users j`,
    where: sql`j.project_id = ${projectId}`,
    user: sql`j.user_id`,
    select: sql`j.user_id, j.journey_id, j.entered, j.completed, j.exited, j.active, j.first_entered_at, j.last_entered_at, j.last_ended_at,
      j.last_outcome, j.held_out_at, j.arm, j.goals`,
    key: [
      { column: sql`j.user_id`, type: 'bigint' },
      { column: sql`j.journey_id`, type: 'bigint' },
    ],
  })),
  userStore('journey_entrances', 'journey_entrances', ({ projectId }) => ({
    from: sql`journey_entrances e`,
    where: sql`e.project_id = ${projectId}`,
    user: sql`e.user_id`,
    select: sql`e.user_id, e.entrance_id, e.journey_id, e.version, e.visit, e.entered_at, e.arrived_at, e.due_at, e.key, e.event, e.answers, e.seen,
      e.trail`,
    key: [
      { column: sql`e.user_id`, type: 'bigint' },
      { column: sql`e.entrance_id`, type: 'bigint' },
    ],
    pageRows: 50,
  })),
  userStore('past_journey_entrances', 'journey_past', ({ projectId }) => ({
    from: sql`journey_past p`,
    where: sql`p.project_id = ${projectId}`,
    user: sql`p.user_id`,
    select: sql`p.user_id, p.entrance_id, p.journey_id, p.version, p.visit, p.entered_at, p.ended_at, p.outcome, p.reason, p.key, p.event, p.answers,
      p.trail`,
    key: [
      { column: sql`p.user_id`, type: 'bigint' },
      { column: sql`p.entrance_id`, type: 'bigint' },
      { column: sql`p.ended_at`, type: 'timestamptz' },
    ],
    pageRows: 50,
  })),
]
