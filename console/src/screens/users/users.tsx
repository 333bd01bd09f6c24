import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddSampleUsers } from '../../parts/add-sample-users.tsx'
import { useRead } from '../../parts/data.ts'
import type { Selection } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { returnFocus } from '../../parts/return-focus.ts'
import { useMay, useProject } from '../../session/project.tsx'
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
  const mayChange = useMay('editor')
  return (
    <ListPage
      texts="users"
      request={{ path: PATH, query }}
      columns={useColumns(columns)}
      rows={users}
      search={search}
      tools={
        <>
          {mayChange && search.q !== undefined && <SaveAsList q={search.q} />}
          <ColumnsMenu chosen={columns} onChoose={choose} users={shown} />
        </>
      }
      selection={selection}
      emptyActions={mayChange && <AddSampleUsers />}
      searchExample={t('searchExample')}
    />
  )
}

/** The search as the rule of a new list, which its editor counts and shows before anything is saved. */
function SaveAsList({ q }: { q: string }) {
  const { t } = useTranslation('users')
  const project = String(useProject().id)
  const navigate = useNavigate()
  const rule = { any: (['external_id', 'email', 'phone'] as const).map((attribute) => ({ attribute, contains: q })) }
  return (
    <Button
      variant="default"
      size="xs"
      onClick={() => void navigate({ to: '/p/$project/lists/new', params: { project }, search: { rule } })}
    >
      {t('saveAsList')}
    </Button>
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
    returnFocus(ALL)
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
