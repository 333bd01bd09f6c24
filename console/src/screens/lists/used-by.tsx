import { useTranslation } from 'react-i18next'
import { useReadAll } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { ROWS_MAX } from '../../parts/paging.ts'
import { usesIn } from './uses.ts'

const SLOWLY = { staleTime: 60_000 }

/** The campaigns and lists that use a list. Those that cannot be read are not said to be none. */
export function UsedBy({ listId }: { listId: number }) {
  const { t, i18n } = useTranslation('lists')
  const campaigns = useReadAll('/api/client/campaigns', {}, SLOWLY)
  const lists = useReadAll('/api/client/lists', {}, SLOWLY)
  const failed = [campaigns, lists].find(({ error, data }) => error && !data)
  const isCut = [campaigns, lists].some(({ data }) => data?.length === ROWS_MAX)
  const most = new Intl.NumberFormat(i18n.language).format(ROWS_MAX)
  return (
    <Card
      title={t('used.heading')}
      footer={
        <span className="quiet xs">
          {t('used.journeys')} {isCut && t('used.cut', { most })}
        </span>
      }
    >
      {failed ? (
        <Failed error={failed.error} onRetry={() => void failed.refetch()} />
      ) : campaigns.data && lists.data ? (
        <Uses uses={usesIn(listId, campaigns.data, lists.data)} />
      ) : (
        <Loading />
      )}
    </Card>
  )
}

function Uses({ uses }: { uses: ReturnType<typeof usesIn> }) {
  const { t } = useTranslation('lists')
  if (uses.length === 0) return <p className="pad quiet sm">{t('used.none')}</p>
  return (
    <ul className="lines">
      {uses.map(({ key, name, how }) => (
        <li key={key}>
          <span>{name}</span>
          <span className="quiet">{t(`used.${how}`)}</span>
        </li>
      ))}
    </ul>
  )
}
