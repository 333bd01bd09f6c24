import type { components } from '@carillon/sdk'
import { Button, Group } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { CreateKey } from './create-key.tsx'
import { EditKey } from './edit-key.tsx'

type Key = components['schemas']['Key']

const route = getRouteApi('/member/p/$project/keys')
const PATH = '/api/client/keys'

/** The API keys of the project. */
export function Keys() {
  const { t } = useTranslation('keys')
  const search = route.useSearch()
  const [isCreating, setCreating] = useState(false)
  const [editing, setEditing] = useState<Key | null>(null)
  const [archiving, setArchiving] = useState<Key | null>(null)
  const query = { ...search, limit: 50 }
  const keys = useRead(PATH, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="keys"
        request={{ path: PATH, query }}
        columns={useColumns(setEditing, setArchiving)}
        rows={keys}
        search={search}
        action={<AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>}
      />
      <CreateKey isOpen={isCreating} onClose={() => setCreating(false)} />
      <EditKey edited={editing} onClose={() => setEditing(null)} />
      <Archive archived={archiving} onClose={() => setArchiving(null)} />
    </>
  )
}

function useColumns(onEdit: (key: Key) => void, onArchive: (key: Key) => void): SavedColumn<Key>[] {
  const { t } = useTranslation('keys')
  const { project } = route.useParams()
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [{ label: t('csv.description'), text: ({ description }) => description }],
      cell: ({ name, description }) => (
        <>
          {name}
          {description && <span className="r">{description}</span>}
        </>
      ),
    },
    { id: 'value', label: t('column.value'), text: ({ value }) => value, cell: ({ value }) => <code>{value}</code>, isWide: true },
    { id: 'scope', label: t('column.scope'), text: ({ scope }) => t(`scope.${scope}`) },
    { id: 'role', label: t('column.role'), text: ({ role }) => role, isExtra: true },
    {
      id: 'requests',
      label: t('column.requests'),
      hasNoData: true,
      cell: ({ id, name }) => (
        <Link
          className="link"
          to="/p/$project/api-log"
          params={{ project }}
          search={{ actor_type: 'key', actor_id: String(id) }}
          aria-label={t('requests.of', { name })}
        >
          {t('requests.open')}
        </Link>
      ),
      isExtra: true,
    },
    {
      id: 'created',
      label: t('column.created'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isExtra: true,
    },
    {
      id: 'actions',
      label: t('column.actions'),
      isUnlabelled: true,
      isNumber: true,
      cell: (key) =>
        key.is_system_key ? (
          <span className="quiet">{t('system')}</span>
        ) : (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <Button size="xs" variant="default" onClick={() => onEdit(key)} aria-label={t('edit.of', { name: key.name })}>
              {t('edit.open')}
            </Button>
            <Button size="xs" variant="default" onClick={() => onArchive(key)} aria-label={t('archive.of', { name: key.name })}>
              {t('archive.open')}
            </Button>
          </Group>
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
