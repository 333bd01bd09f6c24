import { Button, Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Archive as ArchiveObject } from '../../parts/archive.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { keyOf, useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { useLiveCampaign } from '../../parts/live/campaign.ts'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { Controls } from './controls.tsx'
import { RecipientDrawer } from './drawer.tsx'
import { Engagement } from './engagement.tsx'
import { useListNames } from './list-names.ts'
import { Progress } from './progress.tsx'
import { Recipients } from './recipients.tsx'
import { CAMPAIGN, CAMPAIGNS, type Campaign } from './search.ts'
import { VariantResults } from './variant-results.tsx'

const route = getRouteApi('/member/p/$project/campaigns/$campaignId')

/** Campaigns in these states change by themselves. */
const MOVING = new Set(['scheduled', 'loading', 'running', 'aborting'])

/** A campaign: its progress, the actions that it still allows, and every recipient. */
export function CampaignPage() {
  const campaignId = Number(route.useParams().campaignId)
  // The key resets the page for another campaign, so that open dialogs and typed values of the former one do not show.
  return <PageOf key={campaignId} campaignId={campaignId} />
}

function PageOf({ campaignId }: { campaignId: number }) {
  const { user } = route.useSearch()
  const path = { campaignId }
  const isLive = useLiveCampaign(campaignId)
  const { data: campaign, error, refetch } = useRead(CAMPAIGN, { path }, { refetchInterval: isLive ? false : LIVE_MS })
  useFreshParts(campaign?.state)
  if (error && !campaign) return <Failed error={error} onRetry={() => void refetch()} />
  if (!campaign) return <Loading />
  return (
    <>
      <Head campaign={campaign} />
      <div className={user === undefined ? 'cols' : 'cols main-side'}>
        <div className="stack">
          <Progress campaign={campaign} isReadAgain={!isLive && MOVING.has(campaign.state)}>
            <Controls campaign={campaign} />
          </Progress>
          {campaign.delivery.total > 0 && <Engagement campaign={campaign} />}
          {campaign.delivery.total > 0 && <VariantResults campaign={campaign} />}
          <Recipients campaign={campaign} />
        </div>
        {user !== undefined && <RecipientDrawer key={user} campaign={campaign} userId={user} />}
      </div>
    </>
  )
}

/** What is below the head is read again whenever the campaign has another state: it may be read less often from then on. */
function useFreshParts(state: Campaign['state'] | undefined) {
  const client = useQueryClient()
  const { id } = useProject()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is what it waits for.
  useEffect(() => {
    for (const part of ['delivery', 'recipients', 'links']) void client.invalidateQueries({ queryKey: keyOf(id, `${CAMPAIGN}/${part}`) })
  }, [state, client, id])
}

function Head({ campaign }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const { id, name, type, channel, state, is_paused } = campaign
  const about = useAbout(campaign)
  return (
    <PageHead
      title={name}
      crumb={name}
      about={
        <span className="ids">
          <Chip state={state} />
          {is_paused && <Chip state="paused" />}
          <span>
            {t('ofType', { type: t(`type.${type}`), id })} · {t(`channel.${channel}.ofCampaign`)} · {about}
          </span>
        </span>
      }
      actions={<Actions campaign={campaign} />}
    />
  )
}

/** Who gets it, in words. */
function useAbout({ type, list_ids, exclusion_list_ids, event_name }: Campaign): string {
  const { t } = useTranslation('campaigns')
  const names = useListNames([...list_ids, ...exclusion_list_ids])
  const nameOf = (id: number) => names.get(id) ?? t('list', { id })
  if (type === 'trigger') return event_name ? t('onEvent', { event: event_name }) : t('onRequest')
  if (list_ids.length === 0) return t('toNone')
  const to = t('toLists', { lists: list_ids.map(nameOf).join(', ') })
  return exclusion_list_ids.length === 0 ? to : `${to} ${t('withoutLists', { lists: exclusion_list_ids.map(nameOf).join(', ') })}`
}

function Actions({ campaign }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const { id, name, state, is_direct: isDirect = false } = campaign
  const project = useProject()
  const navigate = useNavigate()
  // The server keeps the campaigns of direct messages itself.
  const mayWrite = useMay(state === 'draft' ? 'editor' : 'publisher') && !isDirect
  const mayCopy = useMay('editor') && !isDirect
  const [isArchiving, setArchiving] = useState(false)
  const params = { project: String(project.id), campaignId: String(id) }
  const duplicate = useWrite(
    (api) => api.post('/api/client/campaigns/{campaignId}/duplicate', { path: { campaignId: id } }),
    [CAMPAIGNS],
    (copy) => void navigate({ to: '/p/$project/campaigns/$campaignId/edit', params: { ...params, campaignId: String(copy.id) } }),
  )
  return (
    <>
      {duplicate.error && <Failed error={duplicate.error} />}
      <CopyAs
        label={t('moreOf', { name })}
        request={{ method: 'GET', path: CAMPAIGN, params: { campaignId: id } }}
        audited={{ type: 'campaign', id }}
      >
        {mayCopy && <Menu.Item onClick={() => duplicate.mutate(undefined)}>{t('duplicate')}</Menu.Item>}
        {mayWrite && (
          <Menu.Item color="ember" onClick={() => setArchiving(true)}>
            {t('archive.open')}
          </Menu.Item>
        )}
      </CopyAs>
      {mayWrite && (
        <Button
          variant={state === 'draft' ? 'filled' : 'default'}
          aria-keyshortcuts="e"
          onClick={() => void navigate({ to: `/p/$project/campaigns/$campaignId/${state === 'draft' ? 'edit' : 'content'}`, params })}
        >
          {t(state === 'draft' ? 'resumeDraft' : 'editContent')}
        </Button>
      )}
      <Archive campaign={campaign} isOpen={isArchiving} onClose={() => setArchiving(false)} />
    </>
  )
}

function Archive({ campaign: { id, name }, isOpen, onClose }: { campaign: Campaign; isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('campaigns')
  const project = useProject()
  const navigate = useNavigate()
  return (
    <ArchiveObject
      kind="campaign"
      object={{ id, name }}
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name })}
      action={t('archive.action')}
      changes={['/api/client/campaigns']}
      leave={() => navigate({ to: '/p/$project/campaigns', params: { project: String(project.id) }, ignoreBlocker: true })}
      done={t('archive.done', { name })}
    >
      <p>{t('archive.about')}</p>
    </ArchiveObject>
  )
}
