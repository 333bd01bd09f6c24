import { ApiError } from '../../lib/errors.ts'
import { atLeast } from '../../lib/roles.ts'
import type { ProjectCtx } from '../runtime/ctx.ts'

/**
 * Editors work on drafts; what makes something go out, lets people in, or touches what does, takes a publisher (D-ROLE-2).
 * The access of a route cannot say so, because it depends on what is in the body and in the row. Throws 403.
 */
export function requirePublisher({ caller }: ProjectCtx): void {
  if (caller.kind !== 'secret' || atLeast(caller.role, 'publisher')) return
  const message = 'Only drafts may be changed with this key. Use one with the role `publisher` or `admin`.'
  throw new ApiError('permission_denied', message, { reason: 'role' })
}
