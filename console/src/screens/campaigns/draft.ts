import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type Autosave, ifVersion, useAutosave, versionOf } from '../../parts/autosave.ts'
import { keyOf } from '../../parts/data.ts'
import { useApi, useProject } from '../../session/project.tsx'
import { CAMPAIGN, type Campaign } from './search.ts'

/** Fields that a campaign can be without. */
type Cleared<K extends keyof Campaign> = { [key in K]?: NonNullable<Campaign[key]> | null }

/** What the wizard edits. Without `send_at` a blast is sent when it is launched. */
export type Draft = Pick<Campaign, 'name' | 'subscription_id' | 'expires_after_hours'> &
  Partial<Pick<Campaign, 'slug' | 'tags' | 'list_ids' | 'exclusion_list_ids' | 'send_in_user_timezone' | 'event_rule'>> &
  Partial<Pick<Campaign, 'holdout_percent' | 'variants'>> &
  Cleared<'provider_id' | 'rate' | 'custom_domain_id' | 'utm' | 'winner'> & {
    send_at?: string | null
    event_name?: string | null
    mail_retries?: Campaign['mail_retries'] | null
  }

function draftOf(campaign: Campaign): Draft {
  const { name, slug, tags, subscription_id, expires_after_hours, type, channel, mail_retries = null } = campaign
  const { provider_id = null, rate = null, custom_domain_id = null, utm = null } = campaign
  const shared = {
    name,
    ...(slug !== undefined && { slug }),
    tags,
    subscription_id,
    expires_after_hours,
    provider_id,
    rate,
    custom_domain_id,
    utm,
    ...(channel === 'email' && { mail_retries }),
  }
  if (type === 'trigger')
    return { ...shared, event_name: campaign.event_name ?? null, ...(campaign.event_rule && { event_rule: campaign.event_rule }) }
  const { list_ids, exclusion_list_ids, send_in_user_timezone, send_at = null, holdout_percent, variants, winner = null } = campaign
  return { ...shared, list_ids, exclusion_list_ids, send_in_user_timezone, send_at, holdout_percent, variants, winner }
}

const storedOf = (campaign: Campaign) => ({ value: draftOf(campaign), version: versionOf(campaign) })

/** The settings of a campaign, saved as they change. */
export function useDraft(campaign: Campaign, isLocked: boolean): Autosave<Draft> {
  const api = useApi()
  const project = useProject()
  const client = useQueryClient()
  const { id } = campaign
  const reload = useCallback(async () => {
    const now = await api.get(CAMPAIGN, { path: { campaignId: id } })
    // Its variants are on other steps too, which read the campaign and not the draft.
    client.setQueryData(keyOf(project.id, CAMPAIGN, { path: { campaignId: id } }), now)
    return storedOf(now)
  }, [api, id, client, project.id])
  const save = useCallback(
    async (body: Draft, version: string | null) => {
      const saved = await api.patch(CAMPAIGN, { path: { campaignId: id }, body, headers: ifVersion(version) })
      client.setQueryData(keyOf(project.id, CAMPAIGN, { path: { campaignId: id } }), saved)
      return storedOf(saved)
    },
    [api, id, client, project.id],
  )
  return useAutosave({ key: `${project.id}.campaign.${id}`, stored: draftOf(campaign), save, reload, isLocked })
}
