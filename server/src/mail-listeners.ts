/** The ports for email that comes in, which are closed unless they are configured. */
import { type Certificate, loadCertificate } from './infra/incoming/certificate.ts'
import { openSmtpListener, type SmtpListener, type SmtpListenerOptions } from './infra/incoming/smtp-listener.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { listenProblem } from './listen-problem.ts'
import { findSendingCampaigns } from './modules/campaigns/index.ts'
import { inboundProtocol } from './modules/messages/index.ts'

export type MailListeners = AsyncDisposable & { inbound: SmtpListener | null }

/** The largest report. Some hosts return the whole email. */
const REPORT_BYTES_MAX = 31_457_280
const REPORT_RECIPIENTS_MAX = 50
const CONNECTIONS_PER_ADDRESS_MAX = 50

/** Opens the configured ports. */
export async function openMailListeners(ctx: Ctx, given?: Certificate): Promise<MailListeners> {
  await using opening = new AsyncDisposableStack()
  const { INBOUND_PORT } = ctx.config
  const name = new URL(ctx.baseUrl()).hostname
  const tls = INBOUND_PORT === undefined ? null : (given ?? (await loadCertificate(ctx.config, name, ctx.clock.now())))
  const common = { name, tls, log: ctx.log, connectionsMax: ctx.config.SMTP_CONNECTIONS_MAX, host: ctx.config.SMTP_HOST ?? ctx.config.HOST }
  const inbound =
    INBOUND_PORT === undefined
      ? null
      : opening.use(
          await listen('INBOUND_PORT', {
            ...common,
            port: INBOUND_PORT,
            bytesMax: REPORT_BYTES_MAX,
            recipientsMax: REPORT_RECIPIENTS_MAX,
            connectionsPerAddressMax: CONNECTIONS_PER_ADDRESS_MAX,
            protocol: inboundProtocol(ctx, findSendingCampaigns),
          }),
        )
  const closing = opening.move()
  return { inbound, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const listen = <L>(setting: 'INBOUND_PORT', options: SmtpListenerOptions<L>): Promise<SmtpListener> =>
  openSmtpListener(options).catch((error: NodeJS.ErrnoException) => {
    throw listenProblem(error, { ...options, setting })
  })
