import type { components } from '@carillon/sdk'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { returnFocus } from '../../parts/return-focus.ts'
import { Time } from '../../parts/time.tsx'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DELIVERIES, type Endpoint, type EndpointSearch } from './search.ts'

type Delivery = components['schemas']['WebhookDelivery']

/** Where the focus returns when the drawer closes. */
const linkId = (id: number) => `delivery-${id}`

/** The deliveries of an endpoint, newest first, and the one that is open. */
export function Deliveries({ endpoint, search: { delivery, ...search } }: { endpoint: Endpoint; search: Omit<EndpointSearch, 'view'> }) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate({ from: '/p/$project/webhooks/$endpointId' })
  const deliveries = useRead(
    DELIVERIES,
    { path: { endpointId: endpoint.id }, query: { ...search, limit: 50 } },
    { keepsPrevious: true, refetchInterval: 2 * LIVE_MS },
  )
  const close = () => {
    void navigate({ search, replace: true })
    if (delivery !== undefined) returnFocus(linkId(delivery))
  }
  return (
    <div className={delivery === undefined ? undefined : 'beside'}>
      <Card>
        <SearchTable
          label={t('view.deliveries')}
          columns={useColumns(delivery !== undefined)}
          rows={deliveries}
          search={search}
          onSearch={(search, replace) => void navigate({ search, replace })}
          searchLabel={t('deliveries.search')}
          selected={delivery}
          empty={t('deliveries.empty')}
        />
      </Card>
      {delivery !== undefined && <DeliveryDrawer key={delivery} endpoint={endpoint} deliveryId={delivery} onClose={close} />}
    </div>
  )
}

function useColumns(isBeside: boolean): Column<Delivery>[] {
  const { t } = useTranslation('webhooks')
  const columns: Column<Delivery>[] = [
    {
      id: 'event',
      label: t('column.event'),
      cell: ({ id, event_id, event_type }) => (
        <>
          <Link
            id={linkId(id)}
            className="plain"
            from="/p/$project/webhooks/$endpointId"
            search={(search) => ({ ...search, delivery: id })}
            aria-label={`${event_type} ${event_id}`}
          >
            {event_type}
          </Link>
          <code className="r">{event_id}</code>
        </>
      ),
    },
    { id: 'status', label: t('column.status'), cell: ({ status }) => <Chip state={status} /> },
    { id: 'attempts', label: t('column.attempts'), isNumber: true, isExtra: true, cell: ({ attempts }) => <Num value={attempts} /> },
    {
      id: 'answer',
      label: t('column.answer'),
      isExtra: true,
      cell: ({ last_status_code, last_error }) => (
        <>
          {last_status_code ?? <span className="quiet">–</span>}
          {last_error && <span className="r">{last_error}</span>}
        </>
      ),
    },
    {
      id: 'next',
      label: t('column.next'),
      isExtra: true,
      cell: ({ next_attempt_at }) => (next_attempt_at === null ? <span className="quiet">–</span> : <Time at={next_attempt_at} />),
    },
    { id: 'at', label: t('column.created'), isNumber: true, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ]
  return isBeside ? columns.filter(({ id }) => ['event', 'status', 'at'].includes(id)) : columns
}
