/** Deleting what is old, in every store, and what has to stay although it is. */

import { type AgedRows, projectsWithOldRows, ROWS_AT_ONCE } from './infra/queue/aged-rows.ts'
import { parkedStore } from './infra/queue/parked.ts'
import { oldBefore, projectsWithOld, removeNext, type Store } from './infra/queue/retention.ts'
import type { Ctx, JobName } from './infra/runtime/ctx.ts'
import { deleteCounters } from './infra/runtime/quota.ts'
import type { ProjectId } from './lib/ids.ts'
import { distinct } from './lib/shapes.ts'
import { requestStore } from './modules/api-log/index.ts'
import { blastsNotOver } from './modules/campaigns/index.ts'
import { backtestStore, keyRows } from './modules/journeys/index.ts'
import { sizeRows } from './modules/lists/index.ts'
import { type FindNeeded, messageStore, sandboxRows } from './modules/messages/index.ts'
import { mailStore } from './modules/mta/index.ts'
import { insideAmong } from './modules/positions/index.ts'
import { eachProjectAlone } from './modules/projects/index.ts'
import { confirmationStore } from './modules/subscriptions/index.ts'
import { clickRows } from './modules/tracking/index.ts'

/**
 * A blast that is not over knows by its messages who has got it, and an entrance that has not ended what became of the messages of its
 * steps.
 */
const findNeeded: FindNeeded = async (ctx, messages) => {
  const blasts = new Set((await blastsNotOver(ctx, distinct(messages.map(({ campaign_id }) => campaign_id)))).map(({ id }) => id))
  const sent = messages.flatMap(({ user_id, entrance_id }) => (entrance_id === null ? [] : [{ user_id, entrance_id }]))
  const inside = sent.length === 0 ? [] : await insideAmong(ctx, sent)
  const entrances = new Set(inside.map(({ entrance_id }) => entrance_id))
  return new Set(
    messages
      .filter(({ campaign_id, entrance_id }) => blasts.has(campaign_id) || (entrance_id !== null && entrances.has(entrance_id)))
      .map(({ id }) => id),
  )
}

export const STORES: readonly Store[] = [messageStore(findNeeded), mailStore, confirmationStore, backtestStore, parkedStore, requestStore]

const COUNTERS_KEPT_DAYS = 400

export const AGED: readonly AgedRows[] = [
  sandboxRows,
  clickRows,
  keyRows,
  sizeRows,
  { name: 'usage_counters', column: 'period', days: () => COUNTERS_KEPT_DAYS, remove: deleteCounters },
]

/** Each store has its own failures: a project of which one cannot be cleaned is not left out of the others. */
const jobOf = (store: { name: string }): JobName => ({ name: `retention.${store.name}` })

/** Deletes one batch of old rows in each project that has some. Returns the number of rows that were checked. */
export async function removeOld(ctx: Ctx): Promise<number> {
  let looked = 0
  for (const store of STORES) {
    const before = oldBefore(ctx, store)
    if (before === null) continue
    const findDue = (leftOut: ProjectId[]) => projectsWithOld(ctx, store, before, leftOut)
    looked += await eachProjectAlone(ctx, jobOf(store), findDue, (ctx) => removeNext(ctx, store, before))
  }
  for (const rows of AGED) {
    const before = oldBefore(ctx, rows)
    if (before === null) continue
    const findDue = (leftOut: ProjectId[]) => projectsWithOldRows(ctx, rows, before, leftOut)
    looked += await eachProjectAlone(ctx, jobOf(rows), findDue, (ctx) => rows.remove(ctx, before, ROWS_AT_ONCE))
  }
  return looked
}
