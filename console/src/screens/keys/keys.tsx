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
import { CreateKey } from './create-key.tsx'

type Key = components['schemas']['Key']

const route = getRouteApi('/member/p/$project/keys')
const PATH = '/api/client/keys'

/** The API keys of the project. */
export function Keys() {
  const { t } = useTranslation('keys')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/keys' })
  const [isCreating, setCreating] = useState(false)
  const [archiving, setArchiving] = useState<Key | null>(null)
  const keys = useRead(PATH, { query: { ...search, limit: 50 } }, { keepsPrevious: true })
  const searchFor = (q: string) => void navigate({ search: q === '' ? {} : { q }, replace: true })
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATH }} />
            <Button leftSection={<IconPlus size={16} stroke={1.5} aria-hidden />} onClick={() => setCreating(true)}>
              {t('create.open')}
            </Button>
          </>
        }
      />
      <Card>
        <div className="tools">
          <SearchBox label={t('search')} value={search.q ?? ''} onChange={searchFor} />
        </div>
        <DataTable
          label={t('title')}
          columns={useColumns(setArchiving)}
          query={keys}
          rowKey={({ id }) => id}
          empty={search.q === undefined ? <Empty>{t('empty')}</Empty> : <NoMatch onClear={() => searchFor('')} />}
          onPage={(paging) => void navigate({ search: ({ q }) => ({ ...(q !== undefined && { q }), ...paging }) })}
        />
      </Card>
      <CreateKey isOpen={isCreating} onClose={() => setCreating(false)} />
      <Archive archived={archiving} onClose={() => setArchiving(null)} />
    </>
  )
}

function useColumns(onArchive: (key: Key) => void): Column<Key>[] {
  const { t } = useTranslation('keys')
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
    { id: 'value', label: t('column.value'), cell: ({ value }) => <code>{value}</code>, isWide: true },
    { id: 'scope', label: t('column.scope'), cell: ({ scope }) => t(`scope.${scope}`) },
    { id: 'role', label: t('column.role'), cell: ({ role }) => role, isExtra: true },
    { id: 'created', label: t('column.created'), cell: ({ created_at }) => <Time at={created_at} />, isExtra: true },
    {
      id: 'actions',
      label: t('column.actions'),
      isUnlabelled: true,
      isNumber: true,
      cell: (key) =>
        key.is_system_key ? (
          <span className="quiet">{t('system')}</span>
        ) : (
          <Button size="xs" variant="default" onClick={() => onArchive(key)} aria-label={t('archive.of', { name: key.name })}>
            {t('archive.open')}
          </Button>
        ),
    },
  ]
}

/** Archiving a key cuts off whatever uses it, so it is confirmed. */
function Archive({ archived, onClose }: { archived: Key | null; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const archive = useWrite(
    (api, { id }: Key) => api.delete('/api/client/keys/{keyId}', { path: { keyId: id } }),
    [PATH],
    (_, { name }) => {
      onClose()
      said(t('archive.done', { name }))
    },
  )
  return (
    <Confirm
      isOpen={archived !== null}
      onClose={onClose}
      title={t('archive.title', { name: archived?.name })}
      action={t('archive.action')}
      isPending={archive.isPending}
      error={archive.error}
      onConfirm={() => archived && archive.mutate(archived)}
    >
      <p>{t('archive.about')}</p>
    </Confirm>
  )
}
