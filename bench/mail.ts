/**
 * Email that is delivered to mail hosts, compared with nodemailer in the same run: 20 KB of HTML, DKIM with RSA-2048, links and opens tracked,
 * webhook events on, hosts that reply at once, after 50 and after 200 ms. Then the same with one site in a hundred that hangs.
 * `BENCH_SCALE` is a share of the usual number of emails.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createTransport } from 'nodemailer'
import pg from 'pg'
import { issueCertificate, loadOrCreateAuthority } from '../server/src/infra/outgoing/dev-authority.ts'
import { RenderBudget } from '../server/src/lib/liquid/budget.ts'
import { createEngine } from '../server/src/lib/liquid/engine.ts'
import { compileHtml } from '../server/src/modules/templates/compile-email.ts'
import type { SinkCounts, SinkReady, SinkRequest } from './mail-sink.ts'
import { cpuEach, cpuTimeOf, profileParts } from './parts.ts'
import { type Call, caller, heavyBlast, heavyMail, listOfAll, makeUsers, pause, peakMemory, trackEverything } from './sending.ts'
import { type BenchServer, report, startServer } from './support.ts'

const SCALE = Number(process.env.BENCH_SCALE ?? 1)
const EMAILS = Math.max(200, Math.round(30_000 * SCALE))
/** Fewer for nodemailer, whose rate does not depend on their number. */
const THEIR_EMAILS = Math.max(100, Math.round(4000 * SCALE))
const LATENCIES_MS = [0, 50, 200]
const SITES = 100
/** The default limit of connections of a site. Both sides may open as many in all. */
const CONNECTIONS_PER_SITE = 10
const DOMAIN = 'example.com'
const STALLED_MS = 60_000
/** What a delivery without faults emits. */
const EVENT_TYPES = [
  'queue.queue-message-authenticated',
  'delivery.attempt-start',
  'delivery.delivered',
  'delivery.completed',
  'delivery.attempt-end',
]

export async function mail(): Promise<void> {
  await using sink = await openSink()
  await measured(sink)
  if (process.env.BENCH_PROFILE) report('  main thread by part', null, await profileParts(process.env.BENCH_PROFILE))
}

async function measured(sink: Sink): Promise<void> {
  const env = { MTA_PORT: String(sink.smtpPort), DNS_SERVERS: sink.dnsServer }
  await using server = await startServer(env)
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, EMAILS)
  await db.query(`update users set email = 'person-' || id || '@site-' || id % ${SITES} || '.test'`)
  const call = caller(server)
  await trackEverything(call, server)
  await signFor(call, db)
  const authority = await loadOrCreateAuthority(server.dataDir, new Date())
  await sink.ask({ is: 'certificate', ...(await issueCertificate(authority, ['127.0.0.1'], new Date())) })
  await call('POST', '/api/client/webhooks', { name: 'All', url: sink.webhookUrl, event_types: EVENT_TYPES })
  const list = await listOfAll(call)
  const provider = await call('POST', '/api/client/providers', { name: 'mta', kind: 'mta', channel: 'email', settings: {} })
  const engine = { server, call, db, sink, list, provider_id: provider.id }

  for (const latencyMs of LATENCIES_MS) {
    const theirs = await nodemailerAlone(sink, latencyMs)
    await blast(engine, latencyMs, EMAILS, `${latencyMs} ms`, theirs)
  }
  await hangingSites(engine)
  report('peak memory of the server in MB', await peakMemory(server), `${EMAILS} emails in each run`, '≤ 400')
  await db.end()
}

type Engine = { server: BenchServer; call: Call; db: pg.Client; sink: Sink; list: number; provider_id: number }

/** A verified sending domain with an RSA key. */
async function signFor(call: Call, db: pg.Client): Promise<void> {
  await call('POST', '/api/client/domains', { sending_domain: DOMAIN })
  await db.query(`update domains set sending_verified_at = now(), next_check_at = '2100-01-01'`)
  await db.query(`update dkim_keys set state = case when algorithm = 'rsa-sha256' then 'active' else 'pending' end`)
  // Longer than senders are cached.
  await pause(6000)
}

/** Sends a blast, and waits until the hosts have `expected` emails. Returns the rate from the first email to the last one. */
async function deliverAll({ server, call, db, sink, list, provider_id }: Engine, latencyMs: number, expected: number) {
  await sink.ask({ is: 'reset', latencyMs })
  const campaign = await heavyBlast(call, list, provider_id)
  const before = await cpuTimeOf(server)
  await call('PATCH', campaign, { state: 'scheduled' })
  let counts = await sink.ask({ is: 'counts' })
  let newestAt = performance.now()
  while (counts.emails < expected) {
    await pause(100)
    const next = await sink.ask({ is: 'counts' })
    if (next.emails > counts.emails) newestAt = performance.now()
    if (performance.now() - newestAt > STALLED_MS) throw new Error(`Only ${next.emails} of ${expected} emails came. ${await statesOf(db)}`)
    counts = next
  }
  const cpu = cpuEach(before, await cpuTimeOf(server), expected)
  if (counts.emails > expected || counts.duplicates > 0)
    throw new Error(`The hosts have ${counts.emails} emails, and ${counts.duplicates} twice.`)
  return { ...counts, rate: expected / counts.seconds, cpu }
}

/** How many messages are in which state, and why. */
async function statesOf(db: pg.Client): Promise<string> {
  const { rows } = await db.query('select state, reason, count(*)::int as count from messages group by 1, 2 order by 3 desc limit 5')
  return JSON.stringify(rows)
}

async function blast(engine: Engine, latencyMs: number, expected: number, name: string, theirs: Theirs): Promise<number> {
  const { rate, connections, sample, events, cpu } = await deliverAll(engine, latencyMs, expected)
  const signed = /^DKIM-Signature:/im.test(sample) ? 'signed' : 'NOT SIGNED'
  const bytes = Math.round(sample.length / 1024)
  report(
    `emails to hosts that reply after ${name}`,
    rate / theirs.rate,
    `${Math.round(rate)} emails/s, ${signed}, ${bytes} KB, over ${connections} connections; ${events} events delivered meanwhile; nodemailer ${Math.round(theirs.rate)}/s, ${Math.round(1e6 / theirs.perCpuSecond)} µs of CPU each`,
    '≥ 3',
  )
  report('  of nodemailer that renders and tracks too', rate / theirs.workingRate, `${Math.round(theirs.workingRate)}/s; ${cpu}`)
  return rate
}

/** One site in a hundred accepts connections and says nothing. The others have as many emails as before. */
async function hangingSites(engine: Engine): Promise<void> {
  const { db } = engine
  const alone = await deliverAll(engine, 0, EMAILS)
  const { rows } = await db.query(`update users set email = 'person-' || id || '@hanging-0.test' where id % ${SITES} = 0 returning id`)
  const beside = await deliverAll(engine, 0, EMAILS - rows.length)
  report(
    'other sites beside one in a hundred that hangs',
    beside.rate / alone.rate,
    `${Math.round(beside.rate)} emails/s; ${Math.round(alone.rate)} when none hangs`,
    '≥ 0.95',
  )
}

type Theirs = { rate: number; perCpuSecond: number; workingRate: number }

/** Emails per second of nodemailer’s MailComposer, DKIM and pool; and when the content is rendered and tracked for each, as it is here. */
async function nodemailerAlone(sink: Sink, latencyMs: number): Promise<Theirs> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const transport = createTransport({
    pool: true,
    host: '127.1.0.1',
    port: sink.smtpPort,
    ignoreTLS: true,
    maxConnections: SITES * CONNECTIONS_PER_SITE,
    maxMessages: Number.POSITIVE_INFINITY,
    dkim: { domainName: DOMAIN, keySelector: 's1', privateKey: pem },
  })
  const render = renderer()
  const [fixed] = [render(0)]
  const send = (at: number, content: Content) =>
    transport.sendMail({
      ...content,
      from: 'Shop <shop@example.com>',
      to: `person-${at}@site-0.test`,
      headers: { 'List-Unsubscribe': `<https://example.com/u/${at}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
    })
  try {
    await sink.ask({ is: 'reset', latencyMs })
    await inParallel(THEIR_EMAILS / 4, (at) => send(at, fixed))
    const before = process.cpuUsage()
    const rate = await rateOf((at) => send(at, fixed))
    const { user, system } = process.cpuUsage(before)
    const workingRate = await rateOf((at) => send(at, render(at)))
    return { rate, perCpuSecond: THEIR_EMAILS / ((user + system) / 1e6), workingRate }
  } finally {
    transport.close()
  }
}

async function rateOf(send: (at: number) => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await inParallel(THEIR_EMAILS, send)
  return THEIR_EMAILS / ((performance.now() - started) / 1000)
}

/** As many at a time as there are connections, so that memory is not what is measured. */
async function inParallel(count: number, send: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await send(next++)
  }
  await Promise.all(Array.from({ length: SITES * CONNECTIONS_PER_SITE }, worker))
}

type Content = { subject: string; html: string; text: string }

/** Renders with liquidjs, and replaces links by signed ones. */
function renderer(): (at: number) => Content {
  const mail = heavyMail()
  const { html, text } = compileHtml(mail, 'en')
  const [plain, escaping] = [createEngine('text'), createEngine('html')]
  const parts = [
    { engine: plain, templates: plain.parse(mail.subject) },
    { engine: escaping, templates: escaping.parse(html) },
    { engine: plain, templates: plain.parse(text) },
  ]
  return (at) => {
    const user = { id: at, data: { first_name: `Person ${at}`, plan: 'free', city: `City ${at % 500}` } }
    const scope = { user, project: { name: 'Shop' }, unsubscribe_url: 'https://example.com/unsubscribe' }
    const [subject = '', content = '', words = ''] = parts.map(({ engine, templates }) =>
      String(engine.renderWithin(new RenderBudget(), templates, scope)),
    )
    return { subject, html: tracked(content, at), text: words }
  }
}

const tracked = (html: string, at: number): string =>
  html.replace(/href="([^"]+)"/g, (_, url: string) => {
    const token = Buffer.from(`${at}:${url}`).toString('base64url')
    return `href="https://example.com/l/${token}.${createHmac('sha256', 'key').update(token).digest('base64url').slice(0, 22)}"`
  })

type Sink = SinkReady & AsyncDisposable & { ask(request: SinkRequest): Promise<SinkCounts> }

async function openSink(): Promise<Sink> {
  const child: ChildProcess = fork(new URL('./mail-sink.ts', import.meta.url), [String(SITES), '1'])
  const [ready] = (await once(child, 'message')) as [SinkReady]
  return {
    ...ready,
    async ask(request) {
      child.send(request)
      const [counts] = (await once(child, 'message')) as [SinkCounts]
      return counts
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
