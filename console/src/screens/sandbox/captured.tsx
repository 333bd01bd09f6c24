import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { iconOf } from '../../parts/channels.ts'
import { ObjectName } from '../../parts/object-name.tsx'
import { Time } from '../../parts/time.tsx'

type Message = components['schemas']['SandboxMessage']

type Props = { messages: Message[]; shown: number | undefined; isRead: (id: number) => boolean; onOpen: (id: number) => void }

/** The list of captured messages, at the left. */
export function Captured({ messages, shown, isRead, onOpen }: Props) {
  const { t } = useTranslation('sandbox')
  return (
    <ul className="mails">
      {messages.map(({ id, channel, recipient, summary, campaign_id, created_at }) => {
        const IconOf = iconOf(channel)
        return (
          <li key={id}>
            <button type="button" aria-pressed={id === shown} onClick={() => onOpen(id)}>
              <IconOf size={16} stroke={1.5} aria-label={t(`channel.${channel}.name`)} />
              <span className="who">
                <b dir="auto">{recipient}</b>
                {!isRead(id) && <span className="unread">{t('unread')}</span>}
                <Time at={created_at} />
              </span>
              <span className="what" dir="auto">
                {summary}
              </span>
              <span className="r">{campaign_id ? <ObjectName kind="campaign" id={campaign_id} isText /> : t('direct')}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
