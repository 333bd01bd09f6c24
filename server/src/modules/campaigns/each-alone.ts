import { type FailedPieces, failedPiecesOf } from '../../infra/queue/failed-pieces.ts'
import type { Ctx, JobName, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId } from '../../lib/ids.ts'
import { inProject } from '../projects/index.ts'

/** Campaigns of a project that a job works on together. */
type Piece = { project_id: ProjectId; ids: CampaignId[] }

type Work<P extends Piece> = (ctx: ProjectCtx, piece: P) => Promise<number>

/** A campaign as a piece of work of its own. */
export const onItsOwn = <C extends { id: CampaignId }>(campaign: C) => ({ ...campaign, ids: [campaign.id] })

/** The campaigns that a job leaves out for a time, because its work on them failed. */
export const failedIn = (ctx: Ctx, job: JobName): CampaignId[] => failedPiecesOf(ctx, job).leftOut() as CampaignId[]

/**
 * Does the pieces of a job’s work, each in a context of its project. Returns how much was done. If a piece fails, that is logged and `failedIn`
 * has its campaigns for a time, so that all other campaigns go on. Throws if the database is away.
 */
export async function eachAlone<P extends Piece>(ctx: Ctx, job: JobName, pieces: P[], work: Work<P>): Promise<number> {
  const failed = failedPiecesOf(ctx, job)
  let done = 0
  for (const piece of pieces) done += await alone(ctx, failed, piece, work)
  return done
}

async function alone<P extends Piece>(ctx: Ctx, failed: FailedPieces, piece: P, work: Work<P>): Promise<number> {
  const { project_id, ids } = piece
  const startedMs = performance.now()
  try {
    const done = await inProject(ctx, project_id, (ctx) => work(ctx, piece))
    failed.succeed(ids)
    return done
  } catch (error) {
    failed.fail(ids, error, startedMs, { project_id, campaign_ids: ids })
    return 0
  }
}
