/** How many users lists had: stored once a day, and kept for some time. */
import type { AgedRows } from '../../../infra/queue/aged-rows.ts'
import { type Ctx, inClaim, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ProjectId } from '../../../lib/ids.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { dayOf } from '../../events/index.ts'
import { eachProjectAlone } from '../../projects/index.ts'
import { NOTE_SIZES } from '../job-names.ts'
import * as queries from './queries.ts'
import type { ListSizes, ListTags, SizesQuery } from './schema.ts'

const PROJECTS_AT_ONCE = 20
const KEPT_DAYS = 400
const SHOWN_DAYS = 30
const TAGS_MAX = 200

/** Stores today’s list sizes for some projects that have none of today. Returns the number of sizes. */
export async function noteSizes(ctx: Ctx): Promise<number> {
  const today = dayOf(ctx.clock.now())
  const findDue = (leftOut: ProjectId[]) => inClaim(ctx, (ctx) => queries.projectsWithoutSizes(ctx, today, leftOut, PROJECTS_AT_ONCE))
  return eachProjectAlone(ctx, NOTE_SIZES, findDue, (ctx) => queries.insertSizes(ctx, today))
}

export const sizeRows: AgedRows = { name: 'list_days', column: 'day', days: () => KEPT_DAYS, remove: queries.deleteSizes }

/** The sizes of these lists in the last 30 days. */
export async function readSizes(ctx: ProjectCtx, { list_ids }: SizesQuery): Promise<ListSizes> {
  const since = dayOf(new Date(ctx.clock.now().getTime() - (SHOWN_DAYS - 1) * DAY_MS))
  const rows = await queries.sizesOf(ctx, list_ids.split(',').map(Number) as ListId[], since)
  const byList = Map.groupBy(rows, ({ list_id }) => list_id)
  return { since, results: [...byList].map(([list_id, days]) => ({ list_id, days: days.map(({ day, users }) => ({ day, users })) })) }
}

export const readTags = async (ctx: ProjectCtx): Promise<ListTags> => ({ results: await queries.tagsOf(ctx, TAGS_MAX) })
