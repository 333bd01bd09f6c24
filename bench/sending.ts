/** Shared by the benchmarks of sending: users, a list of all of them, a large email, and an SMTP server that receives it. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { request } from 'undici'
import type { BenchServer } from './support.ts'

// biome-ignore lint/suspicious/noExplicitAny: replies of the API have no type here.
export type Call = (method: string, path: string, body?: unknown, key?: string) => Promise<any>

/** Calls the API with the project’s admin key. Throws if it fails. */
export const caller =
  (server: BenchServer): Call =>
  async (method, path, body, key = server.secretKey) => {
    const reply = await request(`${server.url}${path}`, {
      method: method as 'GET',
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.body.text()
    if (reply.statusCode >= 300) throw new Error(`${method} ${path} replied with ${reply.statusCode}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

/** Stores users with email addresses. */
export async function makeUsers(db: pg.Client, count: number, after = 0): Promise<void> {
  await db.query(`
    insert into users (project_id, external_id, email, timezone, locale, data, created_at, updated_at)
    select 1, 'person-' || i, 'person-' || i || '@example.com', 'Australia/Sydney', 'en-AU',
           jsonb_build_object('first_name', 'Person ' || i, 'plan', case when i % 10 = 0 then 'pro' else 'free' end, 'city', 'City ' || i % 500),
           now(), now()
    from generate_series(${after + 1}, ${after + count}) i`)
  await db.query('vacuum analyze users')
}

/** Creates a list of all users, and waits until it is ready. */
export async function listOfAll(call: Call): Promise<number> {
  const { id } = await call('POST', '/api/client/lists', { name: 'All users', type: 'dynamic', rule: { attribute: 'email', is_set: true } })
  for (;;) {
    const list = await call('GET', `/api/client/lists/${id}`)
    if (list.state === 'ready') return id
    await pause(250)
  }
}

// Benchmarks use the system’s time.
export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const LINKS = 10
const BYTES = 20_000

/** An email with about 20 KB of HTML, ten links, a loop and a dozen values. */
export const heavyMail = (): { from: string; subject: string; html: string } => {
  const links = Array.from(
    { length: LINKS },
    (_, at) => `<p><a href="https://example.com/offers/${at}?ref={{ user.id }}&amp;city={{ user.data.city }}">Offer ${at}</a></p>`,
  )
  const head = `<html><body><h1>Hello {{ user.data.first_name | default: "there" }}</h1><p>You are on {{ user.data.plan }} in {{ user.data.city }}.</p>
    {% if user.data.plan == "pro" %}<p>Thank you for being with {{ project.name }}.</p>{% else %}<p>Try pro.</p>{% endif %}
    <ul>{% for i in (1..5) %}<li>Reason {{ i }} for {{ user.data.first_name }}</li>{% endfor %}</ul>`
  const foot = `<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></body></html>`
  const filler =
    '<table role="presentation"><tr><td style="padding:8px;font-family:sans-serif;color:#333">Carillon rings for you.</td></tr></table>\n'
  const missing = BYTES - head.length - foot.length - links.join('').length
  return {
    from: 'Shop <shop@example.com>',
    subject: '{{ user.data.first_name }}, ten offers',
    html: `${head}${links.join('\n')}${filler.repeat(Math.ceil(missing / filler.length))}${foot}`,
  }
}

/** Turns on the tracking of opens and clicks. */
export async function trackEverything(call: Call, server: BenchServer): Promise<void> {
  const { organisation_key } = JSON.parse(await readFile(`${server.dataDir}/credentials.json`, 'utf8'))
  await call('PATCH', '/api/client/projects/1', { link_wrap_email: true, track_opens_email: true }, organisation_key)
}

/** The default subscription type for email. */
export async function emailType(call: Call): Promise<number> {
  const { results } = await call('GET', '/api/client/subscriptions')
  return results.find(({ channel }: { channel: string }) => channel === 'email').id
}

/** A running trigger campaign, whose emails have the number of their event in the subject. */
export async function receiptCampaign(call: Call, sink: Sink): Promise<void> {
  const settings = { host: '127.0.0.1', port: sink.port, tls: 'none', connections: 10 }
  const { id: provider_id } = await call('POST', '/api/client/providers', { name: 'Sink', kind: 'smtp', channel: 'email', settings })
  const campaign = { type: 'trigger', name: 'Receipt', subscription_id: await emailType(call), event_name: 'order', provider_id }
  const { id } = await call('POST', '/api/client/campaigns', campaign)
  await call('PUT', `/api/client/campaigns/${id}/templates/en`, {
    from: 'shop@example.com',
    subject: 'Order #{{ event.data.number }}#',
    html: '<p>Thank you, {{ user.data.first_name }}.</p>',
  })
  await call('PATCH', `/api/client/campaigns/${id}`, { state: 'running' })
}

/** Creates a blast of the large email to a list, which starts when it is scheduled. Returns its path. */
export async function heavyBlast(call: Call, list: number, provider_id: number): Promise<string> {
  const { id } = await call('POST', '/api/client/campaigns', {
    type: 'blast',
    name: 'Offers',
    subscription_id: await emailType(call),
    list_ids: [list],
    provider_id,
    send_at: new Date().toISOString(),
  })
  const path = `/api/client/campaigns/${id}`
  await call('PUT', `${path}/templates/en`, heavyMail())
  return path
}

export type Sink = AsyncDisposable & { port: number; received: () => number; onMail: (listener: (mail: string) => void) => void }

/** An SMTP server that accepts all emails and discards them. */
export async function openSink(): Promise<Sink> {
  let received = 0
  const listeners: ((mail: string) => void)[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    logger: false,
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => {
        if (listeners.length > 0) chunks.push(chunk)
      })
      stream.on('end', () => {
        received++
        for (const listener of listeners) listener(Buffer.concat(chunks).toString('latin1'))
        callback()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as { port: number }).port,
    received: () => received,
    onMail: (listener) => listeners.push(listener),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** The peak memory of the server, in MB. */
export const peakMemory = async ({ pid }: BenchServer): Promise<number> =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024)
