/** Journeys in tests: graphs that can be published, and users who are put inside past the engine. */
import { expect } from 'vitest'
import type { JourneyItem } from '../src/modules/journeys/queue-items.ts'
import { select } from './select.ts'
import type { Reply, World } from './world.ts'

const JOURNEYS = '/api/client/journeys'

const at = (y: number) => ({ x: 0, y })

/** Steps that can be published: users enter by an event or a request, wait and leave. */
export const READY = {
  start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' }, children: [{ external_id: 'w1' }] },
  api: { type: 'entrance', ...at(1), data: { trigger: 'api' }, children: [{ external_id: 'w1' }] },
  w1: { type: 'delay', ...at(2), data: { format: 'duration', hours: 48 }, children: [{ external_id: 'out' }] },
  out: { type: 'exit', ...at(3) },
}

/** The same with another delay, or with further steps after it. */
export const readyWith = (hours: number, more: object = {}) => ({
  ...READY,
  w1: { ...READY.w1, data: { format: 'duration', hours } },
  ...more,
})

export type JourneyClient = Awaited<ReturnType<typeof createJourney>>

/** Creates a journey, with steps if there are some. A live one goes live with them. */
export async function createJourney(w: World, body: object = {}, steps?: object) {
  const created = await w.post(JOURNEYS, { name: 'Welcome', ...body })
  expect(created.status, created.text).toBe(201)
  const id = created.body.id as number
  const path = `${JOURNEYS}/${id}`
  if (steps) {
    const put = await w.put(`${path}/steps`, steps)
    expect(put.status, put.text).toBe(200)
  }
  return {
    id,
    path,
    read: async () => (await w.get(path)).body,
    put: (steps: object): Promise<Reply> => w.put(`${path}/steps`, steps),
    post: (action: string, body: object = {}): Promise<Reply> => w.post(`${path}/${action}`, body),
    get: async (what: string) => (await w.get(`${path}/${what}`)).body,
  }
}

/** The id of a user. */
export async function userIdOf(w: World, name: string): Promise<number> {
  return (await w.get(`/api/client/users/${name}`)).body.id
}

type Inside = { user: string; step?: string; version?: number; arrived?: Date; held?: boolean; key?: string }

/** Puts a user inside a journey, past the engine. Returns the id of the entrance. */
export async function putInside(
  w: World,
  journey: { id: number },
  { user, step = 'w1', version = 1, arrived, held = false, key }: Inside,
): Promise<number> {
  const userId = await userIdOf(w, user)
  const when = arrived ?? w.clock.now()
  const [row] = await select(
    w,
    `insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, is_held, entered_at,
                                    arrived_at, acted_at, due_at, slot, key, cause, event, trail)
     select $1, $2, $3, $4, s.id, $5, 2, 0, $6, $7, $7, $7, $8, $9, $9, 'event:1-0', '{"name": "cart", "data": {}}',
            json_build_array(json_build_array($10::text, 2, $11::bigint))
     from journey_steps s where s.project_id = $1 and s.journey_id = $4 and s.external_id = $10::text
     returning entrance_id`,
    [
      w.projectId,
      userId,
      userId * 10 + (key ? 1 : 0),
      journey.id,
      version,
      held,
      when,
      new Date(when.getTime() + 172_800_000),
      key ?? '',
      step,
      when.getTime(),
    ],
  )
  await select(
    w,
    `insert into journey_users (project_id, user_id, journey_id, entered, active, first_entered_at, last_entered_at)
     values ($1, $2, $3, 1, 1, $4, $4)
     on conflict (project_id, user_id, journey_id) do update set entered = journey_users.entered + 1, active = journey_users.active + 1`,
    [w.projectId, userId, journey.id, when],
  )
  return Number(row?.entrance_id)
}

/** The items of journeys that wait in the ingest queue. */
export async function queuedItems(w: World): Promise<JourneyItem[]> {
  const rows = await select(
    w,
    `select convert_from(body, 'UTF8') as body from queue_entries where project_id = $1 and kind = 'journeys' order by position`,
    [w.projectId],
  )
  return rows.flatMap(({ body }) => JSON.parse(body as string))
}

/** Empties the ingest queue, so that items of tests without the engine are not applied. */
export const dropQueue = (w: World) => select(w, 'delete from queue_entries where project_id = $1', [w.projectId])

/** A static list with these users. */
export async function listOf(w: World, ...names: string[]): Promise<number> {
  const { id } = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body
  await w.post(`/api/client/lists/${id}/users`, { external_ids: names })
  await w.drain()
  return id
}

/** Steps by which the users of a list enter on schedule, as often as it comes. */
export const scheduled = (list_id: number, zone: 'project' | 'user' = 'project', schedule = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0') => ({
  ...READY,
  start: { ...READY.start, data: { trigger: 'schedule', list_id, schedule, zone, multiple: true, concurrent: true } },
})

/** When the sweeps of a journey are due. */
export const nextAt = async (w: World, { id }: { id: number }): Promise<string[]> =>
  (await select(w, 'select next_at from journey_sweeps where journey_id = $1 order by id', [id])).map(({ next_at }) =>
    (next_at as Date).toISOString(),
  )
