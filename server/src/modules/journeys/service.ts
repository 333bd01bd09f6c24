import { isDeepStrictEqual } from 'node:util'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import { requirePublisher } from '../../infra/http/require-publisher.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Fault, missing, refuse } from '../../lib/errors.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { readGraph, referencesOf } from './graph.ts'
import * as queries from './queries.ts'
import type { Journey, JourneyChanges, JourneyFields, JourneyInput, JourneyRow, StepRow, Steps } from './schema.ts'

/** Creates a journey. A status other than `draft` needs a publisher. Throws 403. */
export async function createJourney(ctx: ProjectCtx, input: JourneyInput): Promise<Journey> {
  const { name, status = 'draft', description = null, tags = [] } = input
  if (status !== 'draft') requirePublisher(ctx)
  return present(await queries.insertJourney(ctx, normalised({ name, status, description, tags })))
}

const normalised = ({ description, tags, ...rest }: JourneyFields): JourneyFields => ({
  ...rest,
  description: description === '' ? null : description,
  tags: distinct(tags),
})

export const listJourneys = async (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<Journey>> =>
  mapPage(await queries.listJourneys(ctx, page), present)

/** Throws 404. */
export async function getJourney(ctx: ProjectCtx, id: JourneyId): Promise<Journey> {
  const row = await queries.findJourney(ctx, id)
  if (!row) throw missing('journey')
  return present(row)
}

/** Locks a journey that this caller may change until the transaction ends. Throws 403, 404. */
async function lockEditable(ctx: InTx, id: JourneyId): Promise<JourneyRow> {
  const row = await queries.lockJourney(ctx, id)
  if (!row) throw missing('journey')
  if (row.status !== 'draft') requirePublisher(ctx)
  return row
}

/** Changes the given members. Throws 403, 404. */
export async function updateJourney(ctx: ProjectCtx, id: JourneyId, changes: JourneyChanges): Promise<Journey> {
  if (changes.status !== undefined && changes.status !== 'draft') requirePublisher(ctx)
  return inTx(ctx, async (ctx) => {
    const before = await lockEditable(ctx, id)
    const after = normalised({ ...fieldsOf(before), ...changes })
    if (isDeepStrictEqual(fieldsOf(before), after)) return present(before)
    return present(await queries.saveJourney(ctx, id, after))
  })
}

const fieldsOf = ({ name, status, description, tags }: JourneyRow): JourneyFields => ({ name, status, description, tags })

/** Archives a journey, so that no read finds it. Throws 403, 404. */
export function archiveJourney(ctx: ProjectCtx, id: JourneyId): Promise<void> {
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, id)
    await queries.archiveJourney(ctx, id)
  })
}

const present = ({ description, ...row }: JourneyRow): Journey => ({ ...row, ...(description !== null && { description }), stats: {} })

/** The steps of a journey. Throws 404. */
export async function getSteps(ctx: ProjectCtx, id: JourneyId): Promise<Steps> {
  const journey = await getJourney(ctx, id)
  return toMap(await queries.listSteps(ctx, journey.id))
}

/** Returns a fault for each reference to something that the project does not have. */
export type FindReferenceFaults = (ctx: ProjectCtx, references: ReturnType<typeof referencesOf>) => Promise<Fault[]>

/** Replaces the steps of a journey. Throws 400 and 422 with the faults of the steps, 403, 404. */
export async function replaceSteps(
  ctx: ProjectCtx,
  id: JourneyId,
  map: Record<string, unknown>,
  referenceFaults: FindReferenceFaults,
): Promise<Steps> {
  const { steps, faults } = readGraph(map)
  refuse(faults)
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, id)
    refuse(await referenceFaults(ctx, referencesOf(steps)))
    await queries.replaceSteps(ctx, id, steps)
    return toMap(await queries.listSteps(ctx, id))
  })
}

const toMap = (rows: StepRow[]): Steps => Object.fromEntries(rows.map(({ external_id, ...step }) => [external_id, { ...step, stats: {} }]))
