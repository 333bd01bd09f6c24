import { ApiError } from '../../lib/errors.ts'
import { atLeast } from '../../lib/roles.ts'
import type { ProjectCtx } from '../runtime/ctx.ts'

/**
 * Editors may change drafts. Starting or stopping a send, letting users in, or changing what is running needs `publisher`
 * (D-ROLE-2). This depends on the body and the stored state, so `access` of the route cannot express it. Throws 403.
 */
export function requirePublisher({ caller }: ProjectCtx): void {
  if (caller.kind !== 'secret' || atLeast(caller.role, 'publisher')) return
  const message = 'This key may only change drafts. Use a key with the role `publisher` or `admin`.'
  throw new ApiError('permission_denied', message, { reason: 'role' })
}
