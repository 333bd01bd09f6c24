import type { CarillonError, components } from '@carillon/sdk'
import { Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { keyOf, useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Num } from '../../parts/number.tsx'
import { useApi, useProject } from '../../session/project.tsx'

const PREFLIGHTS = '/api/client/campaigns/{campaignId}/preflights'
const AGAIN_MS = 500

export type Preflight = components['schemas']['CampaignPreflightReply']

type Wanted = { campaignId: number; version: string; isReady: boolean }

/** Has the server render the message of every user in the audience, without sending any, and follows its progress. */
export function usePreflight({ campaignId, version, isReady }: Wanted): { preflight: Preflight | undefined; error: CarillonError | null } {
  const api = useApi()
  const { id } = useProject()
  const started = useQuery<Preflight, CarillonError>({
    queryKey: keyOf(id, PREFLIGHTS, { campaignId, version }),
    queryFn: () => api.post(PREFLIGHTS, { path: { campaignId } }),
    enabled: isReady,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data, error } = useRead(
    '/api/client/campaigns/{campaignId}/preflights/{preflightId}',
    { path: { campaignId, preflightId: started.data?.id ?? 0 } },
    { enabled: started.data !== undefined, refetchInterval: ({ state }) => (state.data?.state === 'finished' ? false : AGAIN_MS) },
  )
  return { preflight: isReady ? data : undefined, error: started.error ?? (data ? null : error) }
}

/** The audience, the users that get the message, and the number of the others for each reason. */
export function Funnel(wanted: Wanted) {
  const { preflight, error } = usePreflight(wanted)
  if (error) return <Failed error={error} />
  return <FunnelOf preflight={preflight} />
}

/** The number of users who would get the message. Without a template, those who could. */
export const reachedBy = ({ counts }: Preflight): number =>
  counts.filter(({ state, reason }) => state === 'queued' || reason === 'no_template').reduce((sum, { people }) => sum + people, 0)

export function FunnelOf({ preflight }: { preflight: Preflight | undefined }) {
  const { t, i18n } = useTranslation('campaigns')
  if (!preflight || preflight.state === 'running') {
    const [done, all] = [preflight?.people_done ?? 0, preflight?.people_total ?? 0]
    const number = new Intl.NumberFormat(i18n.language)
    return (
      <div className="pad" role="status">
        <p className="sm quiet">{t('funnel.counting', { done: number.format(done), total: number.format(all) })}</p>
        <Progress value={all === 0 ? 0 : (100 * done) / all} aria-label={t('funnel.heading')} mt="xs" />
      </div>
    )
  }
  const left = preflight.counts.filter(({ state, reason }) => state !== 'queued' && reason !== 'no_template')
  return (
    <ul className="lines funnel">
      <li>
        {t('funnel.inLists')} <Num value={preflight.people_total} />
      </li>
      {left
        .toSorted((a, b) => b.people - a.people)
        .map(({ state, reason, people }) => (
          <li key={`${state} ${reason}`} className={state === 'failed' ? 'tb' : 'quiet'}>
            <span>
              {t(`reason.${reason}`, { defaultValue: String(reason) })}
              <code className="r">
                {state} · {reason}
              </code>
            </span>
            <span className="n">
              −<Num value={people} />
            </span>
          </li>
        ))}
      <li className="total">
        <b>{t('funnel.reached')}</b>
        <b>
          <Num value={reachedBy(preflight)} />
        </b>
      </li>
    </ul>
  )
}
