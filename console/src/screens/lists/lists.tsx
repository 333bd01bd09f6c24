import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, NoMatch } from '../../parts/empty.tsx'
import { SearchBox } from '../../parts/filters.tsx'
import { Num } from '../../parts/number.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CreateList } from './create-list.tsx'

type List = components['schemas']['List']

const route = getRouteApi('/member/p/$project/lists')
const PATH = '/api/client/lists'

/** The lists of the project. */
export function Lists() {
  const { t } = useTranslation('lists')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/lists' })
  const [isCreating, setCreating] = useState(false)
  const mayCreate = useMay('editor')
  const query = { ...search, limit: 50 }
  const lists = useRead(PATH, { query }, { keepsPrevious: true })
  const searchFor = (q: string) => void navigate({ search: q === '' ? {} : { q }, replace: true })
  const create = mayCreate && (
    <Button leftSection={<IconPlus size={16} stroke={1.5} aria-hidden />} onClick={() => setCreating(true)}>
      {t('create.open')}
    </Button>
  )
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATH, query }} />
            {create}
          </>
        }
      />
      <Card>
        <div className="tools">
          <SearchBox label={t('search')} value={search.q ?? ''} onChange={searchFor} />
        </div>
        <DataTable
          label={t('title')}
          columns={useColumns()}
          query={lists}
          rowKey={({ id }) => id}
          empty={search.q === undefined ? <Empty>{t('empty')}</Empty> : <NoMatch onClear={() => searchFor('')} />}
          onPage={(paging) => void navigate({ search: ({ q }) => ({ ...(q !== undefined && { q }), ...paging }) })}
        />
      </Card>
      <CreateList isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

function useColumns(): Column<List>[] {
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ id, name, description }) => (
        <>
          <Link className="plain" to="/p/$project/lists/$listId" params={{ project, listId: String(id) }}>
            {name}
          </Link>
          {description && <span className="r">{description}</span>}
        </>
      ),
    },
    { id: 'type', label: t('column.type'), cell: ({ type }) => t(`type.${type}`), isExtra: true },
    { id: 'state', label: t('column.state'), cell: ({ state }) => <Chip state={state} />, isExtra: true },
    { id: 'users', label: t('column.users'), cell: ({ users_count }) => <Num value={users_count} />, isNumber: true },
    { id: 'tags', label: t('column.tags'), cell: ({ tags }) => tags.join(', '), isExtra: true },
    { id: 'updated', label: t('column.updated'), cell: ({ updated_at }) => <Time at={updated_at} />, isNumber: true, isExtra: true },
  ]
}
