import type { LiveCall, LiveEvent } from '../../../infra/http/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { UserId } from '../../../lib/ids.ts'
import { findCounter, makeCounter } from '../queries.ts'
import type { InboxStreams } from './streams.ts'

const HEARTBEAT_MS = 20_000
/** As long as a key may live on elsewhere after it was archived: nothing is told to who was last admitted before that. */
const ADMITTED_FOR_MS = 5000

/**
 * The inbox of a user as it changes: beyond the number `from`, or else from now on. Ends when the token does, when nobody listens
 * any more, or when the server drains; follows a user who is merged into another. Throws 429 when there are too many listeners.
 */
export async function* listen(
  ctx: ProjectCtx,
  listening: InboxStreams,
  userId: UserId,
  from: number | undefined,
  live: LiveCall,
): AsyncGenerator<LiveEvent> {
  listening.enter(userId, live.signal)
  let user = userId
  let admittedAt = ctx.clock.now().getTime()
  let { position, unread, isAll } = await placeIn(ctx, user, from)
  yield { event: 'unread', id: position, data: { unread } }
  while (!live.signal.aborted) {
    if (!isAll) listening.wake()
    const heard = await listening.hear(ctx, { projectId: ctx.projectId, userId: user, position }, HEARTBEAT_MS, live.signal)
    if (live.signal.aborted) return
    const now = ctx.clock.now().getTime()
    if (heard === 'gone' || heard === 'nothing' || now - admittedAt >= ADMITTED_FOR_MS) {
      const again = await live.again().catch(refusal)
      if (again instanceof ApiError) return yield { event: 'expired', id: position, data: { reason: again.reason, message: again.message } }
      admittedAt = now
      if (heard === 'gone' || again !== user) {
        user = again
        ;({ position, isAll } = await placeIn(ctx, user, position))
        continue
      }
    }
    if (heard === 'nothing') {
      yield 'heartbeat'
      continue
    }
    for (const { seq, message } of heard.changes) yield { event: 'message', id: seq, data: message }
    position = heard.upTo
    isAll = heard.isAll
    if (heard.unread === unread) continue
    unread = heard.unread
    yield { event: 'unread', id: position, data: { unread } }
  }
}

/** Where in somebody's inbox a listener stands. A number that was never given out there is not to be relied on: all is new then. */
async function placeIn(ctx: ProjectCtx, userId: UserId, from: number | undefined) {
  const counter = (await findCounter(ctx, userId)) ?? (await makeCounter(ctx, userId))
  const { seq, unread } = counter ?? { seq: 0, unread: 0 }
  const position = from === undefined ? seq : from > seq ? 0 : from
  return { position, unread, isAll: position === seq }
}

function refusal(error: unknown): ApiError {
  if (error instanceof ApiError && error.status === 401) return error
  throw error
}
