/** The kinds of sweep: work on many users of a journey, done some users at a time. */
import type { ListId, UserId } from '../../../lib/ids.ts'

export type ScheduleParams = {
  /** The key of the entrance. */
  step: string
  list_id: ListId
  /** As it is in the settings of the entrance. */
  schedule: string
  zone: 'project' | 'user'
  /** The start of the schedule when it names none: the first publication with this schedule. */
  since: string
  /** The time zone of the project when this occurrence became due, if it has changed since. */
  due_zone?: string
}

export type SweepWork =
  /** Users on other versions follow the plan of a version. */
  | { kind: 'publish'; params: { version: number; isAgain?: true } }
  /** Users who entered up to an instant exit. The journey was restored at that instant, if it `isRestored`. */
  | { kind: 'exit'; params: { reason: 'stopped' | 'archived' | 'drained'; before: string; isAgain?: true; isRestored?: true } }
  /** Users that the held journey stopped continue. */
  | { kind: 'resume'; params: { isAgain?: true } }
  /** The members of a list enter at a publication. It `waits` until the journey is live if it was off then. Who has entered `since` does not again. */
  | { kind: 'existing'; params: { step: string; list_id: ListId; version: number; waits?: true; since?: string; isAgain?: true } }
  /** Users who acted later than an instant, because the clock was ahead, act again. */
  | { kind: 'clock'; params: { after: string } }
  | { kind: 'schedule'; params: ScheduleParams }

/** How far a sweep is: after which entrance or member, or after the history of which user. `begunAt` is when the first users of a schedule entered. */
export type Cursor = { user_id: UserId; entrance_id?: number; isHistory?: true; begunAt?: string }
