/** Ids that follow from what they are of, so that they are known before anything is stored. Pure. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { bits, share } from '../hashes.ts'

/** The id of an entrance. `userId` is the user at entry: a merge does not change the id. */
export const entranceId = (journeyId: JourneyId, cause: string, userId: UserId): number => bits(journeyId, cause, userId)

/** The hash of an entry key. It is stored, to tell whether a user has entered with the key before. */
export const keyHash = (key: string): number => bits(key)

/** Why an entrance began. One cause begins at most one entrance of a user in a journey. */
export const causes = {
  /** `key` is the event's own id, or else what identifies the stored event. */
  event: (key: string | number) => `event:${key}`,
  list: (listId: ListId, itemKey: string | number) => `list:${listId}:${itemKey}`,
  /** `local` is the local time of the schedule, which is the same in all time zones. */
  schedule: (step: string, local: string) => `schedule:${step}:${local}`,
  api: (key: string) => `api:${key}`,
  link: (entrance: number, visit: number) => `link:${entrance}:${visit}`,
}

/** Whether a user is held out of a journey. A user who is held out stays so as long as the percentage does not fall. */
export const isHeldOut = (journeyId: JourneyId, userId: number, percent: number): boolean =>
  share('holdout', journeyId, userId) * 100 < percent
