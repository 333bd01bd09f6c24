/** What the SMTP server for reports accepts: email to return paths of this server and to the configured addresses. It passes nothing on (D-MTA-54). */
import type { SmtpProtocol } from '../../../infra/incoming/smtp-listener.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { readReturnPath } from '../../mta/index.ts'
import type { FindCampaignSubscriptions } from '../sending/find-sending-campaigns.ts'
import { receiveMailReport } from './mail-reports.ts'

/**
 * Accepts reports, each after its effects are committed. Other email to these addresses is accepted and dropped: a bounce would reach the
 * owner of a forged address.
 */
export function inboundProtocol(ctx: Ctx, findCampaignSubscriptions: FindCampaignSubscriptions): SmtpProtocol<never> {
  const addresses = new Set(ctx.config.REPORT_ADDRESSES.map((address) => address.toLowerCase()))
  return {
    checkSender: async () => undefined,
    checkRecipient: async (to) =>
      addresses.has(to.toLowerCase()) || readReturnPath(ctx, to) ? undefined : { code: 550, text: '5.1.1 There is no such address here.' },
    async receive({ recipients, content }) {
      await receiveMailReport(ctx, findCampaignSubscriptions, { recipients: recipients.map(({ address }) => address), content })
      return { accepted: '2.0.0 received' }
    },
  }
}
