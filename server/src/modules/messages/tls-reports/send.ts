/** Sends the daily reports about TLS to the domains that ask for them (D-MTA-25, RFC 8460): by email, and to HTTPS URLs. */
import { isDatabaseAway } from '../../../infra/postgres/database-away.ts'
import { job } from '../../../infra/queue/jobs.ts'
import { type Ctx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { tlsaNameOf } from '../../../lib/dane.ts'
import { signMail } from '../../../lib/dkim/sign.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/times.ts'
import { type SendingDomain, verifiedSender } from '../../domains/index.ts'
import {
  claimTlsPosts,
  countsToReport,
  deflateContent,
  enqueueMail,
  expiresAt,
  insertTlsReport,
  saveTlsPosts,
  type TlsReportKey,
  type TlsReportPosts,
  unreportedDomains,
} from '../../mta/index.ts'
import { inProject } from '../../projects/index.ts'
import { messageKey } from '../message-key.ts'
import { newMessageId } from '../messages.queries.ts'
import { BULK } from '../schema.ts'
import { type ReportTargets, targetsOf } from './record.ts'
import { compressedReport, type HostRecords, type ReportFacts, reportMail } from './report.ts'

const AT_ONCE = 200
const POSTS_AT_ONCE = 20
const POST_AGAIN_MS = HOUR_MS
/** A report that no server accepted in this time is given up. */
const POSTED_FOR_MS = 2 * DAY_MS
const TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_BYTES_MAX = 1024

export const tlsReportJob = job({ name: 'tls-reports.send', idleMs: HOUR_MS, run: sendReports })

/** Queues the reports of yesterday, and posts those that are due. Returns how many. */
async function sendReports(ctx: Ctx, signal: AbortSignal): Promise<number> {
  if (!ctx.config.TLS_REPORTS) return 0
  const now = ctx.clock.now().getTime()
  const yesterday = new Date(Math.floor(now / DAY_MS) * DAY_MS - DAY_MS)
  let done = 0
  // Domains whose DNS does not respond stay unreported. They keep none of those behind them from being asked.
  for (let keys = await unreportedDomains(ctx, yesterday, undefined, AT_ONCE); keys.length > 0; ) {
    for (const key of keys) {
      if (signal.aborted) return done
      done += await inProject(ctx, key.project_id, (ctx) => report(ctx, key)).catch(notSent(ctx, key))
    }
    keys = await unreportedDomains(ctx, yesterday, keys.at(-1), AT_ONCE)
  }
  for (const posts of await claimTlsPosts(ctx, POSTS_AT_ONCE, new Date(now + POST_AGAIN_MS))) {
    done += await inProject(ctx, posts.project_id, (ctx) => post(ctx, posts)).catch(notSent(ctx, posts))
  }
  return done
}

/** Logs why a report is not sent now, so that the others are. Throws if the database is away. */
const notSent =
  ({ log }: Ctx, { project_id, domain }: TlsReportKey) =>
  (error: unknown): 0 => {
    if (isDatabaseAway(error)) throw error
    log.error({ err: error, project_id, domain }, 'a report about TLS was not sent; it will be tried again')
    return 0
  }

/** Records the report of a domain, and queues its email in the same transaction. Returns 0 if the domain could not be asked. */
async function report(ctx: ProjectCtx, key: TlsReportKey): Promise<number> {
  const sender = await verifiedSender(ctx)
  const texts = await ctx.mail.resolver.txt(`_smtp._tls.${key.domain}`)
  if (texts === 'failed') return 0
  const targets = texts === 'none' || !sender ? null : targetsOf(texts)
  if (!sender || !targets) return inTx(ctx, (ctx) => insertTlsReport(ctx, key, []))
  const mails = await mailsOf(ctx, await factsOf(ctx, key, sender), sender, targets)
  return inTx(ctx, async (ctx) => {
    const isFirst = (await insertTlsReport(ctx, key, targets.urls)) > 0
    if (isFirst) await enqueueMail(ctx, mails)
    return isFirst ? 1 : 0
  })
}

async function factsOf(ctx: ProjectCtx, key: TlsReportKey, { domain: submitter }: SendingDomain): Promise<ReportFacts> {
  const [counts, policy] = await Promise.all([countsToReport(ctx, key), ctx.mail.resolver.policy(key.domain)])
  const contact = ctx.config.TLS_REPORT_CONTACT ?? `postmaster@${submitter}`
  const tlsa = counts.some(({ policy }) => policy === 'tlsa') ? await tlsaOf(ctx, key.domain) : []
  return { day: key.day, domain: key.domain, submitter, contact, counts, policy, tlsa }
}

/** The TLSA records of the mail hosts of a domain. */
async function tlsaOf({ mail: { resolver } }: ProjectCtx, domain: string): Promise<HostRecords[]> {
  const mx = await resolver.mx(domain)
  const hosts = mx.is === 'hosts' && mx.isSecure ? mx.hosts.map(({ host }) => host).sort() : []
  const answers = await Promise.all(hosts.map(async (host) => ({ host, answer: await resolver.tlsa(tlsaNameOf(host)) })))
  return answers.flatMap(({ host, answer }) => (answer.is === 'records' ? [{ host, name: tlsaNameOf(host), records: answer.records }] : []))
}

async function mailsOf(ctx: ProjectCtx, facts: ReportFacts, sender: SendingDomain, { addresses: to }: ReportTargets) {
  if (to.length === 0) return []
  const date = ctx.clock.now()
  const id = await newMessageId(ctx)
  const from = `noreply-smtp-tls-reporting@${sender.domain}`
  const messageId = `<${messageKey(ctx, { project_id: ctx.projectId, id, created_at: date })}@${sender.domain}>`
  const content = await signMail(reportMail(facts, { from, to, messageId, date }), sender.dkim, date)
  return [
    {
      id,
      source: 'report' as const,
      priority: BULK,
      campaign_id: null,
      journey_id: null,
      key_id: null,
      mail_from: from,
      return_domain: sender.return_path,
      rfc_message_id: messageId,
      to,
      content: await deflateContent(content),
      needs_8bit: false,
      needs_smtp_utf8: false,
      expires_at: expiresAt(BULK, date),
    },
  ]
}

/** Posts a report to its URLs. Those that do not accept it are tried again in an hour. */
async function post(ctx: ProjectCtx, { urls, ...key }: TlsReportPosts): Promise<number> {
  const sender = await verifiedSender(ctx)
  const isTooLate = ctx.clock.now().getTime() - key.day.getTime() - DAY_MS > POSTED_FOR_MS
  if (!sender || isTooLate) return saveTlsPosts(ctx, key, [])
  const body = compressedReport(await factsOf(ctx, key, sender))
  const left: string[] = []
  for (const url of urls) if (!(await isAccepted(ctx, url, body))) left.push(url)
  await saveTlsPosts(ctx, key, left)
  return urls.length - left.length
}

async function isAccepted(ctx: ProjectCtx, url: string, body: Buffer): Promise<boolean> {
  const response = await ctx.fetch.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/tlsrpt+gzip' },
    body,
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseBytesMax: RESPONSE_BYTES_MAX,
  })
  return response.is === 'answered' && response.status >= 200 && response.status < 300
}
