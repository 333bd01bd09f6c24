import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Code, CodeTabs } from '../../parts/code.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { instant } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { requestSamples } from './request.ts'
import { DELIVERY, ENDPOINTS, type Endpoint } from './search.ts'
import { Signed } from './signed.tsx'

type Whole = components['schemas']['WebhookDeliveryReply']
type Attempt = Whole['attempt_log'][number]
type Props = { endpoint: Endpoint; deliveryId: number; onClose: () => void }

/** One delivery beside the table: each attempt with its request and its reply, and how it was signed. */
export function DeliveryDrawer({ endpoint, deliveryId, onClose }: Props) {
  const { t } = useTranslation('webhooks')
  const path = { endpointId: endpoint.id, deliveryId }
  const mayResend = useMay('admin') && endpoint.status === 'active'
  const {
    data: delivery,
    error,
    refetch,
  } = useRead(DELIVERY, { path }, { refetchInterval: ({ state }) => state.data?.status === 'pending' && LIVE_MS })
  const resend = useWrite(
    (api) => api.post('/api/client/webhooks/{endpointId}/deliveries/{deliveryId}/resend', { path }),
    [ENDPOINTS],
    () => said(t('resend.done')),
  )
  return (
    <Drawer
      label={t('delivery.label', { id: deliveryId })}
      heading={delivery?.event_type ?? t('loading')}
      isRead={delivery !== undefined}
      state={delivery && <Chip state={delivery.status} />}
      actions={
        <>
          {mayResend && (
            <Button size="xs" loading={resend.isPending} onClick={() => resend.mutate(undefined)}>
              {t('resend.open')}
            </Button>
          )}
          <CopyAs label={t('delivery.more')} request={{ method: 'GET', path: DELIVERY, params: path }} />
        </>
      }
      onClose={onClose}
    >
      {resend.error && <Failed error={resend.error} />}
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!delivery && !error && <Loading />}
      {delivery && <Attempts delivery={delivery} />}
    </Drawer>
  )
}

/** The attempts, of which one is open: the newest, until another one is chosen. */
function Attempts({ delivery }: { delivery: Whole }) {
  const { t, i18n } = useTranslation('webhooks')
  const { timezone: zone } = useProject()
  const [chosen, setChosen] = useState<string | null>(null)
  const { attempt_log: attempts, attempts: count, next_attempt_at, body, url } = delivery
  const open = attempts.find(({ attempted_at }) => attempted_at === chosen) ?? attempts[0]
  const at = (time: string) => instant(i18n.language, { at: time, zone })
  return (
    <>
      <div className="attempt-pick">
        {attempts.length === 0 && <p className="quiet sm">{t('delivery.none')}</p>}
        {attempts.map((attempt, index) => (
          <button key={attempt.attempted_at} type="button" aria-pressed={attempt === open} onClick={() => setChosen(attempt.attempted_at)}>
            <b>{t('delivery.attempt', { number: count - index })}</b>
            <span>{t('delivery.took', { code: attempt.status_code ?? t('delivery.noReply'), ms: attempt.elapsed_ms })}</span>
            <span className="quiet xs">{at(attempt.attempted_at)}</span>
          </button>
        ))}
        {next_attempt_at && <p className="quiet sm">{t('delivery.next', { at: at(next_attempt_at) })}</p>}
      </div>
      <section className="pad">
        <h3>{t('delivery.request')}</h3>
        {body === null ? (
          <p className="quiet sm">{t('delivery.noBody')}</p>
        ) : (
          <CodeTabs samples={requestSamples({ url, body, headers: open?.headers ?? {} })} />
        )}
      </section>
      {open && <Reply attempt={open} />}
      {open && body !== null && <Signed headers={open.headers} body={body} />}
    </>
  )
}

function Reply({ attempt: { status_code, error, response_body } }: { attempt: Attempt }) {
  const { t } = useTranslation('webhooks')
  return (
    <section className="pad">
      <h3>{t('delivery.reply')}</h3>
      {error && <p className="sm">{error}</p>}
      {status_code !== null && <Code text={[`HTTP ${status_code}`, ...(response_body ? ['', response_body] : [])].join('\n')} />}
    </section>
  )
}
