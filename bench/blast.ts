/**
 * The rate of a blast with the provider `discard`, which shows the cost of the server alone, and through an SMTP relay. `BENCH_PROFILE` prints
 * the parts of the main thread too.
 */
import { createTransport } from 'nodemailer'
import pg from 'pg'
import { request } from 'undici'
import { RenderBudget } from '../server/src/lib/liquid/budget.ts'
import { createEngine } from '../server/src/lib/liquid/engine.ts'
import { compileHtml } from '../server/src/modules/templates/compile-email.ts'
import { cpuEach, cpuTimeOf, profileParts } from './parts.ts'
import { type Call, caller, heavyBlast, heavyMail, listOfAll, makeUsers, openSink, pause, peakMemory, trackEverything } from './sending.ts'
import { type BenchServer, report, startServer } from './support.ts'

const USERS = Number(process.env.BENCH_USERS ?? 100_000)
const CONNECTIONS = 10

export async function blast(): Promise<void> {
  await measured()
  if (process.env.BENCH_PROFILE) report('  main thread by part', null, await profileParts(process.env.BENCH_PROFILE))
}

async function measured(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, USERS)
  const call = caller(server)
  await trackEverything(call, server)
  const list = await listOfAll(call)

  const liquid = renderAlone()
  const discard = await provider(call, 'discard', {})
  const discarded = await send(server, call, db, list, discard, USERS)
  report(
    'blast to the provider discard',
    discarded.rate / liquid,
    `${Math.round(discarded.rate)} messages/s; Liquid alone ${Math.round(liquid)}/s; audience ${discarded.loading.toFixed(1)} s; ${await peakMemory(server)} MB of 400; ${discarded.cpu}`,
    '≥ 2',
  )
  report('GET /users/{id} meanwhile, p99 in ms', discarded.p99, `p50 ${discarded.p50.toFixed(1)} ms`, '≤ 30')

  await using sink = await openSink()
  const pooled = await pooledAlone(sink.port)
  const before = sink.received()
  const settings = { host: '127.0.0.1', port: sink.port, tls: 'none', connections: CONNECTIONS }
  const relay = await provider(call, 'smtp', settings)
  const relayed = await send(server, call, db, list, relay, USERS)
  report(
    'blast through an SMTP relay',
    relayed.rate / pooled,
    `${Math.round(relayed.rate)} messages/s; nodemailer’s pool with a fixed message ${Math.round(pooled)}/s; ${sink.received() - before} received; ${await peakMemory(server)} MB of 400; ${relayed.cpu}`,
    '≥ 1',
  )
  report('GET /users/{id} meanwhile, p99 in ms', relayed.p99, `p50 ${relayed.p50.toFixed(1)} ms`, '≤ 30')
  await db.end()
}

export async function provider(call: Call, kind: string, settings: object): Promise<number> {
  const { id } = await call('POST', '/api/client/providers', { name: kind, kind, channel: 'email', settings })
  return id
}

/** Sends a blast to the `users` users of a list. The rate counts from the first message sent to the last. */
export async function send(server: BenchServer, call: Call, db: pg.Client, list: number, provider_id: number, users: number) {
  const started = performance.now()
  const campaign = await heavyBlast(call, list, provider_id)
  await call('PATCH', campaign, { state: 'scheduled' })
  let loading = 0
  const before = await cpuTimeOf(server)
  const requests = requestUsers(server, users)
  for (;;) {
    const { state, delivery } = await call('GET', campaign)
    if (state === 'running' && loading === 0) loading = (performance.now() - started) / 1000
    if (state === 'finished') {
      if (delivery.sent !== users) throw new Error(`Only ${delivery.sent} of ${users} messages were sent.`)
      break
    }
    await pause(250)
  }
  const { rows } = await db.query(
    'select extract(epoch from max(settled_at) - min(settled_at)) as seconds from messages where campaign_id = $1',
    [campaign.slice(campaign.lastIndexOf('/') + 1)],
  )
  const cpu = cpuEach(before, await cpuTimeOf(server), users)
  return { rate: users / Number(rows[0].seconds), loading, cpu, ...(await requests.end()) }
}

/** A user is asked for this often, so that the load generator leaves the processors to the server. */
const EVERY_MS = 20

/** Asks for users, one after the other, until it is ended. */
function requestUsers({ url, secretKey }: BenchServer, users: number) {
  let isOver = false
  const times: number[] = []
  const asking = (async () => {
    for (let index = 1; !isOver; index++) {
      const asked = performance.now()
      const path = `/api/client/users/person-${1 + (index % users)}`
      const reply = await request(`${url}${path}`, { headers: { authorization: `Bearer ${secretKey}` } })
      await reply.body.dump()
      if (reply.statusCode !== 200) throw new Error(`${path} replied with ${reply.statusCode}.`)
      times.push(performance.now() - asked)
      await pause(EVERY_MS)
    }
  })()
  return {
    async end() {
      isOver = true
      await asking
      times.sort((a, b) => a - b)
      const at = (part: number) => times[Math.floor(times.length * part)] ?? Number.NaN
      return { p50: at(0.5), p99: at(0.99) }
    },
  }
}

const RENDERS = 5000

/** Messages per second of liquidjs alone, on one core: subject, HTML and the text that is generated from it. */
function renderAlone(): number {
  const mail = heavyMail()
  const { html, text } = compileHtml(mail, 'en')
  const [plain, escaping] = [createEngine('text'), createEngine('html')]
  const parts = [
    { engine: plain, templates: plain.parse(mail.subject) },
    { engine: escaping, templates: escaping.parse(html) },
    { engine: plain, templates: plain.parse(text) },
  ]
  const render = (index: number) => {
    const user = { id: index, data: { first_name: `Person ${index}`, plan: 'free', city: `City ${index % 500}` } }
    const scope = { user, project: { name: 'Shop' }, unsubscribe_url: 'https://example.com/unsubscribe' }
    for (const { engine, templates } of parts) engine.renderWithin(new RenderBudget(), templates, scope)
  }
  for (let index = 0; index < RENDERS / 5; index++) render(index)
  const started = performance.now()
  for (let index = 0; index < RENDERS; index++) render(index)
  return RENDERS / ((performance.now() - started) / 1000)
}

const FIXED_MESSAGES = 5000

/** Messages per second of nodemailer’s pool with a fixed message. */
async function pooledAlone(port: number): Promise<number> {
  const transport = createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
    ignoreTLS: true,
  })
  const { html } = heavyMail()
  const raw = `From: shop@example.com\r\nTo: person@example.com\r\nSubject: Offers\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html.replaceAll(/\r?\n/g, '\r\n')}`
  const mail = { envelope: { from: 'shop@example.com', to: ['person@example.com'] }, raw }
  await Promise.all(Array.from({ length: CONNECTIONS }, () => transport.sendMail(mail)))
  const started = performance.now()
  await Promise.all(Array.from({ length: FIXED_MESSAGES }, () => transport.sendMail(mail)))
  const rate = FIXED_MESSAGES / ((performance.now() - started) / 1000)
  transport.close()
  return rate
}
