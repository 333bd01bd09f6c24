import { Temporal } from 'temporal-polyfill'
import { knownTexts } from './known-texts.ts'

// Names only: Node 24 also accepts offsets such as `+10:00`, which PostgreSQL does not understand (D-F-3).
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,49}$/

/** Is this the name of a time zone (D-F-3)? Letter case does not matter. */
export const isTimeZone = (text: string) => find(text) !== null

/** The time zone of a user or of a step, if times can be computed in it; otherwise the other one. Older versions stored names like `IST`. */
export const usableTimeZone = (stored: string | null, otherwise: string): string =>
  stored !== null && isTimeZone(stored) ? stored : otherwise

/**
 * The zone as supplied, with the letter case corrected. An alias that `Intl` would replace, such as `US/Pacific`, stays as the
 * caller wrote it.
 */
export const canonicalTimeZone = (text: string) => find(text) ?? text

const find = (text: string): string | null => (ZONE_NAME.test(text) ? resolve(text) : null)

const EPOCH = Temporal.Instant.fromEpochMilliseconds(0)

// `Intl` also knows abbreviations such as `IST`, which mean several zones. `Temporal`, which computes the times, refuses them. Both take about
// 100 µs.
const resolve = knownTexts((text): string | null => {
  try {
    EPOCH.toZonedDateTimeISO(text)
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text
  } catch {
    return null
  }
})
