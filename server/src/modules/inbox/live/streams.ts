/**
 * The open inbox streams of this process. One loop polls for all of them and notifies the streams that wait at a position of the changes
 * after it. Positions are polled only while a stream waits there, so that nothing accumulates for slow clients.
 */
import { createStreamLimits } from '../../../infra/http/stream-limits.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import type { InboxMessage, StreamPosition } from '../schema.ts'
import { type ChangedRow, type ChangeRow, findChanged, findChanges } from './queries.ts'

const POLL_MS = 250
const RETRY_MAX_MS = 15_000
/** Limits memory. The remaining positions are polled at once. */
const POSITIONS_AT_ONCE = 200
const CHANGES_AT_ONCE = 20

const STREAMS_MAX = 10_000
const STREAMS_OF_USER_MAX = 5

/** The changes after a position, up to a number. `isAll` means that there are no more changes yet. */
export type InboxChange = { changes: { seq: number; message: InboxMessage }[]; upTo: number; unread: number; isAll: boolean }

/** Changes of an inbox; `removed` if the inbox was removed by a merge or an erasure; `none` if nothing changed in time. */
export type InboxUpdate = InboxChange | 'removed' | 'none'

export type InboxStreams = {
  /** Counts a stream until the signal aborts. Throws 429 if there are too many. */
  open(userId: UserId, signal: AbortSignal): void
  /** Waits for an update after a position, at most this long, or until the signal aborts. */
  nextUpdate(ctx: Ctx, position: StreamPosition, waitMs: number, signal: AbortSignal): Promise<InboxUpdate>
  /** Polls at once, after a commit in this process. Other processes find the change when they poll. */
  wake(): void
}

type Waiter = StreamPosition & { update: InboxUpdate; notified: AbortController }

/** Creates the streams of a process. */
export function createInboxStreams(): InboxStreams {
  const waiters = new Set<Waiter>()
  const open = createStreamLimits<UserId>({ max: STREAMS_MAX, maxOfEach: STREAMS_OF_USER_MAX, who: 'A user' })
  let isPolling = false
  let alarm = new AbortController()

  const notify = (waiter: Waiter, update: InboxUpdate) => {
    waiters.delete(waiter)
    waiter.update = update
    waiter.notified.abort()
  }

  async function keepPolling(ctx: Ctx): Promise<void> {
    isPolling = true
    let failures = 0
    while (waiters.size > 0) {
      alarm = new AbortController()
      try {
        const isAll = await poll(ctx, [...waiters], notify)
        failures = 0
        if (!isAll) continue
      } catch (err) {
        failures++
        ctx.log.warn({ err }, 'polling inboxes failed and will be retried')
      }
      await ctx.clock.sleep(Math.min(RETRY_MAX_MS, POLL_MS * 2 ** failures), alarm.signal)
    }
    isPolling = false
  }

  return {
    open,
    async nextUpdate(ctx, position, waitMs, signal) {
      const waiter: Waiter = { ...position, update: 'none', notified: new AbortController() }
      const leave = () => waiter.notified.abort()
      signal.addEventListener('abort', leave, { once: true })
      waiters.add(waiter)
      if (!isPolling) void keepPolling(ctx)
      if (!signal.aborted) await ctx.clock.sleep(waitMs, waiter.notified.signal)
      waiters.delete(waiter)
      signal.removeEventListener('abort', leave)
      return waiter.update
    },
    wake: () => alarm.abort(),
  }
}

const keyOf = ({ user_id, position }: { user_id: UserId; position: number }) => `${user_id}:${position}`
const positionKey = ({ userId, position }: StreamPosition) => keyOf({ user_id: userId, position })

/** Finds changes after every position at which a stream waits, and notifies the streams. Returns whether those were all changes. */
async function poll(ctx: Ctx, waiters: Waiter[], notify: (waiter: Waiter, update: InboxUpdate) => void): Promise<boolean> {
  const byPosition = Map.groupBy(waiters, positionKey)
  const positions = [...byPosition.values()].flatMap(([first]) => first ?? [])
  const changed = await findChanged(ctx, positions, POSITIONS_AT_ONCE)
  const ranges = changed.flatMap((row) => {
    const position = byPosition.get(keyOf(row))?.[0]
    return position && row.seq !== null ? [{ ...position, upTo: row.seq }] : []
  })
  const rows = ranges.length > 0 ? await findChanges(ctx, ranges, CHANGES_AT_ONCE) : []
  const changes = Map.groupBy(rows, keyOf)
  for (const row of changed) {
    const update = updateOf(row, changes.get(keyOf(row)) ?? [])
    for (const waiter of byPosition.get(keyOf(row)) ?? []) notify(waiter, update)
  }
  return changed.length < POSITIONS_AT_ONCE
}

function updateOf({ seq, unread }: ChangedRow, rows: ChangeRow[]): InboxUpdate {
  if (seq === null || unread === null) return 'removed'
  const changes = rows.map(({ seq, user_id: _, position: __, ...message }) => ({ seq, message }))
  const last = changes.at(-1)
  const isAll = changes.length < CHANGES_AT_ONCE || last === undefined
  return { changes, upTo: isAll ? seq : last.seq, unread, isAll }
}
