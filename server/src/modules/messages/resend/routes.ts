import { audits } from '../../../infra/http/audited.ts'
import { route } from '../../../infra/http/route.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { ResentMessage } from './schema.ts'
import { resendMessage } from './service.ts'

const messageAudit = audits('message', { id: 'messageId' })

export const resendRoutes = (findSendingCampaigns: FindSendingCampaigns) => [
  route({
    method: 'POST',
    path: '/api/client/messages/{messageId}/resend',
    summary: 'Send a message again.',
    description:
      'Creates a new message to the same user, from the current template and with the data of the original message, whose id is in `resent_from`. The original must have been attempted and have ended: `sent`, `delivered`, `bounced`, `complained`, `failed` or `unknown`. Consent, suppressions, quiet hours and caps apply. The reply says whether the new message is `queued` or `skipped`.',
    access: { secret: 'publisher' },
    audit: messageAudit('resent', { details: (_, reply) => ({ resent_as: (reply as ResentMessage).id }) }),
    params: { messageId: pathId<MessageId>() },
    reply: ResentMessage,
    status: 202,
    location: ({ id }) => `/api/client/messages/${id}`,
    errors: ['resource_missing', 'validation_failed'],
    run: (ctx, { params }) => resendMessage(ctx, findSendingCampaigns, params.messageId),
  }),
]
