import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Filter } from '../../parts/filters.tsx'
import { useMay, useProject } from '../../session/project.tsx'

const OFFERED_MAX = 100
const KEPT_MS = 60_000

type Named = { id: number; name: string }
type Read = { data: { results: Named[] } | undefined }

const query = { limit: OFFERED_MAX } as const

/** What messages come from, by name: the latest campaigns and journeys. */
export function useSources() {
  const campaigns: Read = useRead('/api/client/campaigns', { query }, { staleTime: KEPT_MS })
  const journeys: Read = useRead('/api/client/journeys', { query }, { staleTime: KEPT_MS })
  return { campaigns: campaigns.data?.results ?? [], journeys: journeys.data?.results ?? [] }
}

export type Sources = ReturnType<typeof useSources>

/** The name of where a message comes from; null for a campaign or a journey that is older or deleted. */
export function sourceName({ campaigns, journeys }: Sources, { campaign_id, journey_id }: { campaign_id: number; journey_id?: number }) {
  const [named, id] = journey_id === undefined ? [campaigns, campaign_id] : [journeys, journey_id]
  return named.find((one) => one.id === id)?.name ?? null
}

const filterOf = (id: string, label: string, named: Named[]): Filter => ({
  id,
  label,
  values: named.map(({ id, name }) => ({ value: String(id), label: name })),
})

/** The filters by campaign, journey and, for those who may see them, provider. A filter without a value to choose is left out. */
export function useSourceFilters({ campaigns, journeys }: Sources): Filter[] {
  const { t } = useTranslation('messages')
  const providers = useRead('/api/client/providers', { query }, { staleTime: KEPT_MS, enabled: useMay('admin') })
  const { environment } = useProject()
  const kinds = [
    ...new Set([...(environment === 'sandbox' ? ['sandbox'] : []), ...(providers.data?.results ?? []).map(({ kind }) => kind)]),
  ].sort()
  const filters = [
    filterOf('campaign_id', t('filter.campaign_id'), campaigns),
    filterOf('journey_id', t('filter.journey_id'), journeys),
    { id: 'provider', label: t('filter.provider'), values: kinds.map((value) => ({ value, label: value })) },
  ]
  return filters.filter(({ values }) => values.length > 0)
}
