import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { relative } from './relative.ts'

const RECENT_MS = 7 * 86_400_000

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
  const isRecent = Math.abs(date.getTime() - now) < RECENT_MS
  return (
    <Tooltip label={instant(i18n.language, { at, zone })}>
      <time dateTime={at} className="nowrap">
        {isRecent ? relative(i18n.language, date, now, t('justNow')) : day(i18n.language, { at, zone })}
      </time>
    </Tooltip>
  )
}
