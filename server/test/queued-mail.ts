/** Email that waits in the mail queue, past what renders and signs it. */
import { deflateSync } from 'node:zlib'
import { inTx } from '../src/infra/runtime/ctx.ts'
import type { MessageId } from '../src/lib/ids.ts'
import { DAY_MS } from '../src/lib/times.ts'
import { enqueueMail, type NewMail } from '../src/modules/mta/index.ts'
import type { World } from './world.ts'

/** The priority of bulk email, which is that of queued email unless it is given. */
export const BULK = 1

const NONE = { journey_id: null, campaign_id: null, key_id: null, return_domain: null }
let last = 0

/** Queues submitted emails, each to an address of its own unless it is given. Returns their ids. */
export async function queueMail(w: Pick<World, 'ctx' | 'clock'>, ...given: Partial<NewMail>[]): Promise<MessageId[]> {
  const mails = given.map((own): NewMail => {
    const id = ++last as MessageId
    return {
      ...NONE,
      id,
      source: 'submission',
      priority: BULK,
      mail_from: 'shop@example.com',
      rfc_message_id: `<${id}@example.com>`,
      to: [`user-${id}@example.org`],
      content: { deflated: deflateSync('Hello'), size: 5 },
      needs_8bit: false,
      needs_smtp_utf8: false,
      expires_at: new Date(w.clock.now().getTime() + DAY_MS),
      ...own,
    }
  })
  await inTx(w.ctx, (ctx) => enqueueMail(ctx, mails))
  return mails.map(({ id }) => id)
}
