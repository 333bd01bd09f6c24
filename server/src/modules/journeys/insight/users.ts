/** The users of a journey. */
import { mapPage, type PageOf, type PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault, missing } from '../../../lib/errors.ts'
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { type InsideRow, type KnownRow, listEnded, listInside, placesOf } from '../../positions/index.ts'
import { findLiveUsers, requireUser } from '../../users/index.ts'
import { findJourney, findJourneyIds, journeyNames } from '../queries.ts'
import type { JourneysOfUser, JourneyUser, UsersQuery } from './schema.ts'

/** Lists the users of a journey: those inside once per entrance, and others once. Throws 404, 422. */
export async function listUsers(
  ctx: ProjectCtx,
  id: JourneyId,
  { step, state = 'inside' }: UsersQuery,
  page: PageRequest,
): Promise<PageOf<JourneyUser>> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  if (state === 'inside' || state === 'parked') {
    const found = await listInside(ctx, id, { step, isParked: state === 'parked' }, page)
    const userOf = await usersOf(ctx, found.results)
    return mapPage(found, (row) => inside(row, userOf(row.user_id)))
  }
  if (step !== undefined) throw fault('validation_failed', 'step', 'Only users who are inside the journey are at a step. Omit `step`.')
  const found = await listEnded(ctx, id, state, page)
  const userOf = await usersOf(ctx, found.results)
  return mapPage(found, (row) => ended(row, state, userOf(row.user_id)))
}

const PLACES_MAX = 100

/** The journeys in which a user is. Throws 404. */
export async function journeysOf(ctx: ProjectCtx, name: string): Promise<JourneysOfUser> {
  const user = await requireUser(ctx, name)
  const places = await placesOf(ctx, user.id, PLACES_MAX)
  const ids = distinct(places.map(({ journey_id }) => journey_id))
  const live = new Set<number>(ids.length === 0 ? [] : await findJourneyIds(ctx, ids))
  const names = await journeyNames(ctx, ids)
  const results = places
    .filter(({ journey_id }) => live.has(journey_id))
    .map(({ journey_id, entrance_id, version, external_id: step, key, is_held, parked, entered_at, arrived_at, due_at }) => ({
      journey_id,
      journey_name: names.get(journey_id) ?? '',
      entrance_id,
      version,
      step,
      ...(key !== null && { key }),
      ...(is_held && { held: true }),
      ...(parked !== null && { parked }),
      entered_at,
      arrived_at,
      ...(due_at !== null && { due_at }),
    }))
  return { results }
}

type UserRef = JourneyUser['user']

async function usersOf(ctx: ProjectCtx, rows: { user_id: UserId }[]): Promise<(id: UserId) => UserRef> {
  const users = await findLiveUsers(
    ctx,
    rows.map(({ user_id }) => user_id),
  )
  return (id) => ({ id: users.get(id)?.id ?? id, external_id: users.get(id)?.external_id ?? null })
}

const inside = (row: InsideRow, user: UserRef): JourneyUser => ({
  user,
  state: 'inside',
  entrance_id: row.entrance_id,
  version: row.version,
  step: row.external_id,
  visit: row.visit,
  ...(row.key !== null && { key: row.key }),
  ...(row.is_held && { held: true }),
  ...(row.parked !== null && { parked: row.parked }),
  entered_at: row.entered_at,
  arrived_at: row.arrived_at,
  ...(row.due_at !== null && { due_at: row.due_at }),
})

const ended = (row: KnownRow, state: 'completed' | 'exited' | 'held_out', user: UserRef): JourneyUser => ({
  user,
  state,
  ...(row.last_entered_at !== null && { entered_at: row.last_entered_at }),
  ...(row.last_ended_at !== null && { ended_at: row.last_ended_at }),
})
