import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Others, Taken, useEditLock } from '../../parts/presence.tsx'
import { useMay } from '../../session/project.tsx'
import { Editor } from './editor/editor.tsx'
import { CAMPAIGN } from './search.ts'

const route = getRouteApi('/member/p/$project/campaigns/$campaignId/content')

/** The content of a campaign that is no longer a draft. A change applies to every message that is rendered after it. */
export function ContentPage() {
  const { t } = useTranslation('campaigns')
  const { project, campaignId } = route.useParams()
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns/$campaignId/content' })
  const mayPublish = useMay('publisher')
  const lock = useEditLock('campaign', Number(campaignId), { isWanted: mayPublish, isLocking: true })
  const { data, error, refetch } = useRead(CAMPAIGN, { path: { campaignId: Number(campaignId) } })
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <>
      <PageHead
        title={t('content.title', { name: data.name })}
        crumb={data.name}
        about={t(mayPublish ? 'content.about' : 'content.readOnly')}
        actions={
          <>
            <Others lock={lock} />
            <Button
              variant="default"
              onClick={() => void navigate({ to: '/p/$project/campaigns/$campaignId', params: { project, campaignId } })}
            >
              {t('content.back')}
            </Button>
          </>
        }
      />
      <Taken lock={lock} />
      <Editor
        key={lock.opened}
        campaign={data}
        place={search}
        onPlace={(place) => void navigate({ search: place })}
        isLocked={lock.isLocked}
      />
    </>
  )
}
