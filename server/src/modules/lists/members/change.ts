/** Adding users to static lists and removing them by hand. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault, faultsError, missing } from '../../../lib/errors.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { findMergedInto } from '../../users/index.ts'
import { addMembers, removeMembers } from '../live/members.ts'
import { lockListShared } from '../queries.ts'
import type { Selection } from '../schema.ts'
import * as queries from './queries.ts'

type Changed = { changed: number; unchanged: number; missing: (number | string)[] }

/** Adds users to a static list. Throws 404, and 422 for a dynamic list. */
export async function addByHand(ctx: ProjectCtx, listId: ListId, selection: Selection) {
  const { changed: added, ...rest } = await change(ctx, listId, selection, addMembers)
  return { added, ...rest }
}

/** Removes users from a static list. Throws 404, and 422 for a dynamic list. */
export async function removeByHand(ctx: ProjectCtx, listId: ListId, selection: Selection) {
  const { changed: removed, ...rest } = await change(ctx, listId, selection, removeMembers)
  return { removed, ...rest }
}

function change(ctx: ProjectCtx, listId: ListId, selection: Selection, apply: typeof addMembers): Promise<Changed> {
  const given = givenIn(selection)
  return inTx(ctx, async (ctx) => {
    const list = await lockListShared(ctx, listId)
    if (!list) throw missing('list')
    if (list.type === 'dynamic') throw faultsError([{ code: 'validation_failed', message: DYNAMIC }])
    const found = await given.resolve(ctx)
    const locked = new Set((await queries.lockUsers(ctx, distinct([...found.values()]))).map(({ id }) => id))
    const changed = await apply(ctx, listId, [...locked])
    const isFound = (name: number | string) => locked.has(found.get(name) as UserId)
    return { changed: changed.length, unchanged: locked.size - changed.length, missing: given.names.filter((name) => !isFound(name)) }
  })
}

const DYNAMIC = 'The users of a dynamic list are decided by its rule and cannot be added or removed. Change the rule instead.'

type Given = { names: (number | string)[]; resolve(ctx: InTx): Promise<Map<number | string, UserId>> }

/** The ids of the request, and a function that finds their users. */
function givenIn({ user_ids, external_ids }: Selection): Given {
  if (user_ids && external_ids) throw fault('validation_failed', 'external_ids', 'Give `user_ids` or `external_ids`, not both.')
  if (user_ids) return { names: distinct(user_ids), resolve: (ctx) => byId(ctx, user_ids) }
  if (external_ids) return { names: distinct(external_ids), resolve: (ctx) => byName(ctx, external_ids) }
  throw fault('parameter_missing', 'user_ids', 'Give `user_ids` or `external_ids`.')
}

/** The id of a merged user stands for the user it was merged into. */
async function byId(ctx: InTx, ids: UserId[]): Promise<Map<number | string, UserId>> {
  return new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
}

async function byName(ctx: InTx, names: string[]): Promise<Map<number | string, UserId>> {
  const rows = await queries.findByName(ctx, names)
  const anonymous = rows.filter(({ is_external }) => !is_external)
  const identified = rows.filter(({ is_external }) => is_external)
  return new Map([...anonymous, ...identified].map(({ name, id }) => [name, id]))
}
