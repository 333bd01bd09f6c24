import type { components } from '@carillon/sdk'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { type Channel, iconOf } from '../../parts/channels.ts'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { REACHABILITY } from './subscription.ts'

type User = components['schemas']['UserReply']

/** Which channels reach the user, and why the others do not. */
export function Reach({ user }: { user: User }) {
  const { t } = useTranslation('users')
  const { data, error } = useRead(REACHABILITY, { path: { userId: user.external_id } })
  const addresses: Partial<Record<Channel, string | null>> = { email: user.email, text: user.phone }
  if (error) return <Failed error={error} />
  return (
    <Card className="reach">
      {(data?.results ?? []).map(({ channel, is_reachable, reason, detail, subscribed, subscriptions }) => {
        const IconOf = iconOf(channel)
        return (
          <div key={channel}>
            <h2>
              <IconOf size={16} stroke={1.5} aria-hidden />
              {t(`channel.${channel}.name`)}
              {is_reachable ? (
                <IconCheck className="tg" size={16} stroke={1.75} aria-label={t('reach.yes')} />
              ) : (
                <IconX className="tb" size={16} stroke={1.75} aria-label={t('reach.no')} />
              )}
            </h2>
            {reason === null ? (
              <p>{addresses[channel] ?? t(`channel.${channel}.reaches`)}</p>
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
