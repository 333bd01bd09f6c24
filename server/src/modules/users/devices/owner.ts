import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError, fault, missing } from '../../../lib/errors.ts'
import type { UserId } from '../../../lib/ids.ts'
import { resolveIds } from '../queries.ts'
import type { DeviceInput } from '../schema.ts'

/**
 * The user of a device by the ids of a request, each among its own kind: browsers choose anonymous ids, and one may be the external id of
 * someone else. Throws 400 without an id, 404, and 422 if the ids belong to two users.
 */
export async function ownerByIds(ctx: ProjectCtx, { external_id, anonymous_id }: DeviceInput): Promise<UserId> {
  if (!external_id && !anonymous_id) throw fault('parameter_missing', 'external_id', 'Give `external_id` or `anonymous_id`.')
  const found = await resolveIds(ctx, external_id ? [external_id] : [], anonymous_id ? [anonymous_id] : [])
  const byAnonymous = found.find((row) => row.anonymous_id !== null)
  const owner = external_id ? found.find((row) => row.external_id !== null) : byAnonymous
  if (!owner) throw missing('user')
  if (byAnonymous && byAnonymous.id !== owner.id)
    throw fault('validation_failed', 'anonymous_id', 'The `anonymous_id` belongs to another user than the `external_id`. Give one of them.')
  return owner.id
}

/** The user of a user token. Ids may be left out. Throws 403 if they are not of that user (D-PK-1). */
export async function ownerByToken(ctx: ProjectCtx, userId: UserId, { external_id, anonymous_id }: DeviceInput): Promise<UserId> {
  const given = { ...(external_id && { external_id }), ...(anonymous_id && { anonymous_id }) }
  const found = await resolveIds(ctx, external_id ? [external_id] : [], anonymous_id ? [anonymous_id] : [])
  const isOwn = (name: 'external_id' | 'anonymous_id') => found.some((row) => row[name] !== null && row.id === userId)
  const foreign = (['external_id', 'anonymous_id'] as const).find((name) => name in given && !isOwn(name))
  if (foreign === undefined) return userId
  const message = 'Omit user ids, or use the ids of the user that the user token belongs to.'
  throw new ApiError('permission_denied', message, { reason: 'other_user', param: foreign })
}
