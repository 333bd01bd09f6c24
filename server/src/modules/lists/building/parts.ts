/**
 * A step of a build does its work in two parts at the same time, on two connections, which takes half as long on an idle machine. The
 * transaction of the step has the first part, holds the locks, and ends last. If it fails after the other one has committed, the next step
 * finds the part that counts for nothing.
 */

import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId } from '../../../lib/ids.ts'
import type { Part } from './parts.queries.ts'
import * as queries from './parts.queries.ts'

export type { Part } from './parts.queries.ts'

/** Runs `work` for the first part in the transaction of the step, and for the others in their own. Returns when all have ended. */
export async function eachPart<T>(
  step: InTx,
  outside: ProjectCtx,
  id: ListVersionId,
  parts: Part[],
  work: (ctx: InTx, part: Part) => Promise<T>,
): Promise<T[]> {
  const inOwnTx = (part: Part) =>
    inTx(outside, async (ctx) => {
      await queries.holdPart(ctx, id)
      await queries.notePart(ctx, id, part)
      return work(ctx, part)
    })
  const ended = await Promise.allSettled(parts.map((part, index) => (index === 0 ? work(step, part) : inOwnTx(part))))
  return ended.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
}

/**
 * Deletes and returns the parts that earlier steps have committed. The caller, who has locked the version, undoes those whose step did not
 * commit.
 */
export async function takeParts(ctx: InTx, id: ListVersionId): Promise<Part[]> {
  await queries.waitForParts(ctx, id)
  return queries.takeParts(ctx, id)
}

/**
 * Halves of a range, or the range itself if it is shorter than `least`. `end` is where the work in the range ends, if that is known, so
 * that both halves have the same amount of work.
 */
export function halves({ partition, after, until }: Part, least: number, end = until): Part[] {
  if (until - after < Math.max(2, least)) return [{ partition, after, until }]
  const middle = Math.floor((after + (end > after ? Math.min(end, until) : until)) / 2)
  if (middle === after) return [{ partition, after, until }]
  return [
    { partition, after, until: middle },
    { partition, after: middle, until },
  ]
}
