/** Which recipients a request about the mail queue shows, tries again, cancels and pauses, and what it refuses. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailWorld, mailWorld } from '../mail-queue.ts'
import { select } from '../select.ts'

let w: MailWorld
beforeAll(async () => {
  w = await mailWorld()
})
afterAll(() => w[Symbol.asyncDispose]())

const QUEUE = '/api/client/mail-queue'
let domains = 0

type Deferred = { domain: string; address: string; message_id: number; site: string }

/** A deferred email to a domain of its own. */
async function deferred(): Promise<Deferred> {
  const domain = `choice-${++domains}.example.org`
  w.internet.host(`mx.${domain}`, { script: { RCPT: '451 4.3.0 Later' } })
  w.internet.domain(domain, `mx.${domain}`)
  const address = await w.mailTo(domain)
  await w.events()
  const [{ message_id, site }] = (await w.get(`${QUEUE}?domain=${domain}`)).body.results
  return { domain, address, message_id, site }
}

const addressesOf = async (query: string) =>
  (await w.get(`${QUEUE}?${query}`)).body.results.map(({ recipient }: { recipient: string }) => recipient)

describe('the list', () => {
  let one: Deferred
  let other: Deferred
  beforeAll(async () => {
    ;[one, other] = [await deferred(), await deferred()]
  })

  test.each(['domain', 'site'] as const)('has the recipients of a %s, and no others', async (by) => {
    expect(await addressesOf(`${by}=${one[by]}`)).toEqual([one.address])
    expect(await addressesOf(`${by}=${other[by]}`)).toEqual([other.address])
  })

  test('has those of a campaign, and by default those of all', async () => {
    expect(await addressesOf(`campaign_id=${w.campaign.id}`)).toEqual([other.address, one.address])
    expect(await addressesOf('')).toEqual([other.address, one.address])
    expect(await addressesOf('campaign_id=999999')).toEqual([])
  })

  test('knows a domain in upper case, and takes a name of 255 characters', async () => {
    expect(await addressesOf(`domain=${one.domain.toUpperCase()}`)).toEqual([one.address])
    const statuses = [255, 256].map(async (length) => (await w.get(`${QUEUE}?domain=${'d'.repeat(length)}`)).status)
    expect(await Promise.all(statuses)).toEqual([200, 422])
  })

  const stored = {
    waiting: 'queued',
    delivering: 'claimed',
    delivered: 'delivered',
    failed: 'failed',
    expired: 'expired',
    cancelled: 'cancelled',
  }
  test.each(Object.entries(stored))('shows a recipient as %s', async (shown, state) => {
    const set = (state: string, outcome: string) =>
      select(
        w,
        `update mail_recipients set state = $2, history = jsonb_set(history, '{-1,outcome}', to_jsonb($3::text)) where domain = $1 returning 1`,
        [one.domain, state, outcome],
      )
    const outcome = { waiting: 'deferred', delivering: 'uncertain' }[shown] ?? shown
    await set(state, outcome)
    const filter = shown === 'delivering' ? 'waiting' : shown
    const listed = (await w.get(`${QUEUE}?domain=${one.domain}&state=${filter}`)).body
    const others = Object.keys(stored).filter((name) => name !== filter && name !== 'delivering')
    const elsewhere = await Promise.all(others.map((name) => addressesOf(`domain=${one.domain}&state=${name}`)))
    await set('queued', 'deferred')
    expect(listed.results).toMatchObject([{ recipient: one.address, state: shown, source: 'message', last_attempt: { outcome } }])
    expect(elsewhere.flat()).toEqual([])
  })

  test.each(['message', 'submission', 'report'])('says that an email is a %s', async (source) => {
    await select(w, 'update mail_messages set source = $2 where id = $1 returning 1', [one.message_id, source])
    expect((await w.get(`${QUEUE}?domain=${one.domain}`)).body.results).toMatchObject([{ source }])
    await select(w, `update mail_messages set source = 'message' where id = $1 returning 1`, [one.message_id])
  })

  test('refuses a state that is none', async () => {
    const { status, body } = await w.get(`${QUEUE}?state=lost`)
    expect([status, body.code, body.error.param]).toEqual([400, 'parameter_invalid_format', 'state'])
  })
})

describe.each(['retry', 'cancel'])('%s', (action) => {
  const choose = (choice: object) => w.post(`${QUEUE}/${action}`, choice)

  test.each<[string, (one: Deferred) => object]>([
    ['a message', ({ message_id }) => ({ message_ids: [message_id] })],
    ['a domain in upper case', ({ domain }) => ({ domain: domain.toUpperCase() })],
    ['a site', ({ site }) => ({ site })],
    ['a message, its site and its domain', ({ message_id, site, domain }) => ({ message_ids: [message_id], site, domain })],
  ])('concerns %s, and nothing else', async (_, choiceOf) => {
    const [one, other] = [await deferred(), await deferred()]
    expect((await choose(choiceOf(one))).body).toEqual({ recipients: 1 })
    const waiting = (await w.get(QUEUE)).body.results
    const due = waiting.filter((row: { next_attempt_at: string }) => Date.parse(row.next_attempt_at) <= w.clock.now().getTime())
    const namesOf = (rows: { recipient: string }[]) => rows.map(({ recipient }) => recipient)
    expect(namesOf(due)).toEqual(action === 'retry' ? [one.address] : [])
    expect(namesOf(waiting).includes(one.address)).toBe(action === 'retry')
    expect(namesOf(waiting)).toContain(other.address)
    await w.events()
  })

  test('concerns only what all conditions hold for', async () => {
    const [one, other] = [await deferred(), await deferred()]
    expect((await choose({ message_ids: [one.message_id], domain: other.domain })).body).toEqual({ recipients: 0 })
  })

  test('needs a condition, and a message if it names messages', async () => {
    const refused = await Promise.all([{}, { message_ids: [] }].map(choose))
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual([
      [400, 'Give at least 1 of `message_ids`, `campaign_id`, `site`, `domain`.'],
      [400, 'The parameter `message_ids` must contain at least one value.'],
    ])
  })
})

test.each(['pause', 'resume'])('%s takes a campaign or a site, and no more than one of them', async (action) => {
  const both = await w.post(`${QUEUE}/${action}`, { campaign_id: w.campaign.id, site: 'mx-1' })
  expect([both.status, both.body.message]).toEqual([422, 'Give `campaign_id` or `site`, not both.'])
  expect((await w.get(`${QUEUE}/pauses`)).body.results).toEqual([])
})
