import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Selection } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { useMay } from '../../session/project.tsx'
import { Bulk } from './bulk.tsx'
import { type User, useChosenColumns, useColumns } from './columns.tsx'
import { ColumnsMenu } from './columns-menu.tsx'
import { nameOf } from './name.ts'

const route = getRouteApi('/member/p/$project/users')
const PATH = '/api/client/users'
/** A request suppresses up to 100 addresses, and a user has two. */
const PAGE = 50

/** The users of the project. */
export function Users() {
  const { t } = useTranslation('users')
  const search = route.useSearch()
  const query = { ...search, limit: PAGE, sort: 'updated_at' as const, direction: 'desc' as const }
  const users = useRead(PATH, { query }, { keepsPrevious: true })
  const shown = users.data?.results ?? []
  const [columns, choose] = useChosenColumns()
  const selection = useSelection(shown)
  return (
    <ListPage
      texts="users"
      request={{ path: PATH, query }}
      columns={useColumns(columns)}
      rows={users}
      search={search}
      tools={<ColumnsMenu chosen={columns} onChoose={choose} users={shown} />}
      selection={selection}
      searchExample={t('searchExample')}
    />
  )
}

const ALL = 'select-all-users'

/** Users of the page who are selected; those who are not shown are not. There is nothing to select for whom may do nothing with it. */
function useSelection(shown: User[]): Selection<User> | undefined {
  const { t } = useTranslation('users')
  const mayChange = useMay('editor')
  const [keys, setKeys] = useState<ReadonlySet<string | number>>(new Set())
  const users = shown.filter(({ id }) => keys.has(id))
  const clear = () => {
    setKeys(new Set())
    document.getElementById(ALL)?.focus()
  }
  if (!mayChange) return undefined
  return {
    id: ALL,
    label: t('bulk.all'),
    labelOf: (user) => t('bulk.one', { name: nameOf(user) }),
    keys: new Set(users.map(({ id }) => id)),
    onChange: setKeys,
    bar: <Bulk users={users} onClear={clear} />,
  }
}
