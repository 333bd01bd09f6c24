import type { components } from '@carillon/sdk'
import { type Icon, IconAppWindow, IconBell, IconCheck, IconMail, IconMessage, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Card } from '../../parts/page.tsx'

type User = components['schemas']['UserReply']
type Reached = { channel: 'email' | 'text' | 'push' | 'in_app'; icon: Icon; isReached: boolean; why: string }

/** Which channels reach the user, and why the others do not. */
export function Reach({ user }: { user: User }) {
  const { t } = useTranslation('users')
  const stopped = (channel: 'email' | 'text') => user.suppressions.find((suppression) => suppression.channel === channel)
  const byAddress = (channel: 'email' | 'text', address: string | null): Pick<Reached, 'isReached' | 'why'> => {
    const suppression = stopped(channel)
    if (address === null) return { isReached: false, why: t(`reach.no_${channel}`) }
    if (suppression) return { isReached: false, why: t('reach.suppressed', { reason: suppression.reason }) }
    return { isReached: true, why: address }
  }
  const channels: Reached[] = [
    { channel: 'email', icon: IconMail, ...byAddress('email', user.email) },
    { channel: 'text', icon: IconMessage, ...byAddress('text', user.phone) },
    { channel: 'push', icon: IconBell, isReached: user.has_push_device, why: t(user.has_push_device ? 'reach.push' : 'reach.no_push') },
    { channel: 'in_app', icon: IconAppWindow, isReached: true, why: t('reach.in_app') },
  ]
  return (
    <Card className="reach">
      {channels.map(({ channel, icon: IconOf, isReached, why }) => (
        <div key={channel}>
          <h2>
            <IconOf size={16} stroke={1.5} aria-hidden />
            {t(`channel.${channel}`)}
            {isReached ? (
              <IconCheck className="tg" size={16} stroke={1.75} aria-label={t('reach.yes')} />
            ) : (
              <IconX className="tb" size={16} stroke={1.75} aria-label={t('reach.no')} />
            )}
          </h2>
          <p>{why}</p>
        </div>
      ))}
    </Card>
  )
}
