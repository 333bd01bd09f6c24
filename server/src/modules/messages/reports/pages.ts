/** The endpoint that providers call back. It needs no key. */
import { type PublicPage, type PublicReply, type PublicRequest, publicPage } from '../../../infra/http/public-page.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { CALLBACK_BYTES_MAX, CALLBACK_PATH, readProviderCallback } from '../../channels/index.ts'
import type { FindCampaignSubscriptions } from '../sending/find-sending-campaigns.ts'
import { applyReports } from './reports.ts'

export const callbackPages = (findCampaignSubscriptions: FindCampaignSubscriptions): PublicPage[] =>
  (['POST', 'GET'] as const).map((method) =>
    publicPage({
      method,
      path: CALLBACK_PATH,
      summary:
        method === 'POST' ? 'Receive reports from a provider.' : 'Receive reports from a provider that sends them as query parameters.',
      open: 'The provider proves its identity with a signature, or with credentials that were given only to it.',
      essential: true,
      bytesMax: CALLBACK_BYTES_MAX,
      run: (ctx, request) => receive(ctx, request, findCampaignSubscriptions),
    }),
  )

/** Reports are stored before the provider is answered. */
async function receive(outer: Ctx, request: PublicRequest, findCampaignSubscriptions: FindCampaignSubscriptions): Promise<PublicReply> {
  const { ctx, providerId, reports, once, answer, reply } = await readProviderCallback(outer, request)
  const text = await applyReports(ctx, findCampaignSubscriptions, providerId, reports, { once, repliesInAnswer: answer !== undefined })
  return text !== undefined && answer ? answer(text) : reply
}
