import { type FailedPieces, failedPiecesOf } from '../../infra/queue/failed-pieces.ts'
import { type Ctx, type InTx, inTx, type JobName, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { inProject } from './service.ts'

/** What a job works on together: rows of a project, such as campaigns, by their ids. */
type Piece = { project_id: ProjectId; ids: number[] }

type Work<P extends Piece> = (ctx: ProjectCtx, piece: P) => Promise<number>

/** A row as a piece of work of its own. */
export const onItsOwn = <R extends { id: number }>(row: R) => ({ ...row, ids: [row.id] })

/** All that a job does in a project, as a piece of work. */
export const ofProject = ({ project_id }: { project_id: ProjectId }) => ({ project_id, ids: [project_id as number] })

/** The ids that a job leaves out for a time, because its work on them failed. */
export const failedIn = <I extends number>(ctx: Ctx, job: JobName): I[] => failedPiecesOf(ctx, job).leftOut() as I[]

/**
 * Does the pieces of a job’s work, each in a context of its project. Returns how much was done. If a piece fails, that is logged and `failedIn`
 * has its ids for a time, so that the work for all others goes on. Throws if the database is away.
 */
export async function eachAlone<P extends Piece>(ctx: Ctx, job: JobName, pieces: P[], work: Work<P>): Promise<number> {
  const failed = failedPiecesOf(ctx, job)
  let done = 0
  for (const piece of pieces) done += await alone(ctx, failed, piece, work)
  return done
}

/**
 * Does the pieces that `find` finds, until some work was done. Returns how much. `find` leaves out the ids that it is given, so that others are
 * found even if all that it finds at once fail.
 */
export async function eachFoundAlone<P extends Piece>(
  ctx: Ctx,
  job: JobName,
  find: (leftOut: P['ids']) => Promise<P[]>,
  work: Work<P>,
): Promise<number> {
  const tried: P['ids'] = []
  for (;;) {
    const found = await find([...failedIn(ctx, job), ...tried])
    if (found.length === 0) return 0
    const done = await eachAlone(ctx, job, found, work)
    if (done > 0) return done
    tried.push(...found.flatMap(({ ids }) => ids))
  }
}

/** Does a job’s work in the projects that `findDue` finds, each in a transaction, as `eachFoundAlone` does. */
export const eachProjectAlone = (
  ctx: Ctx,
  job: JobName,
  findDue: (leftOut: ProjectId[]) => Promise<{ project_id: ProjectId }[]>,
  work: (ctx: InTx) => Promise<number>,
): Promise<number> =>
  eachFoundAlone(
    ctx,
    job,
    async (leftOut) => (await findDue(leftOut as ProjectId[])).map(ofProject),
    (ctx) => inTx(ctx, work),
  )

/**
 * Works on what `claim` locks, in the same transaction. Returns how much was done. If that fails, it is tried with the next, and the project of
 * the one that failed is left out for a time. Throws if the database is away.
 */
export async function claimAlone<R extends { project_id: ProjectId }>(
  ctx: Ctx,
  job: JobName,
  claim: (ctx: InTx<Ctx>, leftOut: ProjectId[]) => Promise<R | undefined>,
  work: (ctx: InTx<Ctx>, claimed: R) => Promise<number>,
): Promise<number> {
  const failed = failedPiecesOf(ctx, job)
  const tried: ProjectId[] = []
  for (;;) {
    const startedMs = performance.now()
    const leftOut = [...failedIn<ProjectId>(ctx, job), ...tried]
    const claimed: { row?: R } = {}
    try {
      const done = await inTx(ctx, async (ctx) => {
        const row = await claim(ctx, leftOut)
        if (!row) return 0
        claimed.row = row
        return work(ctx, row)
      })
      if (claimed.row) failed.succeed([claimed.row.project_id])
      return done
    } catch (error) {
      if (!claimed.row) throw error
      const { project_id } = claimed.row
      failed.fail([project_id], error, startedMs, { project_id })
      tried.push(project_id)
    }
  }
}

async function alone<P extends Piece>(ctx: Ctx, failed: FailedPieces, piece: P, work: Work<P>): Promise<number> {
  const { project_id, ids } = piece
  const startedMs = performance.now()
  try {
    const done = await inProject(ctx, project_id, (ctx) => work(ctx, piece))
    failed.succeed(ids)
    return done
  } catch (error) {
    failed.fail(ids, error, startedMs, { project_id, ids })
    return 0
  }
}
