import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { PauseAll, Pauses } from './pauses.tsx'
import { Queue } from './queue.tsx'
import { DAYS, QUEUE, SITES, TLS, VIEWS, type View } from './search.ts'
import { Sites } from './sites.tsx'
import { TlsResults } from './tls.tsx'
import { Trend } from './trend.tsx'

const route = getRouteApi('/member/p/$project/mail-queue')
const PATHS = { queue: QUEUE, sites: SITES, trend: DAYS, tls: TLS } as const

/** The email that this server delivers itself: who waits, where it goes, and whether it was encrypted. */
export function Mail() {
  const { t } = useTranslation('mail')
  const { view = 'queue', open, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/mail-queue' })
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATHS[view] }} />
            <PauseAll />
          </>
        }
      />
      <Pauses />
      <TabBar
        label={t('views')}
        tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
        current={view}
        onChange={(id) => void navigate({ search: id === 'queue' ? {} : { view: id as View } })}
      />
      <div className="after">
        {view === 'queue' && <Queue search={search} open={open} />}
        {view === 'sites' && <Sites search={search} />}
        {view === 'trend' && <Trend />}
        {view === 'tls' && <TlsResults search={search} />}
      </div>
    </>
  )
}
