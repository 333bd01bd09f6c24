import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { Attributes } from './attributes.tsx'
import { Events } from './events.tsx'

const route = getRouteApi('/member/p/$project/schema')

/** Attributes of users and events: the names that were sent, with types and samples. */
export function Schema() {
  const { t } = useTranslation('schema')
  const { view, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/schema' })
  const shown = view ?? 'attributes'
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={<CopyAs label={t('more')} request={{ method: 'GET', path: `/api/client/schema/${shown}` }} />}
      />
      <div className="stack">
        <TabBar
          label={t('view.label')}
          tabs={(['attributes', 'events'] as const).map((id) => ({ id, label: t(`view.${id}`) }))}
          current={shown}
          onChange={(id) => void navigate({ search: id === 'events' ? { view: 'events' } : {} })}
        />
        {view ? (
          <Events search={search} onSearch={(search, replace) => void navigate({ search: { ...search, view }, replace })} />
        ) : (
          <Attributes />
        )}
      </div>
    </>
  )
}
