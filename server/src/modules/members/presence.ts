/** Who has the same object open in an editor. */
import { inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import * as queries from './presence.queries.ts'
import type { Presence, PresenceInput } from './presence.schema.ts'
import { rolesOf } from './queries.ts'

/** A page says every 15 seconds that it is open. */
const PRESENT_MS = 40_000

/** Notes that the member has an object open, or has left it, and returns who else has it open. Throws 404. */
export async function notePresence(
  ctx: MemberCtx,
  { project_id, object, object_id, is_here = true, only_if_alone = false }: PresenceInput,
): Promise<Presence> {
  if (ctx.role === 'member' && !(await rolesOf(ctx)).some((role) => role.project_id === project_id)) throw missing('project')
  const key = `${project_id}/${object}/${object_id}`
  const notedAfter = new Date(ctx.clock.now().getTime() - PRESENT_MS)
  if (is_here && only_if_alone) return openIfAlone(ctx, key, notedAfter)
  const others = await queries.otherEditors(ctx, key, notedAfter)
  await queries.noteEditing(ctx, key, is_here, notedAfter)
  return { is_here, others }
}

/** Of members who ask at the same time, the first one gets the object. */
const openIfAlone = (ctx: MemberCtx, key: string, notedAfter: Date): Promise<Presence> =>
  inTx(ctx, async (ctx) => {
    await queries.lockObject(ctx, key)
    const others = await queries.otherEditors(ctx, key, notedAfter)
    const isHere = others.length === 0 || (await queries.isEditing(ctx, key, notedAfter))
    await queries.noteEditing(ctx, key, isHere, notedAfter)
    return { is_here: isHere, others }
  })
