/** Ids and shares that follow from what they are of, so that nothing has to be stored or drawn. Pure. */
import { hash } from 'node:crypto'
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'

/** A safe integer: 13 hexadecimal digits have 52 bits. */
const DIGITS = 13
const END = 2 ** 52

/** The first 52 bits of SHA-256 over the parts. Written as JSON, so that no two lists of parts are one text. */
const bits = (...parts: (string | number)[]): number => Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, DIGITS), 16)

/** A number above 0 and below 1 that is the same for the same parts. */
const share = (...parts: (string | number)[]): number => (bits(...parts) + 0.5) / END

/** The id of an entrance. `userId` is the user at entry: a merge does not change the id. */
export const entranceId = (journeyId: JourneyId, cause: string, userId: UserId): number => bits(journeyId, cause, userId)

/** What is stored of an entry key, to find whether a user entered with it before. */
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

/** The part of a cause before its first colon: `event`, `list`, `schedule`, `api`, `link`. */
export const kindOfCause = (cause: string): string => cause.slice(0, cause.indexOf(':'))

/** Whether a user is held out of a journey. The same users are, as long as the percentage does not fall. */
export const isHeldOut = (journeyId: JourneyId, userId: number, percent: number): boolean =>
  share('holdout', journeyId, userId) * 100 < percent

type Branch = { path: string; weight: number }

/**
 * The path of an experiment for a user, by weighted rendezvous hashing: the highest of `weight / -ln(share)` wins. It stays the same over
 * re-entries and versions. A changed weight moves only the users whom it has to; a weight of 0 gets none. Undefined if no path has a weight.
 */
export function armOf(journeyId: JourneyId, step: string, userId: number, branches: readonly Branch[]): string | undefined {
  let best: { path: string; score: number } | undefined
  for (const { path, weight } of branches) {
    if (weight <= 0) continue
    const score = weight / -Math.log(share('experiment', journeyId, step, userId, path))
    if (best === undefined || score > best.score) best = { path, score }
  }
  return best?.path
}
