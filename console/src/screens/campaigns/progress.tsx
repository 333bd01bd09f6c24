import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { minutesLeft } from '../../parts/pace.ts'
import { Tally } from '../../parts/tally.tsx'
import { usePace } from '../../parts/use-pace.ts'
import { Reasons } from './reasons.tsx'
import type { Campaign } from './search.ts'
import { startOf } from './start.ts'

type Props = {
  campaign: Campaign
  /** Whether to read again every few seconds. */
  isReadAgain: boolean
  children: ReactNode
}

/** Every message of the campaign by its state, the rate and the time left. */
export function Progress({ campaign, isReadAgain, children }: Props) {
  const { t, i18n } = useTranslation('campaigns')
  const { id, state, type, send_at } = campaign
  const { data, error, refetch } = useRead(
    '/api/client/campaigns/{campaignId}/delivery',
    { path: { campaignId: id } },
    { refetchInterval: isReadAgain ? LIVE_MS : false },
  )
  const pace = usePace(data ? data.total - data.pending : 0)
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const counts: Record<string, number> = {}
  for (const { state, messages } of data.states) counts[state] = (counts[state] ?? 0) + messages
  return (
    <section className="card">
      <h2 className="vh">{t('progress.label')}</h2>
      <div className="pad">
        {data.total === 0 ? (
          <p className="quiet">
            {t(state === 'scheduled' ? 'progress.waits' : type === 'trigger' ? 'progress.noEvent' : 'progress.none')}{' '}
            {state === 'scheduled' && send_at && startOf({ ...campaign, send_at }, t, i18n.language)}
          </p>
        ) : (
          <>
            <div className="of">
              <p>
                <b className="big">
                  <Num value={data.sent} />
                </b>{' '}
                <span className="quiet">{t('progress.of', { total: new Intl.NumberFormat(i18n.language).format(data.total) })}</span>
              </p>
              <p className="sm quiet">
                <Pace campaign={campaign} pending={data.pending} pace={pace} />
              </p>
            </div>
            <Tally counts={counts} total={data.total} />
          </>
        )}
      </div>
      <Reasons campaignId={id} states={data.states} />
      {children}
    </section>
  )
}

function Pace({ campaign: { rate, is_paused, state }, pending, pace }: { campaign: Campaign; pending: number; pace: number | null }) {
  const { t, i18n } = useTranslation('campaigns')
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 })
  const limit = rate && t('progress.limit', { limit: number.format(rate.limit), seconds: number.format(rate.interval_seconds) })
  if (pending === 0 || state === 'finished' || state === 'aborted') return null
  if (is_paused) return <>{t('progress.held', { pending: number.format(pending) })}</>
  if (pace === null) return <>{limit ?? t('progress.left', { pending: number.format(pending) })}</>
  return (
    <>
      <b>{t('progress.pace', { pace: number.format(pace) })}</b>
      {limit && `, ${limit}`}
      <br />
      {t('progress.minutes', { pending: number.format(pending), count: minutesLeft(pending, pace) })}
    </>
  )
}
