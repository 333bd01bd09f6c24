import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { CreateProvider } from './create-provider.tsx'
import { PROVIDERS, type Provider } from './search.ts'

const route = getRouteApi('/member/p/$project/providers')

/** The providers of the project, by channel. */
export function Providers() {
  const { t } = useTranslation('providers')
  const search = route.useSearch()
  const [isCreating, setCreating] = useState(false)
  const query = { ...search, limit: 50, sort: 'channel' as const, direction: 'asc' as const }
  const providers = useRead(PROVIDERS, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="providers"
        request={{ path: PROVIDERS, query }}
        columns={useColumns()}
        rows={providers}
        search={search}
        action={<AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>}
      />
      <CreateProvider isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

function useColumns(): SavedColumn<Provider>[] {
  const { t } = useTranslation('providers')
  const project = String(useProject().id)
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [{ label: t('kind'), text: ({ kind }) => kind }],
      cell: ({ id, name, kind }) => (
        <>
          <Link className="plain" to="/p/$project/providers/$providerId" params={{ project, providerId: String(id) }}>
            {name}
          </Link>
          <code className="r">{kind}</code>
        </>
      ),
    },
    { id: 'channel', label: t('column.channel'), text: ({ channel }) => t(`channel.${channel}.name`) },
    {
      id: 'default',
      label: t('column.default'),
      text: ({ is_default }) => t(is_default ? 'rule.yes' : 'rule.no'),
      cell: ({ is_default }) => is_default && <Chip state={t('default')} tone="good" />,
      isExtra: true,
    },
    {
      id: 'rate',
      label: t('column.rate'),
      isExtra: true,
      text: ({ rate }) => (rate ? t('rate.of', { count: rate.limit, seconds: rate.interval_seconds }) : null),
    },
    {
      id: 'updated',
      label: t('column.updated'),
      text: ({ updated_at }) => updated_at,
      isNumber: true,
      isExtra: true,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
}
