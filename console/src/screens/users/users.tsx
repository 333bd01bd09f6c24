import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddSampleUsers } from '../../parts/add-sample-users.tsx'
import type { Selection } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Loading } from '../../parts/loading.tsx'
import { returnFocus } from '../../parts/return-focus.ts'
import type { Draft } from '../../parts/rules/rule.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { Bulk } from './bulk.tsx'
import { type User, useChosenColumns, useColumns } from './columns.tsx'
import { ColumnsMenu } from './columns-menu.tsx'
import { useUsers } from './data.ts'
import { listRuleOf } from './list-rule.ts'
import { nameOf } from './name.ts'
import { RULE_CHIP, RuleChip } from './rule-chip.tsx'
import type { UsersSearch } from './search.ts'
import './users.css'
import { lazyPart } from '../../parts/lazy-part.ts'

const RuleDrawer = lazyPart(() => import('./rule-drawer.tsx'), 'RuleDrawer')

const route = getRouteApi('/member/p/$project/users')

/** The users of the project. */
export function Users() {
  const { t } = useTranslation('users')
  const { panel, ...search } = route.useSearch()
  const { q, rule } = search
  const { users, request } = useUsers(search)
  const go = useGo()
  const shown = users.data?.results ?? []
  const [columns, choose] = useChosenColumns()
  const selection = useSelection(shown)
  const mayChange = useMay('editor')
  return (
    <ListPage
      texts="users"
      request={request}
      columns={useColumns(columns)}
      rows={users}
      search={search}
      onSearch={(next, replace) => go(next, panel !== undefined, replace)}
      chips={
        <RuleChip
          isSet={rule !== undefined}
          words={users.isPlaceholderData ? undefined : users.data?.description}
          onOpen={() => go(search, true)}
          onRemove={() => {
            go(filtered(q, undefined), false)
            returnFocus(RULE_CHIP)
          }}
        />
      }
      tools={
        <>
          {mayChange && (q !== undefined || rule !== undefined) && <SaveAsList rule={listRuleOf(q, rule, shown)} />}
          <ColumnsMenu chosen={columns} onChoose={choose} users={shown} />
        </>
      }
      selection={selection}
      emptyActions={mayChange && <AddSampleUsers />}
      searchExample={t('searchExample')}
      beside={
        panel !== undefined && (
          <Suspense fallback={<Loading />}>
            <RuleDrawer
              rule={rule}
              onApply={(next) => {
                go(filtered(q, next), false)
                returnFocus(RULE_CHIP)
              }}
              onClose={() => {
                go(search, false)
                returnFocus(RULE_CHIP)
              }}
            />
          </Suspense>
        )
      }
    />
  )
}

/** The first page of what is found. */
const filtered = (q: string | undefined, rule: Draft | undefined): UsersSearch => ({
  ...(q !== undefined && { q }),
  ...(rule !== undefined && { rule }),
})

/** Goes to another search, with the rule open beside the list or not. */
function useGo() {
  const navigate = useNavigate({ from: '/p/$project/users' })
  return (search: UsersSearch, isOpen: boolean, replace = true) =>
    void navigate({ search: { ...search, ...(isOpen && { panel: 'rule' as const }) }, replace })
}

/** What the list is filtered by, as the rule of a new list. Its editor counts and shows who matches before anything is saved. */
function SaveAsList({ rule }: { rule: Draft }) {
  const { t } = useTranslation('users')
  const project = String(useProject().id)
  const navigate = useNavigate()
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
