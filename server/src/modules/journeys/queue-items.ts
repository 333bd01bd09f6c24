/** Items of journeys in the ingest queue. Everything that moves a user is an item of the queue, so that one writer applies it in order. */
import type { JourneyId, UserId } from '../../lib/ids.ts'

/** Which users of a journey an item is about: those of an entrance, or all entrances of the user. */
type Who = { journey_id: JourneyId; user_id: UserId; entrance_id?: number }

/** As it is stored in an entry of the kind `journeys`. */
export type JourneyItem = Who &
  (
    | {
        do: 'enter'
        entrance?: string
        cause: string
        data?: Record<string, unknown>
        key?: string
        depth?: number
        /** The user does not enter if they have entered since this instant. */
        unless_entered_since?: string
      }
    | { do: 'move'; to: string }
    /** Skips the step of this visit. Items of earlier versions of the server have none. */
    | { do: 'skip'; visit?: number }
    | { do: 'retry' }
    /** Ends the entrance with this reason: `removed`, `stopped`, `archived`, `drained`, `published`. */
    | { do: 'exit'; reason: string }
    /** Moves to a published version by its plan, at the step where the user then is. */
    | { do: 'plan'; version: number }
    /** Decides again after a journey was held, or after a setting of its step changed. */
    | { do: 'wake' }
    /** The clock was ahead and was set back: users who acted in that future act as if it were now. */
    | { do: 'clock' }
    | { do: 'outcome'; visit: number; state: string; reason: string | null }
    | { do: 'answer'; visit: number; status: number | null; body: unknown; problem: string | null }
  )
