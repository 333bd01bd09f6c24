/** Shows the mail queue. */
import { mapPage, type PageOf, type PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault } from '../../../lib/errors.ts'
import type { CampaignId, KeyId, MessageId } from '../../../lib/ids.ts'
import { findPauses, type ListedRecipient, listRecipients, type MailFilter, type Pause } from '../../mta/index.ts'
import { isOfErased } from '../messages.queries.ts'
import type { MailChoice, MailQueueQuery, PauseTarget, QueuedRecipient } from './schema.ts'

/** The key whose email the caller may read; null for all of it. */
const onlyOfKey = ({ caller }: ProjectCtx): KeyId | null => (caller.kind === 'secret' && caller.role === 'smtpproxy' ? caller.keyId : null)

/** A page of recipients, without users who are being erased. */
export async function listMailQueue(ctx: ProjectCtx, page: PageRequest, query: MailQueueQuery): Promise<PageOf<QueuedRecipient>> {
  const { message_id, state = message_id === undefined ? 'waiting' : undefined, campaign_id, site, domain } = query
  const found = await listRecipients(ctx, page, {
    ...(state !== undefined && { states: state === 'waiting' ? (['queued', 'claimed'] as const) : [state] }),
    ...(message_id !== undefined && { message_id: Number(message_id) as MessageId }),
    ...(campaign_id !== undefined && { campaign_id: Number(campaign_id) as CampaignId }),
    ...(site !== undefined && { site }),
    ...(domain !== undefined && { domain: domain.toLowerCase() }),
    submittedBy: onlyOfKey(ctx),
    isHidden: (mailId) => isOfErased(ctx, mailId),
  })
  return mapPage(found, present)
}

const present = ({ id: _, address, mail_from, state, is_held, due_at, ...row }: ListedRecipient): QueuedRecipient => ({
  ...row,
  recipient: address,
  from: mail_from,
  state: state === 'queued' ? (is_held ? 'paused' : 'waiting') : state === 'claimed' ? 'delivering' : state,
  next_attempt_at: state === 'queued' && !is_held ? due_at : null,
})

/** What is paused. */
export async function listPauses(ctx: ProjectCtx): Promise<{ results: PauseTarget[] }> {
  const pauses = await findPauses(ctx)
  return {
    results: pauses.map(({ scope, value }) =>
      scope === 'project' ? {} : scope === 'site' ? { site: value } : { campaign_id: Number(value) as CampaignId },
    ),
  }
}

/** The pause that a request names. */
export function pauseOf({ campaign_id, site }: PauseTarget): Pause {
  if (campaign_id !== undefined && site !== undefined) throw fault('validation_failed', 'site', 'Give `campaign_id` or `site`, not both.')
  if (site !== undefined) return { scope: 'site', value: site }
  return campaign_id === undefined ? { scope: 'project', value: '' } : { scope: 'campaign', value: String(campaign_id) }
}

export const filterOf = ({ domain, ...choice }: MailChoice): MailFilter => ({
  ...choice,
  ...(domain !== undefined && { domain: domain.toLowerCase() }),
})
