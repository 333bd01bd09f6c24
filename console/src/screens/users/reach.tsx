import type { components } from '@carillon/sdk'
import { type Icon, IconAppWindow, IconBell, IconCheck, IconMail, IconMessage, IconWebhook, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { REACHABILITY } from './subscription.ts'

type User = components['schemas']['UserReply']
type Reached = components['schemas']['ReachabilityOfChannel']

const ICONS: Record<Reached['channel'], Icon> = {
  email: IconMail,
  text: IconMessage,
  push: IconBell,
  webhook: IconWebhook,
  in_app: IconAppWindow,
}

/** Which channels reach the user, and why the others do not. */
export function Reach({ user }: { user: User }) {
  const { t } = useTranslation('users')
  const { data, error } = useRead(REACHABILITY, { path: { userId: user.external_id } })
  const addresses: Partial<Record<Reached['channel'], string | null>> = { email: user.email, text: user.phone }
  if (error) return <Failed error={error} />
  return (
    <Card className="reach">
      {(data?.results ?? []).map(({ channel, is_reachable, reason, detail, subscribed, subscriptions }) => {
        const IconOf = ICONS[channel]
        return (
          <div key={channel}>
            <h2>
              <IconOf size={16} stroke={1.5} aria-hidden />
              {t(`channel.${channel}`)}
              {is_reachable ? (
                <IconCheck className="tg" size={16} stroke={1.75} aria-label={t('reach.yes')} />
              ) : (
                <IconX className="tb" size={16} stroke={1.75} aria-label={t('reach.no')} />
              )}
            </h2>
            {reason === null ? (
              <p>{addresses[channel] ?? t(`reach.by.${channel}`)}</p>
            ) : (
              <p>
                {t(`reach.reason.${reason}`)} <code>{detail ?? reason}</code>
              </p>
            )}
            <p>{t('reach.types', { count: subscriptions, subscribed })}</p>
          </div>
        )
      })}
    </Card>
  )
}
