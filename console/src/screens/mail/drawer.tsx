import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Code } from '../../parts/code.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { instant } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { useQueueActions } from './queue-actions.ts'
import type { Recipient } from './search.ts'

type Props = { recipient: Recipient; onClose: () => void }

/** One recipient beside the table: the last attempt in full, and what can be done. */
export function RecipientDrawer({ recipient, onClose }: Props) {
  const { t } = useTranslation('mail')
  const mayAct = useMay('publisher') && ['waiting', 'paused'].includes(recipient.state)
  const body = { message_ids: [recipient.message_id] }
  const { retry, cancel } = useQueueActions(body)
  const error = retry.error ?? cancel.error
  return (
    <Drawer
      label={t('drawer.label', { recipient: recipient.recipient })}
      heading={recipient.recipient || t('erased')}
      isRead
      state={<Chip state={recipient.state} />}
      onClose={onClose}
    >
      {error && <Failed error={error} />}
      {mayAct && (
        <div className="acts pad">
          <Button size="xs" loading={retry.isPending} onClick={() => retry.mutate(undefined)}>
            {t('retry.open')}
          </Button>
          <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
            {t('cancelled.open')}
          </Button>
        </div>
      )}
      <Facts recipient={recipient} />
      <LastAttempt recipient={recipient} />
    </Drawer>
  )
}

function Facts({ recipient: { message_id, source, from, site, domain, attempts, next_attempt_at, expires_at } }: Pick<Props, 'recipient'>) {
  const { t, i18n } = useTranslation('mail')
  const { id, timezone: zone } = useProject()
  const at = (time: string) => instant(i18n.language, { at: time, zone })
  return (
    <dl className="kv pad">
      <dt>{t('column.from')}</dt>
      <dd>{from}</dd>
      <dt>{t('column.source')}</dt>
      <dd>
        {source === 'message' ? (
          <Link to="/p/$project/messages" params={{ project: String(id) }} search={{ message: message_id }}>
            {t('source.message')}
          </Link>
        ) : (
          t(`source.${source}`)
        )}
      </dd>
      <dt>{t('column.site')}</dt>
      <dd>{site ?? domain}</dd>
      <dt>{t('column.attempts')}</dt>
      <dd>{attempts}</dd>
      {next_attempt_at && (
        <>
          <dt>{t('column.next')}</dt>
          <dd>{at(next_attempt_at)}</dd>
        </>
      )}
      <dt>{t('column.expires')}</dt>
      <dd>{at(expires_at)}</dd>
    </dl>
  )
}

function LastAttempt({ recipient: { last_attempt: attempt } }: Pick<Props, 'recipient'>) {
  const { t, i18n } = useTranslation('mail')
  const { timezone: zone } = useProject()
  if (!attempt) return <p className="quiet sm pad">{t('drawer.none')}</p>
  const { outcome, at, host, ip, tls, response, detail } = attempt
  return (
    <section className="pad">
      <h3>{t('drawer.attempt', { number: attempt.attempt })}</h3>
      <p className="sm">
        {t(`outcome.${outcome}`)} <span className="quiet">{instant(i18n.language, { at, zone })}</span>
      </p>
      {host && (
        <p className="quiet xs">
          {host} {ip} · {tls ?? t('drawer.plain')}
        </p>
      )}
      {(response ?? detail) && <Code text={response ?? detail ?? ''} />}
    </section>
  )
}
