import type { components } from '@carillon/sdk'
import { Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { instant } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { Content } from './content.tsx'
import { Explain } from './explain.tsx'
import { Resend, useMayResend } from './resend.tsx'
import { Timeline } from './timeline.tsx'

type Message = components['schemas']['MessageWhole']

const PATH = '/api/client/messages/{messageId}'
const VIEWS = ['timeline', 'content', 'explain'] as const

/** One message beside the log: its timeline, its content, and the explanation. */
export function MessageDrawer({ id, onClose }: { id: number; onClose: () => void }) {
  const { t } = useTranslation('messages')
  const { data: message, error, refetch } = useRead(PATH, { path: { messageId: id } })
  const [view, setView] = useState<(typeof VIEWS)[number]>('timeline')
  const [isResending, setResending] = useState(false)
  const mayResend = useMayResend(message)
  return (
    <Drawer
      label={t('drawer.label', { id })}
      heading={
        message
          ? t(`channel.${message.channel}.messageTo`, { to: message.recipient ?? message.user.external_id ?? t('erased') })
          : t('loading')
      }
      isRead={message !== undefined}
      state={message && <Chip state={message.state} reason={message.reason} />}
      actions={
        <CopyAs label={t('drawer.more')} request={{ method: 'GET', path: PATH, params: { messageId: id } }}>
          {mayResend && <Menu.Item onClick={() => setResending(true)}>{t('resend.open')}</Menu.Item>}
        </CopyAs>
      }
      onClose={onClose}
    >
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!message && !error && <Loading />}
      {message && (
        <>
          <Facts message={message} />
          <TabBar
            label={t('drawer.views')}
            tabs={VIEWS.map((id) => ({ id, label: t(`drawer.view.${id}`) }))}
            current={view}
            onChange={(id) => setView(id as typeof view)}
          />
          {view === 'timeline' && <Timeline message={message} />}
          {view === 'content' && <Content message={message} />}
          {view === 'explain' && <Explain message={message} />}
          {mayResend && <Resend message={message} isOpen={isResending} onClose={() => setResending(false)} />}
        </>
      )}
    </Drawer>
  )
}

function Facts({ message }: { message: Message }) {
  const { t, i18n } = useTranslation('messages')
  const { id, timezone: zone } = useProject()
  const params = { project: String(id) }
  const { user, campaign_id, journey_id, provider, attempts, variant, expires_at, resent_from } = message
  return (
    <dl className="kv pad">
      <Fact name={t('column.user')}>
        {user.external_id === null ? (
          t('erased')
        ) : (
          <Link to="/p/$project/users/$userId" params={{ ...params, userId: user.external_id }}>
            {user.external_id}
          </Link>
        )}
      </Fact>
      <Fact name={t('column.from')}>
        {journey_id !== undefined ? (
          <Link to="/p/$project/messages" params={params} search={{ journey_id: String(journey_id) }}>
            {t('journey', { id: journey_id })}
          </Link>
        ) : (
          <Link to="/p/$project/messages" params={params} search={{ campaign_id: String(campaign_id) }}>
            {t('campaign', { id: campaign_id })}
          </Link>
        )}
        {variant && ` · ${t('variant', { variant })}`}
      </Fact>
      {provider && <Fact name={t('column.provider')}>{t('attempts', { provider, count: attempts })}</Fact>}
      {resent_from !== undefined && (
        <Fact name={t('drawer.resent')}>
          <Link from="/p/$project/messages" to="." search={(search) => ({ ...search, message: resent_from })}>
            {t('drawer.label', { id: resent_from })}
          </Link>
        </Fact>
      )}
      {expires_at && <Fact name={t('drawer.expires')}>{instant(i18n.language, { at: expires_at, zone })}</Fact>}
    </dl>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd dir="auto">{children}</dd>
  </>
)
