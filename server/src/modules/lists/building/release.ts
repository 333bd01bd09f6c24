import type { InTx } from '../../../infra/runtime/ctx.ts'
import { releaseLists, scannedVersions } from './queries.ts'
import { dropMatches } from './scan.queries.ts'

/**
 * Separates the lists of a project that is being deleted from their versions, and drops the tables of their scans, so that all rows can be
 * deleted.
 */
export async function releaseVersions(ctx: InTx): Promise<void> {
  await releaseLists(ctx)
  for (const { id } of await scannedVersions(ctx)) await dropMatches(ctx, id)
}
