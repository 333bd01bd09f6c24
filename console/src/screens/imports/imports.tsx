import type { components } from '@carillon/sdk'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { ImportCard } from './import-card.tsx'
import './imports.css'
import { ListSelect, useStaticLists } from './lists.tsx'

type ListImport = components['schemas']['ListImport']

const route = getRouteApi('/member/p/$project/imports')
const PATH = '/api/client/lists/{listId}/imports'

/** The imports of a list, with the results of their rows. */
export function Imports() {
  const { t } = useTranslation('imports')
  const project = String(useProject().id)
  const { list: wanted, import: opened, ...paging } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/imports' })
  const mayImport = useMay('editor')
  const { lists, error, refetch } = useStaticLists()
  const list = wanted ?? lists?.[0]?.id
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            {list !== undefined && <CopyAs label={t('more')} request={{ method: 'GET', path: PATH, params: { listId: list } }} />}
            {mayImport && (
              <AddButton
                onClick={() =>
                  void navigate({ to: '/p/$project/imports/new', params: { project }, search: list === undefined ? {} : { list } })
                }
              >
                {t('open')}
              </AddButton>
            )}
          </>
        }
      />
      {lists === undefined && (error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {lists && list === undefined && (
        <Card>
          <Empty>{t('noList')}</Empty>
        </Card>
      )}
      {list !== undefined && (
        <div className="stack">
          {opened !== undefined && <ImportCard key={opened} listId={list} importId={opened} />}
          <Card>
            <div className="tools">
              <ListSelect value={list} onChange={(list) => void navigate({ search: { list } })} />
            </div>
            <Table listId={list} opened={opened} paging={paging} />
          </Card>
        </div>
      )}
    </>
  )
}

type TableProps = { listId: number; opened: number | undefined; paging: { cursor?: string; page?: 'prev' } }

function Table({ listId, opened, paging }: TableProps) {
  const { t } = useTranslation('imports')
  const navigate = useNavigate({ from: '/p/$project/imports' })
  const imports = useRead(
    PATH,
    { path: { listId }, query: { ...paging, limit: 25 } },
    { keepsPrevious: true, refetchInterval: 5 * LIVE_MS },
  )
  return (
    <DataTable
      label={t('title')}
      columns={useColumns(listId)}
      query={imports}
      rowKey={({ id }) => id}
      selected={opened}
      empty={<Empty>{t('empty')}</Empty>}
      onPage={(paging) => void navigate({ search: { list: listId, ...paging } })}
    />
  )
}

function useColumns(list: number): Column<ListImport>[] {
  const { t } = useTranslation('imports')
  return [
    {
      id: 'file',
      label: t('column.file'),
      cell: ({ id, filename, dry_run }) => (
        <>
          <Link className="plain" from="/p/$project/imports" search={{ list, import: id }}>
            {filename ?? t('number', { id })}
          </Link>
          {dry_run && <span className="r">{t('dryRun')}</span>}
        </>
      ),
    },
    { id: 'state', label: t('column.state'), cell: ({ state, reason }) => <Chip state={state} reason={reason} /> },
    { id: 'rows', label: t('column.rows'), cell: ({ rows }) => <Num value={rows} />, isNumber: true, isExtra: true },
    { id: 'failed', label: t('column.failed'), cell: ({ failed }) => <Num value={failed} />, isNumber: true, isExtra: true },
    { id: 'at', label: t('column.at'), cell: ({ created_at }) => <Time at={created_at} />, isNumber: true, isExtra: true },
  ]
}
