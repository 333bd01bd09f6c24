import type { components } from '@carillon/sdk'
import { Button, Textarea } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Failed } from '../../parts/failed.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { ListSearch } from '../../parts/paging.ts'
import { said, undoable } from '../../parts/toast.ts'
import { useMay, useProject } from '../../session/project.tsx'
import './lists.css'

type List = components['schemas']['List']
type User = components['schemas']['User']

const PATH = '/api/client/lists/{listId}/users'
const ADDED_MAX = 100

/** The users of a list. Those of a static list are added and removed here. */
export function Members({ list, search }: { list: List; search: ListSearch }) {
  const { t } = useTranslation('lists')
  const navigate = useNavigate({ from: '/p/$project/lists/$listId' })
  const query = { ...search, limit: 50 }
  const users = useRead(PATH, { path: { listId: list.id }, query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  useAfterChange(list.state, users.refetch)
  const mayChange = useMay('editor') && list.type === 'static'
  const [isAdding, setAdding] = useState(false)
  const change = useWrite(
    async (api, { ids, isRemoval }: { ids: number[]; isRemoval: boolean; name?: string }) => {
      const request = { path: { listId: list.id }, body: { user_ids: ids } }
      await (isRemoval ? api.delete(PATH, request) : api.post(PATH, request))
    },
    ['/api/client/lists'],
    (_, { ids, isRemoval, name }) => {
      if (isRemoval) undoable(t('members.removed', { name }), () => change.mutateAsync({ ids, isRemoval: false }))
    },
  )
  return (
    <Card
      title={t('members.heading')}
      aside={<Num value={list.users_count} />}
      actions={
        mayChange && (
          <Button size="xs" variant="default" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            {t('members.add')}
          </Button>
        )
      }
    >
      {isAdding && <Add listId={list.id} onDone={() => setAdding(false)} />}
      {change.error && <Failed error={change.error} />}
      <SearchTable
        label={t('members.heading')}
        columns={useColumns(mayChange, ({ id, external_id }) => change.mutate({ ids: [id], isRemoval: true, name: external_id }))}
        rows={users}
        search={search}
        onSearch={(search, replace) => void navigate({ search, replace })}
        searchLabel={t('members.search')}
        empty={t(`members.empty.${list.type}`)}
      />
    </Card>
  )
}

/** Calls `then` each time that a value has changed: while a list is built, its users are not complete. */
function useAfterChange(value: string, then: () => unknown) {
  const seen = useRef(value)
  useEffect(() => {
    if (seen.current === value) return
    seen.current = value
    then()
  })
}

function useColumns(mayRemove: boolean, onRemove: (user: User) => void): Column<User>[] {
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  const remove: Column<User> = {
    id: 'actions',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    cell: (user) => (
      <Button size="xs" variant="default" aria-label={t('members.removeOf', { name: user.external_id })} onClick={() => onRemove(user)}>
        {t('members.remove')}
      </Button>
    ),
  }
  return [
    {
      id: 'user',
      label: t('column.user'),
      cell: ({ external_id }) => (
        <Link className="plain" to="/p/$project/users/$userId" params={{ project, userId: external_id }}>
          {external_id}
        </Link>
      ),
    },
    { id: 'email', label: t('column.email'), cell: ({ email }) => email ?? <span className="quiet">–</span>, isWide: true },
    { id: 'phone', label: t('column.phone'), cell: ({ phone }) => phone ?? <span className="quiet">–</span>, isExtra: true },
    ...(mayRemove ? [remove] : []),
  ]
}

/** Adds users by their external ids, one a line. */
function Add({ listId, onDone }: { listId: number; onDone: () => void }) {
  const { t } = useTranslation('lists')
  const [text, setText] = useState('')
  const ids = [...new Set(text.split('\n').map((line) => line.trim()))].filter((id) => id !== '')
  const add = useWrite(
    (api) => api.post(PATH, { path: { listId }, body: { external_ids: ids } }),
    ['/api/client/lists'],
    ({ added, unchanged, missing }) => {
      said(t('members.added', { count: added, unchanged }))
      if (missing.length === 0) onDone()
      else setText(missing.join('\n'))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate(undefined)
  }
  const missing = add.data?.missing ?? []
  return (
    <form className="form pad" onSubmit={submit}>
      {add.error && <Failed error={add.error} />}
      <Textarea
        label={t('members.ids')}
        description={t('members.idsAbout', { count: ADDED_MAX })}
        error={missing.length > 0 ? t('members.missing', { count: missing.length }) : undefined}
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className="acts">
        <Button type="submit" loading={add.isPending} disabled={ids.length === 0 || ids.length > ADDED_MAX}>
          {t('members.submit', { count: ids.length })}
        </Button>
        <Button variant="default" onClick={onDone}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}
