/**
 * A large batch of the log is divided among lanes that are applied at the same time. What concerns the same person is in one lane,
 * in order. The division is stored before the lanes begin and each lane commits with a mark, so that after a crash the lanes
 * that were done are not done again, and the others are.
 */
import { type Static, Type } from 'typebox'
import type { ProjectId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'
import { type ClaimedRequest, ClaimedRow } from './queue.ts'

/**
 * Which lane each item belongs to. Items that share a key, also by way of others, are in one lane; a group goes to the
 * lane that has least so far.
 */
export function divide(keys: string[][], lanes: number): Uint8Array {
  const groupOf = groups(keys)
  const sizes = new Map<number, number>()
  for (const group of groupOf) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const loads = Array.from({ length: lanes }, () => 0)
  const laneOf = new Map<number, number>()
  return Uint8Array.from(groupOf, (group) => {
    const known = laneOf.get(group)
    if (known !== undefined) return known
    const lane = loads.indexOf(Math.min(...loads))
    loads[lane] = (loads[lane] ?? 0) + (sizes.get(group) ?? 0)
    laneOf.set(group, lane)
    return lane
  })
}

/** The group of each item, named by its first item. */
function groups(keys: string[][]): number[] {
  const parents = keys.map((_, index) => index)
  const root = (index: number): number => {
    let at = index
    while (parents[at] !== at) {
      parents[at] = parents[parents[at] as number] as number
      at = parents[at] as number
    }
    return at
  }
  const holders = new Map<string, number>()
  for (const [index, own] of keys.entries()) {
    for (const key of own) {
      const holder = holders.get(key)
      if (holder === undefined) holders.set(key, index)
      else parents[root(index)] = root(holder)
    }
  }
  return keys.map((_, index) => root(index))
}

const WindowRow = Type.Object({ id: Type.Integer(), positions: Type.Array(Type.Integer()), lanes: Type.Unsafe<Buffer>({}) })
export type Window = Static<typeof WindowRow>

/** What was begun and not finished, because its process died. */
export const findWindow = (ctx: Ctx, projectId: ProjectId) =>
  ctx.db.first(WindowRow, sql`select id, positions, lanes from processing_windows where project_id = ${projectId}`)

/** Writes down how a batch is divided, before the first lane begins: not in the transaction that ends it. */
export const openWindow = async (ctx: Ctx, projectId: ProjectId, positions: number[], lanes: Uint8Array): Promise<Window> => {
  const window = await ctx.db.first(
    WindowRow,
    sql`insert into processing_windows (project_id, positions, lanes, created_at)
        values (${projectId}, ${positions}::bigint[], ${Buffer.from(lanes)}, ${ctx.clock.now()})
        returning id, positions, lanes`,
  )
  if (!window) throw new Error('The window was not stored.')
  return window
}

/** The requests of a window, in order. */
export const requestsOf = (ctx: Ctx, projectId: ProjectId, positions: number[]): Promise<ClaimedRequest[]> =>
  ctx.db.all(
    ClaimedRow,
    sql`select position, kind, user_id, request_id, received_at, body from accepted_requests
        where project_id = ${projectId} and position = any(${positions}::bigint[]) order by position`,
  )

/** Marks a lane in the transaction that applies it. False when it is done, or the window is over: somebody else was here. */
export const beginLane = async (ctx: InTx<Ctx>, projectId: ProjectId, windowId: number, lane: number): Promise<boolean> =>
  (await ctx.db.run(
    sql`insert into processing_lanes (project_id, window_id, lane)
        select project_id, id, ${lane}::smallint from processing_windows where project_id = ${projectId} and id = ${windowId} for key share
        on conflict do nothing`,
  )) > 0

/** Forgets a window whose lanes are all done. */
export const closeWindow = (ctx: InTx<Ctx>, projectId: ProjectId, windowId: number) =>
  ctx.db.run(sql`delete from processing_windows where project_id = ${projectId} and id = ${windowId}`)
