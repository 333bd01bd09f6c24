import { type Static, Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable, OneOf } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { EVENT_SOURCES } from './event.ts'

const PastEvent = Type.Object({
  user_id: IdOf<UserId>(),
  name: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({}),
  created_at: Instant,
  received_at: Instant,
  source: OneOf(EVENT_SOURCES),
  journey_id: Nullable(IdOf<JourneyId>()),
})
/** A stored event, as it was received. */
export type PastEvent = Static<typeof PastEvent>

/** Events of one user that are read at most: the newest. */
const EVENTS_MAX = 5000

/** The events of users with these names that were received until then, by user in the order in which they were stored. */
export const pastEventsOf = (ctx: ProjectCtx, ids: UserId[], names: string[], until: Date): Promise<PastEvent[]> =>
  ctx.db.many(
    PastEvent,
    sql`select i.id as user_id, e.name, e.data, e.created_at, e.received_at, coalesce(e.source, 'api') as source, e.journey_id
        from unnest(${ids}::bigint[]) as i(id)
        cross join lateral (
          select name, data, created_at, received_at, seq, source, journey_id from events
          where project_id = ${ctx.projectId} and user_id = i.id and name = any(${names}::text[]) and received_at <= ${until}
          order by created_at desc, seq desc
          limit ${EVENTS_MAX} ${fence}
        ) e
        order by i.id, e.received_at, e.seq`,
  )

const UserIdRow = Type.Object({ user_id: IdOf<UserId>() })

/** Events are taken in this long after they happened, at most, to make users enter a journey. */
const AGE_MAX_MS = 3 * DAY_MS

/** The users with events of these names, or membership changes of these lists, that were received in a window, by id. */
export const usersWithPastEvents = (ctx: ProjectCtx, names: string[], listIds: number[], since: Date, until: Date) =>
  ctx.db.many(
    UserIdRow,
    sql`select distinct user_id from events
        where project_id = ${ctx.projectId} and received_at >= ${since} and received_at < ${until}
          and created_at >= ${new Date(since.getTime() - AGE_MAX_MS)}
          and (name = any(${names}::text[])
               or (source = 'system' and name in ('list_entered', 'list_left') and (data ->> 'list_id')::bigint = any(${listIds}::bigint[])))
        order by user_id`,
  )
