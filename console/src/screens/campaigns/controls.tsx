import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { said } from '../../parts/toast.ts'
import { readServerClock, useServerClock } from '../../session/end.ts'
import { useMay } from '../../session/project.tsx'
import { CAMPAIGN, CAMPAIGNS, type Campaign } from './search.ts'

const PAUSABLE = new Set(['scheduled', 'loading', 'running'])
const ABORTABLE = new Set(['scheduled', 'loading', 'running', 'aborting'])
const UNDO_MS = 60_000
const TICK_MS = 500

/** The actions that the campaign still allows: each button beside its consequence. */
export function Controls({ campaign }: { campaign: Campaign }) {
  const mayPublish = useMay('publisher')
  const { state, is_direct: isDirect = false } = campaign
  if (!mayPublish || isDirect) return null
  return (
    <div className="controls">
      {state === 'scheduled' && <Scheduled campaign={campaign} />}
      {PAUSABLE.has(state) && <Pause campaign={campaign} />}
      {ABORTABLE.has(state) && <Abort campaign={campaign} />}
    </div>
  )
}

const Control = ({ children, about }: { children: ReactNode; about: string }) => (
  <div>
    {children}
    <p className="sm quiet">{about}</p>
  </div>
)

/** `isNow`: it starts when the server gets it. */
type Change = { state?: 'draft'; send_at?: null; isNow?: true; done: string }

/** A scheduled blast can be a draft again, or start at once. */
function Scheduled({ campaign: { id, send_at, send_in_user_timezone: isLocal } }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const left = useSecondsTo(isLocal ? undefined : send_at)
  const change = useWrite(
    async (api, { done: _, isNow, ...changes }: Change) => {
      const now = isNow && { send_at: new Date(await readServerClock()).toISOString(), send_in_user_timezone: false }
      return api.patch(CAMPAIGN, { path: { campaignId: id }, body: { ...changes, ...now } })
    },
    [CAMPAIGNS],
    (_, { done }) => said(done),
  )
  // Its time is most often that of the launch: the draft is without one again, so that the next launch can be undone for as long.
  const isSoon = left !== null && left * 1000 < UNDO_MS
  return (
    <Control about={isSoon ? t('scheduled.soon', { count: left }) : t('scheduled.about')}>
      {change.error && <Failed error={change.error} />}
      <span className="acts">
        <Button
          loading={change.isPending}
          onClick={() => change.mutate({ state: 'draft', ...(isSoon && { send_at: null }), done: t('scheduled.isDraft') })}
          variant="default"
        >
          {t(isSoon ? 'scheduled.undo' : 'scheduled.draft')}
        </Button>
        <Button
          loading={change.isPending}
          variant="default"
          onClick={() => change.mutate({ isNow: true, done: t('scheduled.isStarting') })}
        >
          {t('scheduled.now')}
        </Button>
      </span>
    </Control>
  )
}

/** The seconds until an instant, as they pass. */
function useSecondsTo(at: string | undefined): number | null {
  const clock = useServerClock()
  const [, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return at === undefined ? null : Math.max(0, Math.ceil((new Date(at).getTime() - clock()) / 1000))
}

/** The messages that are not sent yet and may be: those that were skipped or failed are not among them. */
function usePending(campaignId: number): number {
  const { data } = useRead('/api/client/campaigns/{campaignId}/delivery', { path: { campaignId } })
  return data?.pending ?? 0
}

function Pause({ campaign: { id, is_paused, state } }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation('campaigns')
  const verb = is_paused ? 'resume' : 'pause'
  const change = useWrite(
    (api) => api.post(`/api/client/campaigns/{campaignId}/${verb}`, { path: { campaignId: id } }),
    [CAMPAIGNS],
    () => said(t(`${verb}.done`)),
  )
  const left = new Intl.NumberFormat(i18n.language).format(usePending(id))
  return (
    <Control about={t(state === 'scheduled' ? `${verb}.aboutScheduled` : `${verb}.about`, { left })}>
      {change.error && <Failed error={change.error} />}
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate(undefined)}>
        {t(`${verb}.action`)}
      </Button>
    </Control>
  )
}

function Abort({ campaign: { id, delivery } }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation('campaigns')
  const [isOpen, setOpen] = useState(false)
  const number = new Intl.NumberFormat(i18n.language)
  const abort = useWrite(
    (api) => api.patch(CAMPAIGN, { path: { campaignId: id }, body: { state: 'aborted' } }),
    [CAMPAIGNS],
    ({ in_flight = 0 }) => {
      setOpen(false)
      said(in_flight > 0 ? t('abort.inFlight', { count: in_flight }) : t('abort.done'))
    },
  )
  const about = t('abort.about', {
    left: number.format(usePending(id)),
    sent: number.format(delivery.sent),
  })
  return (
    <Control about={about}>
      <Button variant="outline" color="ember" onClick={() => setOpen(true)}>
        {t('abort.open')}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('abort.title')}
        action={t('abort.action')}
        isPending={abort.isPending}
        error={abort.error}
        onConfirm={() => abort.mutate(undefined)}
      >
        <p>{about}</p>
      </Confirm>
    </Control>
  )
}
