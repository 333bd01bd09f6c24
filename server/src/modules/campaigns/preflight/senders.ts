/** Checks the senders of a preflight: marketing must come from a verified domain (D-MTA-43). */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { channels } from '../../../lib/channels.ts'
import { connectProvider, domainOf, emailSenderOf, type SenderProblem, senderProblemOf } from '../../channels/index.ts'
import { fromDomainOf, sendingDomainOf } from '../../domains/index.ts'
import { findSubscription } from '../../subscriptions/index.ts'
import type { CampaignRow } from '../schema.ts'
import type { PreflightTry } from './counts.ts'

/** The results with the problems of their senders. */
export async function withSenderProblems(ctx: ProjectCtx, campaign: CampaignRow, tried: PreflightTry[]): Promise<PreflightTry[]> {
  const queued = tried.filter(({ outcome }) => outcome.state === 'queued')
  if (channels[campaign.channel].recipient !== 'email' || queued.length === 0) return tried
  if ((await findSubscription(ctx, campaign.subscription_id))?.is_transactional) return tried
  const problems = await problemsOf(ctx, campaign, new Set(queued.map(({ from }) => from)))
  return tried.map((one) => {
    const problem = one.outcome.state === 'queued' ? problems.get(one.from) : undefined
    return problem ? withProblem(one, problem) : one
  })
}

const withProblem = (tried: PreflightTry, { message, blocks }: SenderProblem): PreflightTry => ({
  ...tried,
  ...(blocks && { outcome: { state: 'failed', reason: 'provider_rejected' } }),
  problems: [...tried.problems, { kind: 'unverified_domain', message }],
})

/** By the sender of the template; undefined stands for the default one. */
async function problemsOf(
  ctx: ProjectCtx,
  { channel, provider_id, custom_domain_id }: CampaignRow,
  senders: Set<string | undefined>,
): Promise<Map<string | undefined, SenderProblem>> {
  const connection = await connectProvider(ctx, channel, provider_id)
  const domain = custom_domain_id === null ? undefined : await fromDomainOf(ctx, custom_domain_id)
  const problems = new Map<string | undefined, SenderProblem>()
  for (const from of senders) {
    const mailbox = emailSenderOf({ from }, connection.defaultFrom ?? '', domain)
    if (!mailbox) continue
    const fromDomain = domainOf(mailbox.address)
    const problem = senderProblemOf(fromDomain, await sendingDomainOf(ctx, fromDomain, connection.returnDomain), connection.provider)
    if (problem) problems.set(from, problem)
  }
  return problems
}
