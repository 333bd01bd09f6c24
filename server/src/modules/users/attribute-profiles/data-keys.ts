import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { listAttributes } from '../attributes.queries.ts'
import { hiddenKeys } from '../attributes.ts'
import { DATA, KEYS_MAX, PROFILED_AT_ONCE } from './attributes-in-use.ts'
import { keysOfUsers } from './queries.ts'

/** The keys of `data` that users have and the caller may see. */
export type DataKeys = {
  keys: string[]
  /** Otherwise these are the keys of the newest users, and those of all users as of the latest complete run, so that a few may be missing. */
  areAll: boolean
}

/** Null if there are more keys than are counted. */
export async function dataKeys(ctx: ProjectCtx): Promise<DataKeys | null> {
  const { users, newest, profiled } = await keysOfUsers(ctx, PROFILED_AT_ONCE + 1, KEYS_MAX + 1)
  const areAll = users <= PROFILED_AT_ONCE
  if (newest.length > KEYS_MAX || (!areAll && profiled.length >= KEYS_MAX)) return null
  const hidden = new Set(hiddenKeys(await listAttributes(ctx), ctx.caller))
  const earlier = areAll ? [] : profiled.filter((key) => key.startsWith(DATA)).map((key) => key.slice(DATA.length))
  return { keys: [...new Set([...newest, ...earlier])].filter((key) => !hidden.has(key)), areAll }
}
