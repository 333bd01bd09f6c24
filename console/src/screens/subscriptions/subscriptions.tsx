import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, NoMatch } from '../../parts/empty.tsx'
import { SearchBox } from '../../parts/filters.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { useMay } from '../../session/project.tsx'
import { SubscriptionForm } from './form.tsx'

type Subscription = components['schemas']['Subscription']

const route = getRouteApi('/member/p/$project/subscriptions')
const PATH = '/api/client/subscriptions'

/** The subscription types: what users can agree to. */
export function SubscriptionTypes() {
  const { t } = useTranslation('subscriptions')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/subscriptions' })
  const mayChange = useMay('admin')
  const [edited, setEdited] = useState<Subscription | 'new' | null>(null)
  const query = { ...search, limit: 50 }
  const types = useRead(PATH, { query }, { keepsPrevious: true })
  const searchFor = (q: string) => void navigate({ search: q === '' ? {} : { q }, replace: true })
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATH, query }} />
            {mayChange && (
              <Button leftSection={<IconPlus size={16} stroke={1.5} aria-hidden />} onClick={() => setEdited('new')}>
                {t('create.open')}
              </Button>
            )}
          </>
        }
      />
      <Card>
        <div className="tools">
          <SearchBox label={t('search')} value={search.q ?? ''} onChange={searchFor} />
        </div>
        <DataTable
          label={t('title')}
          columns={useColumns(mayChange, setEdited)}
          query={types}
          rowKey={({ id }) => id}
          empty={search.q === undefined ? <Empty>{t('empty')}</Empty> : <NoMatch onClear={() => searchFor('')} />}
          onPage={(paging) => void navigate({ search: ({ q }) => ({ ...(q !== undefined && { q }), ...paging }) })}
        />
      </Card>
      <SubscriptionForm edited={edited} onClose={() => setEdited(null)} />
    </>
  )
}

function useColumns(mayChange: boolean, onEdit: (subscription: Subscription) => void): Column<Subscription>[] {
  const { t } = useTranslation('subscriptions')
  const edit: Column<Subscription> = {
    id: 'edit',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    cell: (subscription) => (
      <Button size="xs" variant="default" aria-label={t('edit.of', { name: subscription.name })} onClick={() => onEdit(subscription)}>
        {t('edit.open')}
      </Button>
    ),
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ name, description }) => (
        <>
          {name}
          {description && <span className="r">{description}</span>}
        </>
      ),
    },
    { id: 'channel', label: t('column.channel'), cell: ({ channel }) => t(`channel.${channel}`), isExtra: true },
    {
      id: 'begins',
      label: t('column.begins'),
      cell: ({ default_state }) => <Chip state={default_state === 1 ? 'subscribed' : 'unsubscribed'} />,
      isExtra: true,
    },
    {
      id: 'kind',
      label: t('column.kind'),
      isWide: true,
      cell: ({ is_public, is_transactional, requires_confirmation }) =>
        [
          t(is_public ? 'kind.public' : 'kind.private'),
          ...(is_transactional ? [t('kind.transactional')] : []),
          ...(requires_confirmation ? [t('kind.confirmed')] : []),
        ].join(' · '),
    },
    ...(mayChange ? [edit] : []),
  ]
}
