import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Each unit with its length, and how many of it are the next one. */
const STEPS: [Intl.RelativeTimeFormatUnit, number, number][] = [
  ['minute', MINUTE, 60],
  ['hour', 3600 * SECOND, 24],
  ['day', 86_400 * SECOND, Number.POSITIVE_INFINITY],
]
const RELATIVE_DAYS = 7

type Zoned = { at: string | Date; zone?: string }

/** An instant in words, with its zone: “Thursday 19 November 2026, 9:14 am AEDT”. */
export const instant = (language: string, { at, zone }: Zoned): string =>
  new Intl.DateTimeFormat(language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(zone && { timeZone: zone }),
  }).format(new Date(at))

/** The day of an instant, short: “19 Nov 2026”. */
export const day = (language: string, { at, zone }: Zoned): string =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric', ...(zone && { timeZone: zone }) }).format(
    new Date(at),
  )

/** The time of an instant: “9:14 am”. */
export const clock = (language: string, { at, zone }: Zoned): string =>
  new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', ...(zone && { timeZone: zone }) }).format(new Date(at))

/** How far away an instant is: “5 minutes ago”. Hours say nothing of the day, so that none is called tomorrow or yesterday. */
export function relative(language: string, at: Date, now: number, justNow: string): string {
  const difference = at.getTime() - now
  if (Math.abs(difference) < MINUTE) return justNow
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'always' })
  for (const [unit, size, next] of STEPS) {
    const count = Math.round(difference / size)
    if (Math.abs(count) < next) return format.format(count, unit)
  }
  return justNow
}

const TICK_MS = 30_000

function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** A time as “5 minutes ago”, and in full with its zone on hover and focus. Older than a week: the day. */
export function Time({ at, zone }: { at: string; zone?: string }) {
  const { t, i18n } = useTranslation()
  const now = useNow()
  const date = new Date(at)
  const isRecent = Math.abs(date.getTime() - now) < RELATIVE_DAYS * 86_400 * SECOND
  return (
    <Tooltip label={instant(i18n.language, { at, zone })}>
      <time dateTime={at} className="nowrap">
        {isRecent ? relative(i18n.language, date, now, t('justNow')) : day(i18n.language, { at, zone })}
      </time>
    </Tooltip>
  )
}
