import type { components } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'

type Message = components['schemas']['MessageWhole']

/** States of messages that were attempted and have ended. */
const ENDED: readonly string[] = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'unknown'] satisfies Message['state'][]

/** Whether the member may send a message again. */
export const useMayResend = (message: Message | undefined): boolean =>
  useMay('publisher') && message !== undefined && ENDED.includes(message.state) && message.user.external_id !== null

type Props = { message: Message; isOpen: boolean; onClose: () => void }

/** Asks before a message is sent again, and opens the new one. */
export function Resend({ message: { id, user, channel, recipient }, isOpen, onClose }: Props) {
  const { t } = useTranslation('messages')
  const navigate = useNavigate({ from: '/p/$project/messages' })
  const resend = useWrite(
    (api) => api.post('/api/client/messages/{messageId}/resend', { path: { messageId: id } }),
    ['/api/client/messages'],
    ({ id, state, reason }) => {
      onClose()
      said(state === 'queued' ? t('resend.done', { id }) : t('resend.skipped', { id, reason }))
      void navigate({ search: (search) => ({ ...search, message: id }) })
    },
  )
  const name = user.external_id
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('resend.title', { id })}
      action={t('resend.submit')}
      isDanger={false}
      isPending={resend.isPending}
      error={resend.error}
      onConfirm={() => resend.mutate(undefined)}
    >
      <p>
        {recipient === null
          ? t('resend.toUser', { user: name, channel: t(`channel.${channel}.name`) })
          : t('resend.toAddress', { user: name, channel: t(`channel.${channel}.name`), recipient })}
      </p>
      <p>{t('resend.about')}</p>
    </Confirm>
  )
}
