import type { components } from '@carillon/sdk'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Time } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { nameOf } from './name.ts'

type User = components['schemas']['User']

const route = getRouteApi('/member/p/$project/users')

/** The users of the project. */
export function Users() {
  const { t } = useTranslation('users')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/users' })
  const query = { ...search, limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const users = useRead('/api/client/users', { query }, { keepsPrevious: true })
  return (
    <ListPage
      title={t('title')}
      about={t('about')}
      more={t('more')}
      request={{ path: '/api/client/users', query }}
      columns={useColumns()}
      rows={users}
      search={search}
      onSearch={(search, replace) => void navigate({ search, replace })}
      searchLabel={t('search')}
      empty={t('empty')}
      searchExample={t('searchExample')}
    />
  )
}

function useColumns(): Column<User>[] {
  const { t } = useTranslation('users')
  const project = useProject()
  return [
    {
      id: 'user',
      label: t('column.user'),
      cell: (user) => (
        <>
          <Link className="plain" to="/p/$project/users/$userId" params={{ project: String(project.id), userId: user.external_id }}>
            {nameOf(user)}
          </Link>
          <code className="r">{user.external_id}</code>
        </>
      ),
    },
    { id: 'email', label: t('column.email'), cell: ({ email }) => email ?? <span className="quiet">–</span>, isWide: true },
    { id: 'phone', label: t('column.phone'), cell: ({ phone }) => phone ?? <span className="quiet">–</span>, isExtra: true },
    { id: 'locale', label: t('column.locale'), cell: ({ locale }) => locale ?? <span className="quiet">–</span>, isExtra: true },
    { id: 'timezone', label: t('column.timezone'), cell: ({ timezone }) => timezone ?? <span className="quiet">–</span>, isExtra: true },
    { id: 'updated', label: t('column.updated'), cell: ({ updated_at }) => <Time at={updated_at} />, isNumber: true, isExtra: true },
  ]
}
