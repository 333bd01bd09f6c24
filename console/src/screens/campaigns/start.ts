import type { TFunction } from 'i18next'
import { instant } from '../../parts/time.tsx'
import type { Campaign } from './search.ts'

type Scheduled = Pick<Campaign, 'send_in_user_timezone'> & { send_at: string }

/** A local time as an instant of UTC, to be formatted in UTC. */
const asUtc = (local: string) => new Date(`${local}Z`)

/** When a scheduled campaign starts, in words: at an instant, or at a local time in each user’s time zone. */
export function startOf({ send_at, send_in_user_timezone: isLocal }: Scheduled, t: TFunction<'campaigns'>, language: string): string {
  if (!isLocal) return instant(language, { at: send_at })
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })
  return t('calendar.local', { at: format.format(asUtc(send_at)) })
}
