/** The throttles of a project's sending policy: quiet hours and frequency caps. Pure. */
import { Temporal } from 'temporal-polyfill'
import { type Static, Type } from 'typebox'
import { CHANNELS, type Channel, Exact, Nullable, OneOf } from '../../../lib/shapes.ts'
import { HOUR_MS } from '../../../lib/times.ts'

const CAPS_MAX = 20
const WINDOW_HOURS_MAX = 24 * 90

const TimeOfDay = (description: string) => Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description })
const Channels = Type.Array(OneOf(CHANNELS), {
  minItems: 1,
  maxItems: CHANNELS.length,
  description: 'The channels to which the cap or the quiet hours apply.',
})

export const Cap = Exact({
  channels: Channels,
  max: Type.Integer({ minimum: 1, maximum: 1000, description: 'The highest number of messages to a user in the window.' }),
  window_hours: Type.Integer({ minimum: 1, maximum: WINDOW_HOURS_MAX, description: 'The length of the sliding window in hours.' }),
})
export type Cap = Static<typeof Cap>

export const QuietHours = Exact({
  channels: Channels,
  from: TimeOfDay('The start of the quiet hours, in the user’s time zone, such as `21:00`.'),
  to: TimeOfDay('The end of the quiet hours. A time earlier than `from` is on the next day.'),
})
export type QuietHours = Static<typeof QuietHours>

const members = {
  caps: Type.Array(Cap, {
    maxItems: CAPS_MAX,
    description:
      'A message that would exceed a cap waits until the cap allows it. It is skipped with `frequency_cap` if that would be after its deadline.',
  }),
  quiet_hours: Nullable(QuietHours),
}

/** Frequency caps and quiet hours. They do not apply to transactional messages. */
export const SendingPolicy = Exact(members)
export type SendingPolicy = Static<typeof SendingPolicy>

export const NO_POLICY: SendingPolicy = { caps: [], quiet_hours: null }

/** When the current quiet hours end in a time zone; null outside quiet hours. */
export function quietUntil({ quiet_hours }: SendingPolicy, channel: Channel, now: Date, zone: string): Date | null {
  if (!quiet_hours?.channels.includes(channel) || quiet_hours.from === quiet_hours.to) return null
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone)
  const time = local.toPlainTime()
  const [from, to] = [Temporal.PlainTime.from(quiet_hours.from), Temporal.PlainTime.from(quiet_hours.to)]
  const isPast = (limit: Temporal.PlainTime) => Temporal.PlainTime.compare(time, limit) >= 0
  const overMidnight = Temporal.PlainTime.compare(from, to) > 0
  const isQuiet = overMidnight ? isPast(from) || !isPast(to) : isPast(from) && !isPast(to)
  if (!isQuiet) return null
  const day = local.toPlainDate().add({ days: overMidnight && isPast(from) ? 1 : 0 })
  return new Date(day.toZonedDateTime({ timeZone: zone, plainTime: to }).epochMilliseconds)
}

/** A message that a user got. A message in flight counts as received now. */
export type Received = { channel: Channel; at: Date }

/** When one more message fits under every cap; null if it fits now. */
export function cappedUntil({ caps }: SendingPolicy, channel: Channel, now: Date, received: readonly Received[]): Date | null {
  const until = caps.flatMap((cap) => {
    if (!cap.channels.includes(channel)) return []
    const window = cap.window_hours * HOUR_MS
    const counted = received
      .filter((one) => cap.channels.includes(one.channel) && one.at.getTime() > now.getTime() - window)
      .map(({ at }) => at.getTime())
      .sort((a, b) => b - a)
    // It fits once the `max`-th newest message has left the window.
    const oldest = counted[cap.max - 1]
    return oldest === undefined ? [] : [oldest + window]
  })
  return until.length === 0 ? null : new Date(Math.max(...until))
}

/** The longest window of any cap, in milliseconds; 0 without caps. */
export const longestWindowMs = ({ caps }: SendingPolicy): number => Math.max(0, ...caps.map(({ window_hours }) => window_hours)) * HOUR_MS
