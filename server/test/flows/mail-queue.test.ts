/** Email in the mail queue is listed, paused, tried again, cancelled and erased, observed at the mail hosts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../src/lib/times.ts'
import { blastTo, CAMPAIGNS, pathOf, schedule, subscriptionTo, write } from '../blasts.ts'
import { type MailWorld, mailWorld, typesOf } from '../mail-queue.ts'
import { answerOrders } from '../mailing.ts'
import { select } from '../select.ts'

let w: MailWorld
beforeAll(async () => {
  w = await mailWorld()
})
afterAll(() => w[Symbol.asyncDispose]())

const QUEUE = '/api/client/mail-queue'
let domains = 0

/** A domain whose host defers the first attempt, unless it accepts all. */
function domainOf(isDeferring: boolean): string {
  const domain = `q${++domains}.example.org`
  let refusals = isDeferring ? 1 : 0
  w.internet.host(`mx.${domain}`, { script: { RCPT: () => (refusals-- > 0 ? '451 4.3.0 Later' : undefined) } })
  w.internet.domain(domain, `mx.${domain}`)
  return domain
}

const acceptedBy = (domain: string) => w.internet.mx.hosts.get(`mx.${domain}`)?.counts.accepted

const listed = async (domain: string, state = 'waiting') => (await w.get(`${QUEUE}?domain=${domain}&state=${state}`)).body.results

/** A deferred email to a domain of its own. */
async function deferred(): Promise<{ domain: string; address: string }> {
  const domain = domainOf(true)
  const address = await w.mailTo(domain)
  await w.events()
  return { domain, address }
}

test('a waiting recipient is listed with its site, its last attempt in words, and the next one', async () => {
  const { domain, address } = await deferred()
  const [one] = await listed(domain)
  expect(one).toMatchObject({
    recipient: address,
    state: 'waiting',
    attempts: 1,
    last_attempt: { outcome: 'deferred', host: `mx.${domain}`, code: 451, response: '451 4.3.0 Later' },
  })
  expect(one.site).toMatch(/^mx-/)
  expect(Date.parse(one.next_attempt_at)).toBeGreaterThan(w.clock.now().getTime())
})

test('the recipients of one email are listed whatever their state is', async () => {
  const { domain, address } = await deferred()
  await w.mailTo(domain)
  const [{ message_id }] = (await w.get(`${QUEUE}?q=${address}`)).body.results
  const statesOf = async (more = '') =>
    (await w.get(`${QUEUE}?message_id=${message_id}${more}`)).body.results.map(({ state }: { state: string }) => state)
  expect(await statesOf()).toEqual(['waiting'])
  w.advance('2 minutes')
  await w.events()
  expect([await statesOf(), await statesOf('&state=waiting'), await statesOf('&state=delivered')]).toEqual([
    ['delivered'],
    [],
    ['delivered'],
  ])
})

test('a campaign says when its email is tried again, and for how long', async () => {
  const path = `/api/client/campaigns/${w.campaign.id}`
  expect((await w.patch(path, { mail_retries: { after_minutes: [100], for_hours: 4 } })).status).toBe(200)
  const domain = domainOf(true)
  w.internet.host(`mx.${domain}`, { script: { RCPT: '451 4.3.0 Later' } })
  const address = await w.mailTo(domain)
  const attemptsUntil = async (time: string) => {
    w.advance(time)
    return (await w.events(address)).filter(({ type }) => type === 'delivery.attempt-start').length
  }
  expect(await attemptsUntil('0 seconds')).toBe(1)
  await w.patch(path, { mail_retries: null })
  // 100 minutes, less a fifth.
  expect([await attemptsUntil('79 minutes'), await attemptsUntil('42 minutes')]).toEqual([0, 1])
  w.advance('3 hours')
  expect(typesOf(await w.events(address))).toEqual(['attempt-start', 'failed', 'dsn-perm-fail', 'completed', 'attempt-end'])
})

test('the timeline of a message has every attempt with host, address, reply and encryption', async () => {
  const { domain, address } = await deferred()
  w.advance('2 minutes')
  await w.events()
  const [{ id }] = (await w.get(`/api/client/messages?domain=${domain}`)).body.results
  const { deliveries, state } = (await w.get(`/api/client/messages/${id}`)).body
  expect(state).toBe('delivered')
  expect(deliveries).toMatchObject([
    {
      recipient: address,
      state: 'delivered',
      next_attempt_at: null,
      attempts: [
        { attempt: 1, outcome: 'deferred', code: 451 },
        {
          attempt: 2,
          outcome: 'delivered',
          host: `mx.${domain}`,
          code: 250,
          ip: expect.stringMatching(/^127\./),
          tls: expect.stringMatching(/^TLSv1/),
        },
      ],
    },
  ])
  const bySite = (await w.get(`/api/client/messages?site=${deliveries[0].site}`)).body.results
  expect(bySite.map((one: { id: number }) => one.id)).toEqual([id])
})

describe('a pause', () => {
  test.each<[string, (site: string) => object]>([
    ['of the project', () => ({})],
    ['of a site', (site) => ({ site })],
    ['of a campaign', () => ({ campaign_id: w.campaign.id })],
  ])('%s holds email until it is resumed', async (_, targetOf) => {
    const { domain } = await deferred()
    const target = targetOf((await listed(domain))[0].site)
    expect((await w.post(`${QUEUE}/pause`, target)).status).toBe(204)
    expect((await w.get(`${QUEUE}/pauses`)).body.results).toEqual([target])
    w.advance('1 hour')
    await w.events()
    expect([acceptedBy(domain), (await listed(domain))[0].state]).toEqual([0, 'paused'])
    expect((await w.post(`${QUEUE}/resume`, target)).status).toBe(204)
    await w.events()
    expect(acceptedBy(domain)).toBe(1)
  })
})

test('a pause of a site holds email that was not tried yet, once its mail hosts are looked up', async () => {
  const { domain } = await deferred()
  const { site } = (await listed(domain))[0]
  await w.post(`${QUEUE}/pause`, { site })
  const address = await w.mailTo(domain)
  await w.events()
  const held = (await listed(domain)).find(({ recipient }: { recipient: string }) => recipient === address)
  expect([acceptedBy(domain), held]).toEqual([0, expect.objectContaining({ state: 'paused', site, attempts: 0 })])
  await w.post(`${QUEUE}/resume`, { site })
  expect(typesOf(await w.events(address))).toEqual(['attempt-start', 'delivered', 'completed', 'attempt-end'])
})

test('held email is given up at the end of its lifetime, although nothing resumes it', async () => {
  const { domain, address } = await deferred()
  const target = { site: (await listed(domain))[0].site }
  await w.post(`${QUEUE}/pause`, target)
  w.advance('1 hour')
  await w.events()
  expect((await listed(domain))[0].state).toBe('paused')
  w.advance('2 days')
  expect(typesOf(await w.events(address))).toEqual(['attempt-start', 'failed', 'dsn-perm-fail', 'completed', 'attempt-end'])
  expect((await w.get(`/api/client/messages?domain=${domain}`)).body.results).toMatchObject([{ state: 'failed' }])
  expect(acceptedBy(domain)).toBe(0)
  await w.post(`${QUEUE}/resume`, target)
})

test('a paused campaign delivers nothing, and what is due when it is resumed', async () => {
  const campaign = w.campaign
  const { domain } = await deferred()
  await w.post(`/api/client/campaigns/${campaign.id}/pause`)
  w.advance('1 hour')
  await w.events()
  expect(acceptedBy(domain)).toBe(0)
  await w.post(`/api/client/campaigns/${campaign.id}/resume`)
  await w.events()
  expect(acceptedBy(domain)).toBe(1)
})

describe('a trigger that is finished', () => {
  /** A trigger with an email that its host deferred. */
  async function deferredTrigger() {
    const domain = domainOf(true)
    const { body: trigger } = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Thanks', subscription_id: await subscriptionTo(w) })
    await w.put(`${pathOf(trigger)}/templates/en`, { from: 'shop@example.com', subject: 'Thanks', html: '<p>Thanks</p>' })
    await write(w, trigger, { state: 'running' })
    await w.post('/api/client/users/batch', [{ external_id: domain, email: `kim@${domain}` }])
    expect((await w.post(`${pathOf(trigger)}/trigger`, { external_id: domain })).status).toBe(202)
    await w.events()
    return { domain, trigger: trigger as { id: number } }
  }

  const endOf = async (domain: string) => {
    const [{ state, reason }] = (await w.get(`/api/client/messages?domain=${domain}`)).body.results
    return [acceptedBy(domain), state, reason]
  }
  const STOPPED = [0, 'aborted', 'campaign_stopped']

  test('delivers the email that waits', async () => {
    const { domain, trigger } = await deferredTrigger()
    await write(w, trigger, { state: 'finished' })
    w.advance('1 hour')
    await w.events()
    expect(acceptedBy(domain)).toBe(1)
  })

  test.each(['after', 'before'] as const)('while it is paused delivers no email any more, %s it was held', async (order) => {
    const { domain, trigger } = await deferredTrigger()
    await w.post(`${pathOf(trigger)}/pause`)
    if (order === 'after') {
      w.advance('1 hour')
      await w.events()
      expect((await listed(domain))[0].state).toBe('paused')
    }
    await write(w, trigger, { state: 'finished' })
    w.advance('1 hour')
    await w.events()
    expect(await endOf(domain)).toEqual(STOPPED)
  })

  test('while it is paused sends nothing that a member has sent again', async () => {
    const { domain, trigger } = await deferredTrigger()
    w.advance('1 hour')
    await w.events()
    expect(acceptedBy(domain)).toBe(1)
    const [{ id }] = (await w.get(`/api/client/messages?domain=${domain}`)).body.results
    await w.post(`${pathOf(trigger)}/pause`)
    expect((await w.post(`/api/client/messages/${id}/resend`)).body.state).toBe('queued')
    await w.events()
    await write(w, trigger, { state: 'finished' })
    w.advance('1 hour')
    await w.events()
    expect(acceptedBy(domain)).toBe(1)
    // The campaign has finished, and may send again what a member asks for from now on.
    expect((await w.post(`/api/client/messages/${id}/resend`)).body.state).toBe('queued')
    await w.events()
    expect(acceptedBy(domain)).toBe(2)
  })

  test('while it is paused delivers nothing of what was under way either, if that did not succeed', async () => {
    const { domain, trigger } = await deferredTrigger()
    await w.post(`${pathOf(trigger)}/pause`)
    const minute = new Date(w.clock.now().getTime() + MINUTE_MS)
    await select(
      w,
      `update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = $2 where domain = $1 returning no`,
      [domain, minute],
    )
    await write(w, trigger, { state: 'finished' })
    await w.events()
    w.advance('2 minutes')
    await w.events()
    w.advance('1 hour')
    await w.events()
    expect(await endOf(domain)).toEqual(STOPPED)
    expect(await select(w, 'select pending_action from campaigns where id = $1', [trigger.id])).toEqual([{ pending_action: null }])
  })
})

test('waiting email is tried again at once on request', async () => {
  const { domain } = await deferred()
  expect((await w.post(`${QUEUE}/retry`, { domain })).body).toEqual({ recipients: 1 })
  await w.events()
  expect(acceptedBy(domain)).toBe(1)
})

test('cancelled email is never delivered, and its message is aborted', async () => {
  const { domain, address } = await deferred()
  expect((await w.post(`${QUEUE}/cancel`, { domain })).body).toEqual({ recipients: 1 })
  const events = await w.events(address)
  expect(typesOf(events)).toEqual(['failed', 'completed'])
  expect(events[0]?.data.reason).toBe('cancelled')
  w.advance('1 hour')
  await w.events()
  expect(acceptedBy(domain)).toBe(0)
  expect((await w.get(`${QUEUE}?state=cancelled&domain=${domain}`)).body.results).toMatchObject([
    { recipient: address, state: 'cancelled' },
  ])
  const [message] = (await w.get(`/api/client/messages?domain=${domain}`)).body.results
  expect(message).toMatchObject({ state: 'aborted', reason: 'cancelled' })
})

test('erasing a user takes their email out of the queue', async () => {
  const { domain, address } = await deferred()
  expect(await listed(domain)).toMatchObject([{ recipient: address }])
  await w.delete(`/api/client/users/${address.split('@')[0]}`)
  // Before the job.
  expect([await listed(domain), (await w.get(`${QUEUE}?q=${address}`)).body.results]).toEqual([[], []])
  w.advance('1 hour')
  await w.events()
  expect([acceptedBy(domain), await listed(domain)]).toEqual([0, []])
  expect(await select(w, 'select address, history from mail_recipients where domain = $1', [domain])).toEqual([
    { address: '', history: [] },
  ])
  expect(
    await select(
      w,
      'select 1 from mail_messages m join mail_recipients r on r.mail_id = m.id where r.domain = $1 and m.content is not null',
      [domain],
    ),
  ).toEqual([])
})

test('erasing a user removes the address from email that was sent over another provider in the end', async () => {
  const { domain, address } = await deferred()
  await select(w, `update messages set provider = 'smtp' where project_id = $1 and recipient = $2`, [w.projectId, address])
  await w.delete(`/api/client/users/${address.split('@')[0]}`)
  await w.events()
  expect(await select(w, 'select address from mail_recipients where domain = $1', [domain])).toEqual([{ address: '' }])
})

test('an address that is suppressed meanwhile gets nothing', async () => {
  const { domain, address } = await deferred()
  await w.post('/api/client/suppressions', [{ channel: 'email', address }])
  w.advance('1 hour')
  const events = await w.events(address)
  expect(typesOf(events)).toEqual(['dsn-perm-fail', 'completed'])
  expect(events[0]?.data.classification).toBe('suppressed')
  expect(acceptedBy(domain)).toBe(0)
})

test('an address that is suppressed while its email is held gets nothing once it is resumed', async () => {
  const domain = domainOf(false)
  await w.post(`${QUEUE}/pause`, {})
  const address = await w.mailTo(domain)
  await w.events()
  expect((await listed(domain))[0]).toMatchObject({ state: 'paused', attempts: 0 })
  await w.post('/api/client/suppressions', [{ channel: 'email', address }])
  w.advance('1 hour')
  await w.post(`${QUEUE}/resume`, {})
  expect(typesOf(await w.events(address))).toEqual(['dsn-perm-fail', 'completed'])
  expect(acceptedBy(domain)).toBe(0)
})

test('a hard bounce suppresses the address, and the message is bounced', async () => {
  const domain = `q${++domains}.example.org`
  w.internet.host(`mx.${domain}`, { script: { RCPT: '550 5.1.1 No such user' } })
  w.internet.domain(domain, `mx.${domain}`)
  const address = await w.mailTo(domain)
  const events = await w.events(address)
  expect(events.find(({ type }) => type === 'delivery.dsn-perm-fail')?.data).toMatchObject({
    suppressed: true,
    classification: 'invalid-recipient',
  })
  expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toMatchObject([{ reason: 'hard_bounce' }])
  expect((await w.get(`/api/client/messages?domain=${domain}`)).body.results).toMatchObject([{ state: 'bounced', reason: 'hard_bounce' }])
})

test('an email whose process died is delivered again when its lease ends', async () => {
  const { domain } = await deferred()
  w.advance('1 hour')
  await select(
    w,
    `update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = $2 where domain = $1 returning no`,
    [domain, new Date(w.clock.now().getTime() + 60_000)],
  )
  await w.events()
  expect(acceptedBy(domain)).toBe(0)
  w.advance('2 minutes')
  await w.events()
  expect(acceptedBy(domain)).toBe(1)
})

/** A blast to two users at a domain, one an hour. */
async function slowBlastTo(domain: string, within: MailWorld = w) {
  const names = ['kim', 'lee'].map((name) => `${name}-of-${domain}`)
  const users = names.map((external_id) => ({ external_id, email: `${external_id}@${domain}` }))
  await within.post('/api/client/users/batch', users)
  const { body: list } = await within.post('/api/client/lists', { name: domain, type: 'static' })
  await within.post(`/api/client/lists/${list.id}/users`, { external_ids: names })
  const blast = await blastTo(within, [list.id], { rate: { limit: 1, interval_seconds: 3600 } })
  await schedule(within, blast)
  return blast
}

const sendInTwoDays = (blast: { id: number }, within: MailWorld = w) =>
  write(within, blast, { send_at: new Date(within.clock.now().getTime() + 2 * DAY_MS).toISOString() })

test('a new `send_at` waits for email that is under way, and what was not delivered is sent again', async () => {
  const domain = domainOf(true)
  const blast = await slowBlastTo(domain)
  await w.drain()
  const minute = new Date(w.clock.now().getTime() + 60_000)
  await select(
    w,
    `update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = $2 where domain = $1 returning no`,
    [domain, minute],
  )
  await sendInTwoDays(blast)
  const now = async () => [
    (await w.get(pathOf(blast))).body.state,
    (await select(w, 'select state from mail_recipients where domain = $1', [domain])).map(({ state }) => state),
  ]
  await w.drain()
  expect(await now()).toEqual(['aborting', ['claimed']])
  w.advance('2 minutes')
  await w.drain()
  w.advance('1 minute')
  await w.drain()
  expect(await now()).toEqual(['scheduled', ['cancelled']])
  w.advance('2 days')
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  expect(acceptedBy(domain)).toBe(2)
})

test('a new `send_at` sends email that was not delivered because its address was suppressed then', async () => {
  const domain = domainOf(false)
  await w.post(`${QUEUE}/pause`, {})
  const blast = await slowBlastTo(domain)
  await w.drain()
  const [{ recipient: address }] = await listed(domain)
  await w.post('/api/client/suppressions', [{ channel: 'email', address }])
  w.advance('1 minute')
  await w.post(`${QUEUE}/resume`, {})
  expect(typesOf(await w.events(address))).toEqual(['dsn-perm-fail', 'completed'])
  const [{ id }] = (await w.get(`/api/client/suppressions?q=${address}`)).body.results
  await w.delete(`/api/client/suppressions/${id}`)
  await sendInTwoDays(blast)
  await w.drain()
  w.advance('2 days')
  expect(typesOf(await w.events(address))).toEqual(['attempt-start', 'delivered', 'completed', 'attempt-end'])
  expect(acceptedBy(domain)).toBe(1)
})

test.each([
  ['for the rate of the campaign', '0 seconds'],
  ['in the mail queue', '2 hours'],
])('a message that was sent again by hand and waits %s is sent at the new `send_at`', async (_, waits) => {
  const domain = `q${++domains}.example.org`
  let refusals = 1
  w.internet.host(`mx.${domain}`, { script: { RCPT: () => (refusals-- > 0 ? '554 5.7.1 Blocked' : undefined) } })
  w.internet.domain(domain, `mx.${domain}`)
  const blast = await slowBlastTo(domain)
  const [refused] = (await w.events()).filter(({ type }) => type === 'delivery.dsn-perm-fail')
  await w.post(`${QUEUE}/pause`, {})
  const again = await w.post(`/api/client/messages/${refused?.data.message_id}/resend`)
  expect(again.body.state).toBe('queued')
  w.advance(waits)
  await w.drain()
  expect((await w.get(pathOf(blast))).body.state).toBe('running')
  await sendInTwoDays(blast)
  await w.drain()
  await w.post(`${QUEUE}/resume`, {})
  expect([(await w.get(pathOf(blast))).body.state, acceptedBy(domain)]).toEqual(['scheduled', 0])
  w.advance('2 days')
  await w.drain()
  w.advance('2 hours')
  await w.drain()
  const to = w.internet.mx.hosts.get(`mx.${domain}`)?.mails.flatMap(({ to }) => to)
  expect(to).toHaveLength(2)
  expect(to).toContain(refused?.data.to)
})

test('email that a new `send_at` sends again enters the queue and is completed once more, with the events of that', async () => {
  await using w = await mailWorld({}, [])
  const domain = 'again.example.org'
  w.internet.domain(domain, `mx.${domain}`)
  const blast = await slowBlastTo(domain, w)
  const counts = new Map<string, number>()
  const countEvents = async () => {
    for (const { type, data } of await w.events()) {
      const what = `${data.message_id} ${type}`
      if (/authenticated|completed/.test(type)) counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    return [...counts.values()]
  }
  await w.post(`${QUEUE}/pause`, {})
  expect(await countEvents()).toEqual([1])
  await sendInTwoDays(blast, w)
  expect(await countEvents()).toEqual([1, 1])
  await w.post(`${QUEUE}/resume`, {})
  for (const time of ['2 days', '1 hour']) {
    w.advance(time)
    await countEvents()
  }
  // The second message was not in the queue before the new time.
  expect([...counts.values()].sort()).toEqual([1, 1, 2, 2])
})

test('email that a new `send_at` sends again begins anew: its delays are told, and it is tried again soon', async () => {
  const domain = `q${++domains}.example.org`
  let refusals = 5
  w.internet.host(`mx.${domain}`, { script: { RCPT: () => (refusals-- > 0 ? '451 4.3.0 Later' : undefined) } })
  w.internet.domain(domain, `mx.${domain}`)
  const blast = await slowBlastTo(domain)
  const ids: unknown[] = []
  const notices = async () => {
    const events = (await w.events()).filter(({ data }) => data.recipient_domain === domain)
    ids.push(...events.flatMap(({ type, data }) => (type === 'delivery.attempt-start' ? [data.attempt_id] : [])))
    return typesOf(events).filter((type) => type === 'dsn-temp-fail').length
  }
  const later = async () => {
    for (const time of ['6 minutes', '18 minutes']) {
      w.advance(time)
      expect(await notices()).toBe(0)
    }
  }
  expect(await notices()).toBe(1)
  await later()
  await sendInTwoDays(blast)
  await w.drain()
  w.advance('2 days')
  expect(await notices()).toBe(1)
  expect((await listed(domain))[0]).toMatchObject({ attempts: 1, last_attempt: { attempt: 4 } })
  await later()
  expect([acceptedBy(domain), ids.length, new Set(ids).size]).toEqual([1, 6, 6])
})

test('email that a new `send_at` sends again and that expires without an attempt says nothing of the run before', async () => {
  const domain = domainOf(true)
  const blast = await slowBlastTo(domain)
  await w.events()
  const [{ recipient: address }] = await listed(domain)
  await sendInTwoDays(blast)
  await w.drain()
  await w.post(`${QUEUE}/pause`, {})
  w.advance('2 days')
  await w.events()
  w.advance('2 days')
  const events = await w.events(address)
  await w.post(`${QUEUE}/resume`, {})
  expect(events.find(({ type }) => type === 'delivery.failed')?.data.reason).toBe('expired')
})

test('an aborted campaign cancels the email that is queued', async () => {
  const { domain, address } = await deferred()
  await write(w, w.campaign, { state: 'aborted' })
  expect(typesOf(await w.events(address))).toEqual(['failed', 'completed'])
  w.advance('1 hour')
  await w.events()
  expect(acceptedBy(domain)).toBe(0)
  expect((await w.get(`/api/client/messages?domain=${domain}`)).body.results).toMatchObject([
    { state: 'aborted', reason: 'campaign_stopped' },
  ])
  await answerOrders(w)
})
