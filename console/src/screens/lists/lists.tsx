import type { components } from '@carillon/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { useArchivedColumns, useArchivedFilter } from '../../parts/archived.tsx'
import { archivedQueryOf } from '../../parts/archived-search.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Filter } from '../../parts/filters.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CreateList } from './create-list.tsx'
import { Trend, useSizes } from './trend.tsx'
import './lists.css'

type List = components['schemas']['List']

const route = getRouteApi('/member/p/$project/lists')
const PATH = '/api/client/lists'

/** The lists of the project. */
export function Lists() {
  const { t } = useTranslation('lists')
  const search = route.useSearch()
  const [isCreating, setCreating] = useState(false)
  const mayCreate = useMay('editor')
  const query = { ...archivedQueryOf(search), limit: 50 }
  const lists = useRead(PATH, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="lists"
        request={{ path: PATH, query }}
        columns={useColumns(search.show === 'archived', lists.data?.results)}
        rows={lists}
        search={search}
        filters={[...useTagFilter(), useArchivedFilter()]}
        action={mayCreate && <AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>}
      />
      <CreateList isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

/** The filter by a tag, once lists have tags. */
function useTagFilter(): Filter[] {
  const { t } = useTranslation('lists')
  const tags = useRead('/api/client/lists/tags', undefined).data?.results ?? []
  return tags.length === 0 ? [] : [{ id: 'tag', label: t('filterTag'), values: tags.map(({ tag }) => ({ value: tag, label: tag })) }]
}

function useColumns(isArchived: boolean, shown: List[] | undefined): SavedColumn<List>[] {
  const sizes = useSizes(shown)
  const archived = useArchivedColumns<List>('list', () => true)
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  const last: SavedColumn<List> = {
    id: 'updated',
    label: t('column.updated'),
    text: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <Time at={updated_at} />,
    isNumber: true,
    isExtra: true,
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [
        { label: t('csv.id'), text: ({ id }) => id },
        { label: t('csv.description'), text: ({ description }) => description },
      ],
      cell: ({ id, name, description }) => (
        <>
          {isArchived ? (
            name
          ) : (
            <Link className="plain" to="/p/$project/lists/$listId" params={{ project, listId: String(id) }}>
              {name}
            </Link>
          )}
          {description && <span className="r">{description}</span>}
        </>
      ),
    },
    { id: 'type', label: t('column.type'), text: ({ type }) => t(`type.${type}`), isExtra: true },
    { id: 'state', label: t('column.state'), text: ({ state }) => state, cell: ({ state }) => <Chip state={state} />, isExtra: true },
    {
      id: 'users',
      label: t('column.users'),
      text: ({ users_count }) => users_count,
      cell: ({ users_count }) => <Num value={users_count} />,
      isNumber: true,
    },
    {
      id: 'trend',
      label: t('column.trend'),
      hasNoData: true,
      isNumber: true,
      isExtra: true,
      cell: (list) => <Trend list={list} sizes={sizes.get(list.id)} />,
    },
    { id: 'tags', label: t('column.tags'), text: ({ tags }) => tags.join(', '), isExtra: true },
    ...(isArchived ? archived : [last]),
  ]
}
