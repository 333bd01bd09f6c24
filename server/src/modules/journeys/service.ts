import { isDeepStrictEqual } from 'node:util'
import type { PageOf, PageRequest } from '../../infra/http/paging.ts'
import { requirePublisher } from '../../infra/http/require-publisher.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault, missing } from '../../lib/errors.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { type ArchivedQuery, distinct } from '../../lib/shapes.ts'
import { hasUsersInside } from '../positions/index.ts'
import { SWEEP } from './job-names.ts'
import { lockEditable } from './lock.ts'
import { presentJourney, presentJourneys } from './present.ts'
import * as queries from './queries.ts'
import { freeAllPlaces } from './rates.queries.ts'
import type { Journey, JourneyChanges, JourneyFields, JourneyInput, JourneyRow } from './schema.ts'
import { continueSchedules, startSchedules } from './sweeps/entrances.ts'
import { deleteExisting, deleteExits, deleteSweeps, insertSweep, limitExits, parkSchedules, startExisting } from './sweeps/queries.ts'
import { replaceSettings } from './versions/drafts.ts'
import { publishDraft } from './versions/publish.ts'
import { findByStatus } from './versions/queries.ts'
import type { FindReferenceFaults } from './versions/readiness.ts'

/** Creates a journey. A status other than `draft` needs a publisher. Throws 403. */
export async function createJourney(ctx: ProjectCtx, input: JourneyInput): Promise<Journey> {
  const { name, status = 'draft', description = null, tags = [] } = input
  if (status !== 'draft') requirePublisher(ctx)
  return presentJourney(ctx, await queries.insertJourney(ctx, normalised({ name, status, description, tags })))
}

const normalised = ({ description, tags, ...rest }: JourneyFields): JourneyFields => ({
  ...rest,
  description: description === '' ? null : description,
  tags: distinct(tags),
})

export async function listJourneys(ctx: ProjectCtx, page: PageRequest, { archived }: ArchivedQuery = {}): Promise<PageOf<Journey>> {
  const found = await queries.listJourneys(ctx, page, archived === 'true')
  return { ...found, results: await presentJourneys(ctx, found.results) }
}

/** Throws 404. */
export async function getJourney(ctx: ProjectCtx, id: JourneyId): Promise<Journey> {
  const row = await queries.findJourney(ctx, id)
  if (!row) throw missing('journey')
  return presentJourney(ctx, row)
}

/** Changes the given members. Settings are those of the draft. Throws 403, 404, and 422 for a status that the journey cannot get. */
export async function updateJourney(ctx: ProjectCtx, id: JourneyId, input: JourneyChanges, find: FindReferenceFaults): Promise<Journey> {
  const { settings, ...changes } = input
  if (changes.status !== undefined && changes.status !== 'draft') requirePublisher(ctx)
  return inTx(ctx, async (ctx) => {
    const before = await lockEditable(ctx, id)
    if (settings !== undefined) await replaceSettings(ctx, id, settings, find)
    const after = normalised({ ...fieldsOf(before), ...changes })
    if (after.status !== before.status) await changeStatus(ctx, before, after.status, find)
    if (!isDeepStrictEqual(fieldsOf(before), after)) await queries.saveJourney(ctx, id, after)
    return presentJourney(ctx, (await queries.findJourney(ctx, id)) as JourneyRow)
  })
}

/** What a new status means for the graph and for users inside (D-JRN-1). Throws 422. */
async function changeStatus(ctx: InTx, before: JourneyRow, status: JourneyRow['status'], find: FindReferenceFaults): Promise<void> {
  if (status === 'draft' && (await hasUsersInside(ctx, before.id)))
    throw fault('validation_failed', 'status', 'Users are inside. Set `status` to `off` and wait until they finish, or stop the journey.')
  if (status !== 'live') return
  // A journey that was off continues with its earlier version; its draft stays a draft.
  if (before.status === 'draft' || before.live_version === null) await publishDraft(ctx, before, find)
  // Those who are still inside stay: what was planned when it was switched off does not happen any more.
  await deleteExits(ctx, before.id)
  await startExisting(ctx, before.id)
  ctx.wake(SWEEP)
}

const fieldsOf = ({ name, status, description, tags }: JourneyRow): JourneyFields => ({ name, status, description, tags })

/** Archives a journey, so that only the listing of archived journeys shows it. Users inside exit. Throws 403, 404. */
export function archiveJourney(ctx: ProjectCtx, id: JourneyId): Promise<void> {
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, id)
    await queries.archiveJourney(ctx, id)
    // Schedules are kept: one without a start of its own would get another by starting again.
    await parkSchedules(ctx, id)
    await deleteSweeps(ctx, id, ['publish', 'exit', 'resume'])
    await deleteExisting(ctx, id)
    const before = ctx.clock.now()
    await insertSweep(ctx, id, { kind: 'exit', params: { reason: 'archived', before: before.toISOString() } }, before)
    // All users exit. Last, because sweeps lock themselves and then the places.
    await freeAllPlaces(ctx, id)
    ctx.wake(SWEEP)
  })
}

/**
 * Restores an archived journey. If it was live, it is off now. Users who were inside have exited or still exit. A journey that is not
 * archived stays as it is. Throws 403, 404.
 */
export const unarchiveJourney = (ctx: ProjectCtx, id: JourneyId): Promise<Journey> =>
  inTx(ctx, async (ctx) => {
    const archived = await queries.lockArchived(ctx, id)
    if (!archived) return getJourney(ctx, id)
    if (archived.status !== 'draft') requirePublisher(ctx)
    await queries.unarchiveJourney(ctx, id)
    await limitExits(ctx, id)
    const live = await findByStatus(ctx, id, 'live')
    await continueSchedules(ctx, id)
    // Those of journeys that an earlier release archived.
    if (live) await startSchedules(ctx, id, live.steps)
    ctx.wake(SWEEP)
    return getJourney(ctx, id)
  })
