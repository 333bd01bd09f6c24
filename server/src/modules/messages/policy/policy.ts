/** The throttles of a project's sending policy: quiet hours and frequency caps. Pure. */
import { Temporal } from 'temporal-polyfill'
import { type Static, Type } from 'typebox'
import type { MessageId } from '../../../lib/ids.ts'
import { CHANNELS, type Channel, Exact, Nullable, OneOf } from '../../../lib/shapes.ts'
import { HOUR_MS, SECOND_MS } from '../../../lib/times.ts'

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

/** When the current quiet hours end in a time zone, by its clock; null outside quiet hours. */
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
  const end = day.toPlainDateTime(to)
  const { epochMilliseconds } = end.toZonedDateTime(zone)
  // At the end of daylight saving an hour repeats: the first time may have passed.
  return new Date(
    epochMilliseconds > now.getTime() ? epochMilliseconds : end.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds,
  )
}

/** A message that a user got. One in flight, which has its id, counts as received now. Of one that the same batch sends, `lease_token` is null. */
export type Received = { channel: Channel; at: Date; in_flight: MessageId | null; lease_token: string | null }

/** When one more message fits under every cap; null if it fits now. */
export function cappedUntil(
  { caps }: SendingPolicy,
  channel: Channel,
  now: Date,
  received: readonly Pick<Received, 'channel' | 'at'>[],
): Date | null {
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

const FIRST_RECHECK_MS = 5 * SECOND_MS
const RECHECK_MS = 30 * SECOND_MS

/**
 * Until when caps delay a message; null if it fits now. Messages in flight count, so that two senders together do not exceed a cap. They may
 * end unsent, so a message that only they delay is checked again soon: of those that delay each other, the first one before the others. Of
 * those claimed by one statement, each sees all others, so that only those before it have to count.
 */
export function delayedUntil(policy: SendingPolicy, message: Message, now: Date, received: readonly Received[]): Date | null {
  const { id, channel, lease_token } = message
  const isLater = (one: Received) => one.in_flight !== null && one.in_flight > id
  const counted = received.filter(
    (one) =>
      policy.caps.some(({ channels }) => channels.includes(channel) && channels.includes(one.channel)) &&
      !(isLater(one) && one.lease_token === lease_token),
  )
  const { got = [], inFlight = [] } = Object.groupBy(counted, ({ in_flight }) => (in_flight === null ? 'got' : 'inFlight'))
  const until = cappedUntil(policy, channel, now, got)
  if (until || !cappedUntil(policy, channel, now, counted)) return until
  return new Date(now.getTime() + (inFlight.every(isLater) ? FIRST_RECHECK_MS : RECHECK_MS))
}

type Message = { id: MessageId; channel: Channel; lease_token: string }

/** The longest window of any cap, in milliseconds; 0 without caps. */
export const longestWindowMs = ({ caps }: SendingPolicy): number => Math.max(0, ...caps.map(({ window_hours }) => window_hours)) * HOUR_MS
