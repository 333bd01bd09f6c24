import type { CarillonError, components, Reply } from '@carillon/sdk'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../../parts/data.ts'
import { useApi, useProject } from '../../../session/project.tsx'

const PREVIEW = '/api/client/campaigns/{campaignId}/preview'

type PreviewInput = components['schemas']['CampaignPreviewInput']
export type Preview = Reply<typeof PREVIEW, 'post'>

/** Renders a message on the server. The last one stays until the next one is there. */
export function usePreview(campaignId: number, body: PreviewInput, isWanted = true): UseQueryResult<Preview, CarillonError> {
  const api = useApi()
  const { id } = useProject()
  return useQuery<Preview, CarillonError>({
    queryKey: keyOf(id, PREVIEW, { campaignId, body }),
    queryFn: ({ signal }) => api.post(PREVIEW, { path: { campaignId }, body, signal }),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  })
}
