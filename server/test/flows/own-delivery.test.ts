import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import type { MessageId } from '../../src/lib/ids.ts'
import { DAY_MS } from '../../src/lib/times.ts'
import { TIMED } from '../../src/modules/messages/index.ts'
import { blastTo, CAMPAIGNS, listOf, pathOf } from '../blasts.ts'
import { ends } from '../internet/mx-host.ts'
import { type MailWorld, mailWorld, typesOf } from '../mail-queue.ts'
import { queueMail } from '../queued-mail.ts'

/** The records of the sending domain, as a resolver of the verifier finds them. */
async function resolverOf(w: MailWorld) {
  const { records } = (await w.get('/api/client/domains')).body.results[0]
  return async (name: string) => [[records.find((record: { name: string }) => record.name === name)?.value ?? '']]
}

const send = async (w: MailWorld, domain: string) => {
  const host = w.internet.mx.hosts.get(`mx.${domain}`) ?? w.internet.host(`mx.${domain}`)
  w.internet.domain(domain, `mx.${domain}`)
  const address = await w.mailTo(domain)
  const events = await w.events(address)
  const id = (await w.get('/api/client/messages?limit=1')).body.results[0].id
  return { host, address, events, message: (await w.get(`/api/client/messages/${id}`)).body }
}

describe('an email that the server delivers itself', () => {
  test('has a signature of each key, over the headers of its stream too', async () => {
    await using w = await mailWorld()
    const { host } = await send(w, 'one.example.org')
    const [mail] = host.mails
    const { results } = await dkimVerify(mail?.content ?? '', { resolver: (await resolverOf(w)) as never, curTime: w.clock.now() })
    expect(results.map(({ status, signingDomain }) => [status.result, signingDomain])).toEqual([
      ['pass', 'example.com'],
      ['pass', 'example.com'],
    ])
    const signed = / h=(?<names>[^;]*);/
      .exec(mail?.content.toString() ?? '')
      ?.groups?.names?.replace(/\s/g, '')
      .split(':')
    expect(signed).toEqual(expect.arrayContaining(['Feedback-ID', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'List-Id', 'From', 'Date']))
    expect(mail?.from).toBe('shop@example.com')
  })

  test('bounces to its domain, and asks for reports of complaints there, once the return path is published', async () => {
    await using w = await mailWorld({ INBOUND_PORT: '2525' })
    await w.db.run(sql`update domains set has_return_path = true where project_id = ${w.projectId}`)
    const { host } = await send(w, 'two.example.org')
    const [mail] = host.mails
    expect(mail?.from).toMatch(/^b\.[a-z0-9.-]+@bounce\.example\.com$/)
    expect(mail?.content.toString().replace(/\r\n\s+/g, ' ')).toContain(`CFBL-Address: ${mail?.from}; report=arf\r\n`)
    const { results } = await dkimVerify(mail?.content ?? '', { resolver: (await resolverOf(w)) as never, curTime: w.clock.now() })
    expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
    expect(mail?.content.toString()).toMatch(/ h=[^;]*CFBL-Address[^;]*;/i)
  })

  test('is refused as marketing from a domain that is not verified, with what to do, and delivered as a transactional message', async () => {
    await using w = await mailWorld()
    await w.db.run(sql`update domains set sending_verified_at = null where project_id = ${w.projectId}`)
    const refused = await send(w, 'three.example.org')
    expect(refused.host.mails).toHaveLength(0)
    expect(refused.message).toMatchObject({ state: 'failed', reason: 'provider_rejected' })
    expect(JSON.stringify(refused.message)).toContain('is not verified for emails from')
    const { subscription_id } = (await w.get(`${CAMPAIGNS}/${w.campaign.id}`)).body
    await w.patch(`/api/client/subscriptions/${subscription_id}`, { is_transactional: true })
    expect((await send(w, 'three.example.org')).host.mails).toHaveLength(1)
  })

  test('is counted as failed by a preflight, if its domain is not verified', async () => {
    await using w = await mailWorld()
    const campaign = await blastTo(w, [await listOf(w, 'ana')])
    await w.put(`${pathOf(campaign)}/templates/en`, { from: 'hi@elsewhere.example', subject: 'Hi', html: '<p>Hi</p>' })
    const { body } = await w.post(`${pathOf(campaign)}/preflights`)
    await w.drain()
    const { counts, problems } = (await w.get(`${pathOf(campaign)}/preflights/${body.id}`)).body
    expect(counts).toMatchObject([{ state: 'failed', reason: 'provider_rejected' }])
    expect(problems).toMatchObject([{ kind: 'unverified_domain', message: expect.stringContaining('Add it as `sending_domain`') }])
  })

  test('waits until the next day, once the site has had its share of a domain that is warmed up', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    const path = `/api/client/domains/${id}/warm-up`
    await w.put(path, { steps: [2, 2, 2] })
    for (let at = 0; at < 2; at++) expect(typesOf((await send(w, 'four.example.org')).events)).toContain('delivered')
    const { host, events } = await send(w, 'four.example.org')
    expect(host.mails).toHaveLength(2)
    expect(events.find(({ type }) => type === 'queue.rescheduled')?.data.next_attempt_at).toBe('2026-11-24T00:00:00.000Z')
    expect((await w.get(path)).body.sites).toMatchObject([{ step: 1, ceiling: 2, sent: 2 }])
    w.advance('1 day')
    await w.drain()
    expect(host.mails).toHaveLength(3)
    expect((await w.get(path)).body.sites).toMatchObject([{ step: 2, sent: 1 }])
  })

  test('goes to as many recipients as the warm-up allows, and to the others on the next day', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    const path = `/api/client/domains/${id}/warm-up`
    await w.put(path, { steps: [2, 2, 2] })
    const host = w.internet.host('mx.seven.example.org')
    w.internet.domain('seven.example.org', 'mx.seven.example.org')
    const to = ['a', 'b', 'c'].map((name) => `${name}@seven.example.org`)
    await queueMail(w, { to, expires_at: new Date(w.clock.now().getTime() + 2 * DAY_MS) })
    const events = await w.events()
    expect(host.mails.map((mail) => mail.to)).toEqual([to.slice(0, 2)])
    const next = { pending: to.slice(2), next_attempt_at: '2026-11-24T00:00:00.000Z' }
    expect(events.find(({ type }) => type === 'queue.rescheduled')?.data).toMatchObject(next)
    expect((await w.get(path)).body.sites).toMatchObject([{ sent: 2 }])
    w.advance('1 day')
    await w.drain()
    expect(host.mails.map((mail) => mail.to)).toEqual([to.slice(0, 2), to.slice(2)])
    expect((await w.get(path)).body.sites).toMatchObject([{ step: 2, sent: 1 }])
  })

  test('goes beyond the ceiling of a warm-up if it is transactional and of no blast, and takes from what a blast gets', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    const path = `/api/client/domains/${id}/warm-up`
    await w.put(path, { steps: [2, 2, 2] })
    const { subscription_id } = (await w.get(`${CAMPAIGNS}/${w.campaign.id}`)).body
    await w.patch(`/api/client/subscriptions/${subscription_id}`, { is_transactional: true })
    const host = w.internet.host('mx.eight.example.org')
    w.internet.domain('eight.example.org', 'mx.eight.example.org')
    // The rate of the site lets few emails go at once.
    const deliver = async () => {
      w.advance('1 second')
      await w.drain()
    }
    const expires_at = new Date(w.clock.now().getTime() + 4 * DAY_MS)
    const blast = ['a', 'b', 'c', 'd'].map((name) => `${name}@eight.example.org`)
    // Their ids are none of the messages that follow.
    await queueMail(w, ...blast.map((to, at) => ({ id: (1001 + at) as MessageId, to: [to], expires_at })))
    await w.drain()
    await deliver()
    expect(host.mails).toHaveLength(2)
    const urgent = [await w.mailTo('eight.example.org'), await w.mailTo('eight.example.org')]
    await w.drain()
    await queueMail(w, { id: 2001 as MessageId, to: ['reset@eight.example.org'], priority: 0, expires_at })
    await w.drain()
    await deliver()
    urgent.push('reset@eight.example.org')
    expect(
      host.mails
        .flatMap(({ to }) => to)
        .slice(2)
        .sort(),
    ).toEqual([...urgent].sort())
    expect((await w.get(path)).body.sites).toMatchObject([{ ceiling: 2, sent: 5 }])
    w.advance('1 day')
    const address = await w.mailTo('eight.example.org')
    await w.drain()
    await deliver()
    expect(host.mails.slice(5).flatMap(({ to }) => to)).toContain(address)
    w.advance('1 day')
    await w.drain()
    await deliver()
    expect(host.mails.flatMap(({ to }) => to).sort()).toEqual([...blast, ...urgent, address].sort())
  })

  test('waits for the next day of a warm-up if it follows from a time, as a million reminders do', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    await w.put(`/api/client/domains/${id}/warm-up`, { steps: [2, 2] })
    const host = w.internet.host('mx.timed.example.org')
    w.internet.domain('timed.example.org', 'mx.timed.example.org')
    const expires_at = new Date(w.clock.now().getTime() + 4 * DAY_MS)
    await queueMail(w, ...['a', 'b', 'c'].map((name) => ({ to: [`${name}@timed.example.org`], priority: TIMED, expires_at })))
    const delivered = async () => {
      await w.drain()
      w.advance('1 second')
      await w.drain()
      return host.mails.length
    }
    expect(await delivered()).toBe(2)
    w.advance('1 day')
    expect(await delivered()).toBe(3)
  })

  test('counts as bounced for the warm-up if the host refuses it', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    await w.put(`/api/client/domains/${id}/warm-up`, {})
    w.internet.host('mx.five.example.org', { script: { RCPT: '550 5.1.1 No such user' } })
    await send(w, 'five.example.org')
    expect((await w.get(`/api/client/domains/${id}/warm-up`)).body.sites).toMatchObject([{ sent: 1, bounced: 1, deferred: 0 }])
  })

  test.each([
    ['was not sent, for the warm-up, if the host says nothing', { GREETING: ends('close') }, { sent: 0, deferred: 0 }],
    ['counts as deferred for the warm-up if the host defers it', { RCPT: '451 4.7.0 Try later' }, { sent: 1, deferred: 1 }],
  ])('%s', async (_, script, counts) => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    await w.put(`/api/client/domains/${id}/warm-up`, {})
    w.internet.host('mx.seven.example.org', { script })
    await send(w, 'seven.example.org')
    expect((await w.get(`/api/client/domains/${id}/warm-up`)).body.sites).toMatchObject([counts])
  })

  test('was not sent, for the warm-up, if its content was deleted while it waited', async () => {
    await using w = await mailWorld()
    const { id } = (await w.get('/api/client/domains')).body.results[0]
    await w.put(`/api/client/domains/${id}/warm-up`, {})
    w.internet.host('mx.nine.example.org')
    w.internet.domain('nine.example.org', 'mx.nine.example.org')
    await queueMail(w, { to: ['kim@nine.example.org'] })
    await w.db.run(sql`update mail_messages set content = null where project_id = ${w.projectId}`)
    await w.drain()
    expect((await w.get(`/api/client/domains/${id}/warm-up`)).body.sites).toMatchObject([{ sent: 0 }])
  })

  test.each(['MTA_ADDRESSES', 'MTA_SOURCE_ADDRESSES'])(
    'suppresses no address if a host blocks that of this server (%s)',
    async (setting) => {
      // The system takes it for one of this machine, so that connections can come from it.
      const own = setting === 'MTA_ADDRESSES' ? '203.0.113.9' : '127.0.0.9'
      await using w = await mailWorld({ [setting]: own })
      w.internet.host('mx.ten.example.org', { script: { RCPT: `550 5.1.0 Rejected [${own}]` } })
      const { message } = await send(w, 'ten.example.org')
      expect(message).toMatchObject({ state: 'failed' })
      expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    },
  )

  test('is a test send of an editor only to the test recipients of the project', async () => {
    await using w = await mailWorld()
    const reply = await w.post(`${CAMPAIGNS}/${w.campaign.id}/test`, { to: ['kim@six.example.org'] }, { key: w.keys.editor })
    expect(JSON.stringify(reply.body)).not.toContain('"sent"')
    await w.drain()
    expect((await w.get('/api/client/mail-queue')).body?.results ?? []).toEqual([])
  })
})
