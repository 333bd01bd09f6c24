import type { Ctx } from '../../infra/runtime/ctx.ts'
import { maskKey } from './key-format.ts'
import { listKeysReaching, type Owner } from './operator.queries.ts'

/** All keys of a project and of its organisation, masked. */
export const listAllKeys = async (ctx: Ctx, owner: Owner) =>
  (await listKeysReaching(ctx, owner)).map(({ prefix, last4, created_at, ...key }) => ({
    ...key,
    value: maskKey(prefix, last4),
    created_at: created_at.toISOString(),
  }))
