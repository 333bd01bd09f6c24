import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { OrganisationId } from '../../lib/ids.ts'
import { lockMembers } from './queries.ts'
import { countMembers } from './team.queries.ts'

const MEMBERS_MAX = 1000

/** Throws 429 if the organisation has the maximum number of members. Locks its members until the transaction ends. */
export async function requireMemberRoom(ctx: InTx<Ctx>, organisationId: OrganisationId): Promise<void> {
  await lockMembers(ctx, organisationId)
  if ((await countMembers(ctx as unknown as Ctx, organisationId)) >= MEMBERS_MAX)
    throw new ApiError('quota_exceeded', `An organisation may have at most ${MEMBERS_MAX} members.`)
}
