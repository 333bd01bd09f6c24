import type { LiveCall, LiveEvent } from '../../../infra/http/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { UserId } from '../../../lib/ids.ts'
import { findCounter, makeCounter } from '../queries.ts'
import type { InboxStreams } from './streams.ts'

const HEARTBEAT_MS = 20_000
/** How long other processes may accept an archived key. The caller is authenticated again before events after this time. */
const AUTHENTICATED_FOR_MS = 5000

/**
 * Streams the changes of a user's inbox: after the number `from`, or from now on. Ends when the token expires, when the client
 * disconnects, or when the server drains. If the user is merged, it continues with the remaining user. Throws 429 if there are too many
 * streams.
 */
export async function* listen(
  ctx: ProjectCtx,
  streams: InboxStreams,
  userId: UserId,
  from: number | undefined,
  live: LiveCall,
): AsyncGenerator<LiveEvent> {
  streams.open(userId, live.signal)
  let user = userId
  let authenticatedAt = ctx.clock.now().getTime()
  let { position, unread, isAll } = await startIn(ctx, user, from)
  yield { event: 'unread', id: position, data: { unread } }
  while (!live.signal.aborted) {
    if (!isAll) streams.wake()
    const update = await streams.nextUpdate(ctx, { projectId: ctx.projectId, userId: user, position }, HEARTBEAT_MS, live.signal)
    if (live.signal.aborted) return
    const now = ctx.clock.now().getTime()
    if (update === 'removed' || update === 'none' || now - authenticatedAt >= AUTHENTICATED_FOR_MS) {
      const again = await live.again().catch(refusal)
      if (again instanceof ApiError) return yield { event: 'expired', id: position, data: { reason: again.reason, message: again.message } }
      authenticatedAt = now
      if (update === 'removed' || again !== user) {
        user = again
        ;({ position, isAll } = await startIn(ctx, user, position))
        continue
      }
    }
    if (update === 'none') {
      yield 'heartbeat'
      continue
    }
    for (const { seq, message } of update.changes) yield { event: 'message', id: seq, data: message }
    position = update.upTo
    isAll = update.isAll
    if (update.unread === unread) continue
    unread = update.unread
    yield { event: 'unread', id: position, data: { unread } }
  }
}

/** The position at which a stream starts. A number beyond the last one is of another inbox, so everything is sent. */
async function startIn(ctx: ProjectCtx, userId: UserId, from: number | undefined) {
  const counter = (await findCounter(ctx, userId)) ?? (await makeCounter(ctx, userId))
  const { seq, unread } = counter ?? { seq: 0, unread: 0 }
  const position = from === undefined ? seq : from > seq ? 0 : from
  return { position, unread, isAll: position === seq }
}

function refusal(error: unknown): ApiError {
  if (error instanceof ApiError && error.status === 401) return error
  throw error
}
