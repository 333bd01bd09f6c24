import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, NoMatch } from '../../parts/empty.tsx'
import { SearchBox } from '../../parts/filters.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { AddSuppressions } from './add.tsx'

type Suppression = components['schemas']['Suppression']

const route = getRouteApi('/member/p/$project/suppressions')
const PATH = '/api/client/suppressions'

/** The addresses that get no messages, with the reason of each. */
export function Suppressions() {
  const { t } = useTranslation('suppressions')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/suppressions' })
  const mayAdd = useMay('editor')
  const [isAdding, setAdding] = useState(false)
  const [lifted, setLifted] = useState<Suppression | null>(null)
  const query = { ...search, limit: 50 }
  const suppressions = useRead(PATH, { query }, { keepsPrevious: true })
  const searchFor = (q: string) => void navigate({ search: q === '' ? {} : { q }, replace: true })
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATH, query }} />
            {mayAdd && (
              <Button leftSection={<IconPlus size={16} stroke={1.5} aria-hidden />} onClick={() => setAdding(true)}>
                {t('add.open')}
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
          columns={useColumns(setLifted)}
          query={suppressions}
          rowKey={({ id }) => id}
          empty={search.q === undefined ? <Empty>{t('empty')}</Empty> : <NoMatch onClear={() => searchFor('')} />}
          onPage={(paging) => void navigate({ search: ({ q }) => ({ ...(q !== undefined && { q }), ...paging }) })}
        />
      </Card>
      <AddSuppressions isOpen={isAdding} onClose={() => setAdding(false)} />
      <Lift lifted={lifted} onClose={() => setLifted(null)} />
    </>
  )
}

function useColumns(onLift: (suppression: Suppression) => void): Column<Suppression>[] {
  const { t } = useTranslation('suppressions')
  const mayLift = useMay('admin')
  const lift: Column<Suppression> = {
    id: 'lift',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    cell: (suppression) => (
      <Button
        size="xs"
        variant="default"
        aria-label={t('lift.of', { address: suppression.address ?? t('erased') })}
        onClick={() => onLift(suppression)}
      >
        {t('lift.open')}
      </Button>
    ),
  }
  return [
    {
      id: 'address',
      label: t('column.address'),
      cell: ({ address, channel }) => (
        <>
          {address ?? t('erased')}
          <span className="r">{t(`channel.${channel}`)}</span>
        </>
      ),
    },
    {
      id: 'reason',
      label: t('column.reason'),
      isWide: true,
      cell: ({ reason, stops_transactional }) => (
        <>
          <code>{reason}</code>
          <span className="r">
            {t(`reason.${reason}`)}
            {stops_transactional === false && ` ${t('transactional')}`}
          </span>
        </>
      ),
    },
    {
      id: 'source',
      label: t('column.source'),
      isExtra: true,
      cell: ({ source }) => (
        <span className="quiet xs">
          {Object.entries(source)
            .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
            .join(', ')}
        </span>
      ),
    },
    { id: 'created', label: t('column.created'), cell: ({ created_at }) => <Time at={created_at} />, isExtra: true },
    ...(mayLift ? [lift] : []),
  ]
}

/** Lifting a suppression lets messages leave again, so it is confirmed. */
function Lift({ lifted, onClose }: { lifted: Suppression | null; onClose: () => void }) {
  const { t } = useTranslation('suppressions')
  const address = lifted?.address ?? t('erased')
  const lift = useWrite(
    (api, { id }: Suppression) => api.delete('/api/client/suppressions/{suppressionId}', { path: { suppressionId: id } }),
    [PATH],
    () => {
      onClose()
      said(t('lift.done', { address }))
    },
  )
  return (
    <Confirm
      isOpen={lifted !== null}
      onClose={onClose}
      title={t('lift.title', { address })}
      action={t('lift.action')}
      isPending={lift.isPending}
      error={lift.error}
      onConfirm={() => lifted && lift.mutate(lifted)}
    >
      <p>{t('lift.about')}</p>
    </Confirm>
  )
}
