/** The events of a user, latest first. */
import { type Static, Type } from 'typebox'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { Exact, IdOf, OneOf, Timestamp } from '../../lib/shapes.ts'
import { findIdsOf, hiddenKeysOf, requireUser } from '../users/index.ts'
import { EVENT_SOURCES } from './event.ts'
import { readRange } from './range.ts'
import * as queries from './reading.queries.ts'

export const TimelineItem = Exact({
  name: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Attributes of the event.' }),
  created_at: Timestamp,
  received_at: Timestamp,
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey that wrote or caused the event; absent for other events.' })),
  source: OneOf(EVENT_SOURCES, {
    description: '`api` for an event from a request, `system` for one that Carillon wrote itself. A request cannot set the source.',
  }),
})
type TimelineItem = Static<typeof TimelineItem>

/** A page of the events of a user and of the users merged into it. Throws 404. */
export async function listTimeline(
  ctx: ProjectCtx,
  user: string,
  { name, ...range }: { name?: string; since?: string; until?: string },
  page: PageRequest,
): Promise<PageOf<TimelineItem>> {
  const wanted = { ...readRange(range), ...(name !== undefined && { name }) }
  const { id } = await requireUser(ctx, user)
  const ids = await findIdsOf(ctx, id)
  const hidden = await hiddenKeysOf(ctx)
  const found = await inTx(ctx, async (ctx) => {
    await queries.followIndex(ctx)
    return queries.listEvents(ctx, ids, wanted, page, hidden)
  })
  return mapPage(found, ({ seq: _, journey_id, ...item }) => ({ ...item, ...(journey_id !== null && { journey_id }) }))
}
