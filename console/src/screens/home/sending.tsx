import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { useLiveCampaign } from '../../parts/live/campaign.ts'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Card } from '../../parts/page.tsx'
import { Tally } from '../../parts/tally.tsx'

const SENDING = new Set(['loading', 'running', 'aborting'])

/** The campaigns that were changed last. */
export const useCampaigns = () =>
  useRead('/api/client/campaigns', { query: { limit: 100, sort: 'updated_at', direction: 'desc' } }, { refetchInterval: 5 * LIVE_MS })

/** The blasts that are being sent, and how far each is. */
export function Sending() {
  const { t } = useTranslation('home')
  const { data } = useCampaigns()
  const sending = (data?.results ?? []).filter(({ type, state }) => type === 'blast' && SENDING.has(state))
  if (sending.length === 0) return null
  return (
    <Card title={t('sending.heading')}>
      {sending.map(({ id, name, state, is_paused }) => (
        <section className="send" key={id}>
          <div className="t">
            <h3>{name}</h3>
            <span>
              <Chip state={state} /> {is_paused && <Chip state="paused" />}
            </span>
          </div>
          <Progress id={id} />
        </section>
      ))}
    </Card>
  )
}

function Progress({ id }: { id: number }) {
  const isLive = useLiveCampaign(id)
  const path = { campaignId: id }
  const { data } = useRead('/api/client/campaigns/{campaignId}/delivery', { path }, { refetchInterval: isLive ? false : LIVE_MS })
  if (!data) return null
  const counts: Record<string, number> = {}
  for (const { state, messages } of data.states) counts[state] = (counts[state] ?? 0) + messages
  return <Tally counts={counts} total={data.total} isShort />
}
