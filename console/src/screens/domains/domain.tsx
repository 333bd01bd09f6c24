import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { DomainMenu } from './menu.tsx'
import { Records } from './records.tsx'
import { DOMAIN, DOMAINS, nameOf, VIEWS, type View } from './search.ts'
import { State } from './state.tsx'
import { WarmUp } from './warm-up.tsx'

const route = getRouteApi('/member/p/$project/domains/$domainId')

/** One domain: its records, expected and found, and how it is warmed up. */
export function DomainPage() {
  const domainId = Number(route.useParams().domainId)
  // The key resets the page for another domain, so that open dialogs and typed values of the former one do not show.
  return <PageOf key={domainId} domainId={domainId} />
}

function PageOf({ domainId }: { domainId: number }) {
  const { t } = useTranslation('domains')
  const { view = 'records' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/domains/$domainId' })
  const mayChange = useMay('admin')
  const path = { domainId }
  const { data: domain, error, refetch } = useRead(DOMAIN, { path })
  const verify = useWrite(
    (api) => api.post('/api/client/domains/{domainId}/verify', { path }),
    [DOMAINS],
    ({ records }) => said(t('found', { found: records.filter(({ status }) => status === 'ok').length, all: records.length })),
  )
  if (error && !domain) return <Failed error={error} onRetry={() => void refetch()} />
  if (!domain) return <Loading />
  return (
    <>
      <PageHead
        title={nameOf(domain)}
        crumb={nameOf(domain)}
        about={domain.sending ? t('aboutSending', { domain: domain.sending.domain, host: domain.host }) : t('aboutLinks')}
        actions={
          <>
            {mayChange && (
              <Button loading={verify.isPending} onClick={() => verify.mutate(undefined)}>
                {t('verify')}
              </Button>
            )}
            <DomainMenu domain={domain} />
          </>
        }
      />
      {verify.error && <Failed error={verify.error} />}
      {domain.sending && (
        <TabBar
          label={t('views')}
          tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
          current={view}
          onChange={(id) => void navigate({ search: id === 'records' ? {} : { view: id as View }, replace: true })}
        />
      )}
      {view === 'warm-up' && domain.sending ? (
        <div className="after">
          <WarmUp domainId={domainId} />
        </div>
      ) : (
        <div className="cols main-side">
          <Records domain={domain} />
          <State domain={domain} />
        </div>
      )}
    </>
  )
}
