import type { components } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { ListSearch } from '../../parts/paging.ts'
import { day } from '../../parts/time.tsx'
import { TLS } from './search.ts'

type Result = components['schemas']['TlsResult']

/** How many deliveries were encrypted, and why others were not, by day and domain. */
export function TlsResults({ search: { q, cursor, page } }: { search: ListSearch }) {
  const { t } = useTranslation('mail')
  const navigate = useNavigate({ from: '/p/$project/mail-queue' })
  const search = { ...(q && { q }), ...(cursor && { cursor }), ...(page && { page }) }
  const results = useRead(TLS, { query: { ...search, limit: 50 } }, { keepsPrevious: true })
  return (
    <Card>
      <SearchTable
        label={t('view.tls')}
        columns={useColumns()}
        rows={results}
        search={search}
        onSearch={(search, replace) => void navigate({ search: { ...search, view: 'tls' }, replace })}
        searchLabel={t('tls.search')}
        empty={t('tls.empty')}
      />
    </Card>
  )
}

function useColumns(): Column<Result>[] {
  const { t, i18n } = useTranslation('mail')
  return [
    { id: 'domain', label: t('column.domain'), cell: ({ domain }) => domain ?? t('tls.together') },
    { id: 'day', label: t('tls.day'), cell: ({ day: at }) => day(i18n.language, { at, zone: 'UTC' }) },
    { id: 'policy', label: t('tls.policy'), isExtra: true, cell: ({ policy }) => t(`tls.by.${policy}`) },
    {
      id: 'result',
      label: t('tls.result'),
      isWide: true,
      cell: ({ result }) => <Chip state={result} tone={result === 'success' ? 'good' : 'bad'} />,
    },
    { id: 'count', label: t('tls.count'), isNumber: true, cell: ({ count }) => <Num value={count} /> },
  ]
}
