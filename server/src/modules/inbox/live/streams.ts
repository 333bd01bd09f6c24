/**
 * Who listens in this process, and the one look for all of them: who waits at a place is told what is beyond it. A place is
 * looked at while somebody waits there only, so that whoever is slow to take what there was is not brought more.
 */
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { UserId } from '../../../lib/ids.ts'
import type { InboxMessage, StreamPosition } from '../schema.ts'
import { type ChangeRow, findChanges, findMoved, type MovedRow } from './queries.ts'

const LOOK_MS = 250
const RETRY_MAX_MS = 15_000
/** Bounds what is in memory at a time; who is left over is looked after at once. */
const PLACES_AT_ONCE = 200
const CHANGES_AT_ONCE = 20

const STREAMS_MAX = 10_000
const STREAMS_OF_USER_MAX = 5
const RETRY_AFTER_SECONDS = 5

/** What changed beyond a place, and up to which number; `isAll` says that there is nothing further yet. */
export type InboxChange = { changes: { seq: number; message: InboxMessage }[]; upTo: number; unread: number; isAll: boolean }

/** News of a place, or that the person has gone elsewhere, or that nothing happened. */
export type InboxUpdate = InboxChange | 'gone' | 'nothing'

export type InboxStreams = {
  /** Counts a listener until the signal aborts. Throws 429 when there are too many. */
  enter(userId: UserId, signal: AbortSignal): void
  /** Waits at a place for news, at most this long, or until the signal aborts. */
  hear(ctx: Ctx, place: StreamPosition, waitMs: number, signal: AbortSignal): Promise<InboxUpdate>
  /** Something was committed here: look now. Without it others learn of it by looking, a moment later. */
  wake(): void
}

type Waiter = StreamPosition & { heard: InboxUpdate; told: AbortController }

/** The listeners of a process. */
export function createInboxStreams(): InboxStreams {
  const waiters = new Set<Waiter>()
  const streams = createCounts()
  let isWatched = false
  let alarm = new AbortController()

  const tell = (waiter: Waiter, heard: InboxUpdate) => {
    waiters.delete(waiter)
    waiter.heard = heard
    waiter.told.abort()
  }

  async function watch(ctx: Ctx): Promise<void> {
    isWatched = true
    let failures = 0
    while (waiters.size > 0) {
      alarm = new AbortController()
      try {
        const isAll = await look(ctx, [...waiters], tell)
        failures = 0
        if (!isAll) continue
      } catch (err) {
        failures++
        ctx.log.warn({ err }, 'looking for news of inboxes failed; it will be tried again')
      }
      await ctx.clock.sleep(Math.min(RETRY_MAX_MS, LOOK_MS * 2 ** failures), alarm.signal)
    }
    isWatched = false
  }

  return {
    enter: streams.enter,
    async hear(ctx, place, waitMs, signal) {
      const waiter: Waiter = { ...place, heard: 'nothing', told: new AbortController() }
      const leave = () => waiter.told.abort()
      signal.addEventListener('abort', leave, { once: true })
      waiters.add(waiter)
      if (!isWatched) void watch(ctx)
      if (!signal.aborted) await ctx.clock.sleep(waitMs, waiter.told.signal)
      waiters.delete(waiter)
      signal.removeEventListener('abort', leave)
      return waiter.heard
    },
    wake: () => alarm.abort(),
  }
}

/** How many listen, together and of each user. */
function createCounts(): Pick<InboxStreams, 'enter'> {
  const ofUser = new Map<UserId, number>()
  let all = 0
  return {
    enter(userId, signal) {
      if (signal.aborted) return
      const own = ofUser.get(userId) ?? 0
      if (own >= STREAMS_OF_USER_MAX) throw tooMany(`A user may have at most ${STREAMS_OF_USER_MAX} streams open. Close one first.`)
      if (all >= STREAMS_MAX) throw tooMany(`Too many streams are open. Retry after ${RETRY_AFTER_SECONDS} seconds.`)
      ofUser.set(userId, own + 1)
      all++
      const leave = () => {
        const left = (ofUser.get(userId) ?? 1) - 1
        if (left === 0) ofUser.delete(userId)
        else ofUser.set(userId, left)
        all--
      }
      signal.addEventListener('abort', leave, { once: true })
    },
  }
}

const tooMany = (message: string) => new ApiError('rate_limited', message, { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })

const keyOf = ({ user_id, position }: { user_id: UserId; position: number }) => `${user_id}:${position}`
const placeKey = ({ userId, position }: StreamPosition) => keyOf({ user_id: userId, position })

/** Looks beyond every place where somebody waits, and tells them. Answers whether that was all. */
async function look(ctx: Ctx, waiters: Waiter[], tell: (waiter: Waiter, heard: InboxUpdate) => void): Promise<boolean> {
  const byPlace = Map.groupBy(waiters, placeKey)
  const places = [...byPlace.values()].flatMap(([first]) => first ?? [])
  const moved = await findMoved(ctx, places, PLACES_AT_ONCE)
  const ahead = moved.flatMap((row) => {
    const place = byPlace.get(keyOf(row))?.[0]
    return place && row.seq !== null ? [{ ...place, upTo: row.seq }] : []
  })
  const rows = ahead.length > 0 ? await findChanges(ctx, ahead, CHANGES_AT_ONCE) : []
  const changes = Map.groupBy(rows, keyOf)
  for (const row of moved) {
    const heard = heardOf(row, changes.get(keyOf(row)) ?? [])
    for (const waiter of byPlace.get(keyOf(row)) ?? []) tell(waiter, heard)
  }
  return moved.length < PLACES_AT_ONCE
}

function heardOf({ seq, unread }: MovedRow, rows: ChangeRow[]): InboxUpdate {
  if (seq === null || unread === null) return 'gone'
  const changes = rows.map(({ seq, user_id: _, position: __, ...message }) => ({ seq, message }))
  const last = changes.at(-1)
  const isAll = changes.length < CHANGES_AT_ONCE || last === undefined
  return { changes, upTo: isAll ? seq : last.seq, unread, isAll }
}
