import { type Store, store } from '../../../infra/queue/retention.ts'
import { deleteMail, nextMails, type OldMail } from './retention.queries.ts'

/** Emails that left the queue long ago, with every attempt. Those of messages are mostly deleted with them. */
export const mailStore: Store = store<OldMail>({
  name: 'mail_messages',
  // An email has the id of its message, which may have been asked for a year ahead.
  hasLateRows: true,
  days: ({ MESSAGE_RETENTION_DAYS }) => MESSAGE_RETENTION_DAYS,
  nextRows: nextMails,
  async remove(ctx, mails, before) {
    const ids = mails.flatMap(({ id, completed_at }) => (completed_at !== null && completed_at < before ? [id] : []))
    if (ids.length > 0) await deleteMail(ctx, ids)
    return ids
  },
})
