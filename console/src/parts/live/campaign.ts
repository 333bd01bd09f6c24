import type { Reply } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useProject } from '../../session/project.tsx'
import { keyOf } from '../data.ts'
import { useLive } from './use-live.ts'

const CAMPAIGN = '/api/client/campaigns/{campaignId}'
const DELIVERY = '/api/client/campaigns/{campaignId}/delivery'

type State = { campaign: Reply<typeof CAMPAIGN, 'get'>; delivery: Reply<typeof DELIVERY, 'get'> } | null

/** Keeps what was read of a campaign and its counts as they are on the server. Returns whether changes arrive. */
export function useLiveCampaign(campaignId: number): boolean {
  const { id } = useProject()
  const client = useQueryClient()
  return useLive<State>(`campaign:${campaignId}`, (state) => {
    if (state === null) return
    const path = { path: { campaignId } }
    client.setQueryData(keyOf(id, CAMPAIGN, path), state.campaign)
    // The winner of a test is not part of what is watched.
    client.setQueryData(keyOf(id, DELIVERY, path), (known: object | undefined) => ({ ...known, ...state.delivery }))
  })
}
