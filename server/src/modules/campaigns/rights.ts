import type { ProjectCtx } from '../../infra/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import { atLeast } from '../../lib/roles.ts'

/** Editors work on drafts; what makes a campaign go out, or touches one that does, takes a publisher (D-ROLE-2). Throws 403. */
export function requirePublisher({ caller }: ProjectCtx): void {
  if (caller.kind !== 'secret' || atLeast(caller.role, 'publisher')) return
  const message = 'Only drafts may be changed with this key. Use one with the role `publisher` or `admin`.'
  throw new ApiError('permission_denied', message, { reason: 'role' })
}
