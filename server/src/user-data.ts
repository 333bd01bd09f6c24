/**
 * Everything about one user, over all modules: the export that a user may ask for, and the numbers of the receipt of an erasure. A house test
 * reads the catalogue of the database and fails when a table with users is in neither list.
 */

import type { Download } from './infra/http/route.ts'
import type { Row, UserStore } from './infra/postgres/user-data.ts'
import { parkedItemsOf } from './infra/queue/erasing.ts'
import type { ProjectCtx } from './infra/runtime/ctx.ts'
import { ApiError } from './lib/errors.ts'
import type { ProjectId, UserId } from './lib/ids.ts'
import { activityStores } from './modules/activity/index.ts'
import { eventStores } from './modules/events/index.ts'
import { importStores } from './modules/imports/index.ts'
import { inboxStores } from './modules/inbox/index.ts'
import { journeyStores } from './modules/journeys/index.ts'
import { listStores } from './modules/lists/index.ts'
import { emailsOf, messageStores } from './modules/messages/index.ts'
import { positionStores } from './modules/positions/index.ts'
import { subscriptionStores, suppressionsWithSource } from './modules/subscriptions/index.ts'
import { trackingStores } from './modules/tracking/index.ts'
import { contactsWithMerged, idsWithMerged, namesOfUser, requireUser, type UserRow, userStores } from './modules/users/index.ts'

/** What the modules store about users, in the order of the export. */
export const USER_STORES: readonly UserStore[] = [
  ...userStores,
  ...subscriptionStores,
  ...listStores,
  ...eventStores,
  ...activityStores,
  ...messageStores,
  ...inboxStores,
  ...trackingStores,
  ...positionStores,
  ...journeyStores,
  ...importStores,
]

const EXPORTS_AT_ONCE = 3
const RETRY_AFTER_S = 10

/** The exports that this process sends, by project. */
const running = new Map<ProjectId, number>()

/** Everything about a user as JSON, read while it is sent. Throws 404, and 429 if the project has several exports under way. */
export async function exportUser(ctx: ProjectCtx, name: string): Promise<Download> {
  const user = await requireUser(ctx, name)
  const under = running.get(ctx.projectId) ?? 0
  if (under >= EXPORTS_AT_ONCE) {
    throw new ApiError('rate_limited', `A project may run at most ${EXPORTS_AT_ONCE} user exports at a time. Try again in a few seconds.`, {
      headers: { 'retry-after': String(RETRY_AFTER_S) },
    })
  }
  return { filename: `user-${user.id}.json`, parts: counted(ctx.projectId, partsOf(ctx, user)) }
}

/** Counts an export while it is sent. */
async function* counted(projectId: ProjectId, parts: AsyncIterable<string>): AsyncGenerator<string> {
  running.set(projectId, (running.get(projectId) ?? 0) + 1)
  try {
    yield* parts
  } finally {
    const left = (running.get(projectId) ?? 1) - 1
    if (left === 0) running.delete(projectId)
    else running.set(projectId, left)
  }
}

async function* partsOf(ctx: ProjectCtx, user: UserRow): AsyncGenerator<string> {
  const ids = await idsWithMerged(ctx, user.id)
  yield `{"exported_at":${JSON.stringify(ctx.clock.now())},"user_id":${user.id}`
  for (const { name, pages } of USER_STORES) yield* member(name, pages(ctx, ids))
  const contacts = await contactsWithMerged(ctx, user.id)
  yield* member('emails', emailsOf(ctx, ids, contacts))
  yield* member('suppressions', onePage(await suppressionsWithSource(ctx, contacts)))
  yield* member('refused_items', parkedItemsOf(ctx, await namesOfUser(ctx, user.id)))
  yield '}\n'
}

async function* member(name: string, pages: AsyncIterable<Row[]>): AsyncGenerator<string> {
  yield `,\n"${name}":[`
  let isFirst = true
  for await (const rows of pages) {
    yield (isFirst ? '\n' : ',\n') + rows.map((row) => JSON.stringify(row)).join(',\n')
    isFirst = false
  }
  yield ']'
}

async function* onePage(rows: Row[]): AsyncGenerator<Row[]> {
  if (rows.length > 0) yield rows
}

/** How many rows each store has of these users. */
export async function countUserData(ctx: ProjectCtx, ids: UserId[]): Promise<Record<string, number>> {
  const counts: [string, number][] = []
  for (const { name, count } of USER_STORES) counts.push([name, await count(ctx, ids)])
  return Object.fromEntries(counts)
}
