/** The ports for email that comes in, which are closed unless they are configured. */
import type { Authenticator } from './infra/http/route.ts'
import { type Certificate, loadCertificate } from './infra/incoming/certificate.ts'
import { createContentMemory } from './infra/incoming/content.ts'
import { openSmtpListener, type SmtpListener, type SmtpListenerOptions } from './infra/incoming/smtp-listener.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { StartError } from './lib/start-error.ts'
import { listenProblem, type MailPortSetting } from './listen-problem.ts'
import { findCampaignSubscriptions } from './modules/campaigns/index.ts'
import { inboundProtocol, submissionProtocol } from './modules/messages/index.ts'

/** The open ports by setting. */
export type MailListeners = AsyncDisposable & { ports: Partial<Record<MailPortSetting, number>> }

/** The largest report. Some hosts return the whole email. */
const REPORT_BYTES_MAX = 31_457_280
/** What is read of a report. The email that a host returns stands at its end, and only the headers of that are read. */
const REPORT_BYTES_KEPT = 524_288
const REPORTS_MEMORY_BYTES = 67_108_864
const REPORT_RECIPIENTS_MAX = 50
/** So many submitted emails of the largest size may come in at a time. */
const LARGEST_SUBMITTED_MAX = 10
const SUBMITTED_RECIPIENTS_MAX = 1000
const CONNECTIONS_PER_ADDRESS_MAX = 100

/** Opens the configured ports. */
export async function openMailListeners(
  ctx: Ctx,
  authenticate: Authenticator['authenticate'],
  given?: Certificate,
): Promise<MailListeners> {
  await using opening = new AsyncDisposableStack()
  const { config } = ctx
  const ports: MailListeners['ports'] = {}
  const open = async <L>(setting: MailPortSetting, options: Omit<SmtpListenerOptions<L>, 'port'>) => {
    const port = config[setting]
    if (port !== undefined) ports[setting] = opening.use(await listen(setting, { ...options, port })).port
  }
  if (config.INBOUND_PORT !== undefined || config.SUBMISSION_PORT !== undefined || config.SUBMISSION_TLS_PORT !== undefined) {
    const name = config.MTA_HOSTNAME ?? new URL(ctx.baseUrl()).hostname
    const tls = given ?? (await loadCertificate(config, name, ctx.clock.now()))
    if (tls === null && config.SUBMISSION_TLS_PORT !== undefined)
      throw new StartError('SUBMISSION_TLS_PORT needs a certificate. Set SMTP_TLS_CERT and SMTP_TLS_KEY.')
    const common = {
      ...{ name, tls, log: ctx.log, clock: ctx.clock, host: config.SMTP_HOST ?? config.HOST },
      ...{ connectionsMax: config.SMTP_CONNECTIONS_MAX, connectionsPerAddressMax: CONNECTIONS_PER_ADDRESS_MAX },
    }
    const reports = { bytesMax: REPORT_BYTES_MAX, bytesKept: REPORT_BYTES_KEPT, memory: createContentMemory(REPORTS_MEMORY_BYTES) }
    const inbound = { ...common, ...reports, recipientsMax: REPORT_RECIPIENTS_MAX }
    await open('INBOUND_PORT', { ...inbound, protocol: inboundProtocol(ctx, findCampaignSubscriptions) })
    const bytesMax = config.SUBMISSION_BYTES_MAX
    const submission = {
      ...{ ...common, bytesMax, memory: createContentMemory(LARGEST_SUBMITTED_MAX * bytesMax) },
      ...{ recipientsMax: SUBMITTED_RECIPIENTS_MAX, protocol: submissionProtocol(ctx, authenticate) },
    }
    await open('SUBMISSION_PORT', submission)
    await open('SUBMISSION_TLS_PORT', { ...submission, isImplicit: true })
  }
  const closing = opening.move()
  return { ports, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const listen = <L>(setting: MailPortSetting, options: SmtpListenerOptions<L>): Promise<SmtpListener> =>
  openSmtpListener(options).catch((error: NodeJS.ErrnoException) => {
    throw listenProblem(error, { ...options, setting })
  })
