import { audits } from '../../../infra/http/audited.ts'
import { route } from '../../../infra/http/route.ts'
import { Page } from '../../../lib/shapes.ts'
import { mailListing } from '../../mta/index.ts'
import { cancelMail, pauseMail, resumeMail, retryMail } from './control.ts'
import { ChangedRecipients, MailChoice, MailQueueQuery, PausedTargets, PauseTarget, QueuedRecipient } from './schema.ts'
import { filterOf, listMailQueue, listPauses, pauseOf } from './service.ts'

const path = '/api/client/mail-queue'

const mailQueueAudit = audits('mail_queue', { keyOf: () => 'mail_queue', idOf: () => null })
const details = ({ body }: { body: unknown }) => body as object

export const mailQueueRoutes = [
  route({
    method: 'GET',
    path,
    summary: 'List the recipients in the mail queue, newest first.',
    description:
      'Lists the email that the provider `mta` delivers. There is one item per recipient, with the mail site, the attempts and the time of the next attempt. `q` finds a substring of `recipient`. A key with the role `smtpproxy` sees the email that it submitted.',
    access: { secret: 'support', smtpproxy: true },
    query: MailQueueQuery,
    list: mailListing,
    reply: Page(QueuedRecipient),
    run: (ctx, { page, query }) => listMailQueue(ctx, page, query),
  }),
  route({
    method: 'GET',
    path: `${path}/pauses`,
    summary: 'List the pauses of the mail queue.',
    description: 'Paused campaigns are not listed; their email is held too.',
    access: { secret: 'support' },
    reply: PausedTargets,
    run: (ctx) => listPauses(ctx),
  }),
  route({
    method: 'POST',
    path: `${path}/pause`,
    summary: 'Pause email delivery.',
    description:
      'Holds the queued email of one campaign or to one mail site. With an empty body, holds all queued email of the project. Email that is already being delivered is not held.',
    access: { secret: 'publisher' },
    audit: mailQueueAudit('paused', { details }),
    body: PauseTarget,
    status: 204,
    run: async (ctx, { body }) => {
      await pauseMail(ctx, pauseOf(body))
    },
  }),
  route({
    method: 'POST',
    path: `${path}/resume`,
    summary: 'Resume the delivery of email.',
    description: 'Ends the pause that was set with the same members. Email that became due meanwhile is delivered at once.',
    access: { secret: 'publisher' },
    audit: mailQueueAudit('resumed', { details }),
    body: PauseTarget,
    status: 204,
    run: (ctx, { body }) => resumeMail(ctx, pauseOf(body)),
  }),
  route({
    method: 'POST',
    path: `${path}/retry`,
    summary: 'Retry queued email now.',
    description: 'Applies to recipients that are waiting for their next attempt and meet all conditions in the request.',
    access: { secret: 'publisher' },
    audit: mailQueueAudit('retried', { details }),
    body: MailChoice,
    reply: ChangedRecipients,
    run: async (ctx, { body }) => ({ recipients: await retryMail(ctx, filterOf(body)) }),
  }),
  route({
    method: 'POST',
    path: `${path}/cancel`,
    summary: 'Cancel queued email.',
    description:
      'Applies to waiting recipients, including paused ones; email that is being delivered is not stopped. Their messages become `aborted`, with the reason `cancelled`. Only recipients that meet all conditions in the request are affected.',
    access: { secret: 'publisher' },
    audit: mailQueueAudit('cancelled', { details }),
    body: MailChoice,
    reply: ChangedRecipients,
    run: async (ctx, { body }) => ({ recipients: await cancelMail(ctx, filterOf(body)) }),
  }),
]
