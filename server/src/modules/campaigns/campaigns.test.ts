import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type Tenant, type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { templatesOf } from '../templates/queries.ts'
import { findCampaigns } from './queries.ts'
import { runningTriggers } from './triggers.queries.ts'

const CAMPAIGNS = '/api/client/campaigns'
const pathOf = (campaign: { id: number }) => `${CAMPAIGNS}/${campaign.id}`
const templateOf = (campaign: { id: number }, locale: string) => `${pathOf(campaign)}/templates/${locale}`

const subscription = async (w: World, channel = 'email', key = w.keys.secret): Promise<number> =>
  (await w.get('/api/client/subscriptions', { key })).body.results.find((type: { channel: string }) => type.channel === channel).id

async function make(w: World, body: object = {}) {
  const reply = await w.post(CAMPAIGNS, { type: 'blast', name: 'Spring', subscription_id: await subscription(w), ...body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

async function makeList(w: World, { projectId }: Pick<Tenant, 'projectId'> = w, archivedAt: Date | null = null): Promise<number> {
  const now = w.clock.now()
  const row = await w.db.first(
    Type.Object({ id: Type.Integer() }),
    sql`insert into lists (project_id, name, type, created_at, updated_at, archived_at) values (${projectId}, 'All', 'static', ${now}, ${now}, ${archivedAt}) returning id`,
  )
  return row?.id ?? 0
}

const html = { subject: 'Hi', html: '<p>{{ user.data.name }}</p>' }

/** A blast that can be scheduled. */
async function ready(w: World, body: object = {}) {
  const campaign = await make(w, { list_ids: [await makeList(w)], send_at: '2026-12-01T09:00:00Z', ...body })
  await w.put(templateOf(campaign, 'en'), html)
  return campaign
}

async function readyTrigger(w: World, event_name = 'bought') {
  const campaign = await make(w, { type: 'trigger', event_name })
  await w.put(templateOf(campaign, 'en'), html)
  return campaign
}

describe('create and read', () => {
  test('members that are not given get their default or are left out of replies', async () => {
    await using w = await world()
    const subscription_id = await subscription(w)
    const { status, body, headers } = await w.post(CAMPAIGNS, { type: 'blast', name: ' Spring ', subscription_id }, { key: w.keys.editor })
    expect(status).toBe(201)
    expect(headers.location).toBe(`${CAMPAIGNS}/${body.id}`)
    expect(body).toEqual({
      id: expect.any(Number),
      project_id: w.projectId,
      type: 'blast',
      name: 'Spring',
      slug: 'spring',
      channel: 'email',
      subscription_id,
      state: 'draft',
      list_ids: [],
      exclusion_list_ids: [],
      tags: [],
      send_in_user_timezone: false,
      expires_after_hours: 72,
      holdout_percent: 0,
      variants: [],
      delivery: { sent: 0, total: 0, opens: 0, clicks: 0, bounced: 0 },
      created_at: w.clock.now().toISOString(),
      updated_at: w.clock.now().toISOString(),
    })
    expect((await w.get(pathOf(body), { key: w.keys.support })).body).toEqual(body)
  })

  test('given members are stored and returned', async () => {
    await using w = await world()
    const [list, other] = [await makeList(w), await makeList(w)]
    const blast = await make(w, {
      list_ids: [list, list],
      exclusion_list_ids: [other],
      tags: ['b', 'a', 'b'],
      send_at: '2026-12-01T09:00+10:00',
    })
    expect(blast).toMatchObject({ list_ids: [list], exclusion_list_ids: [other], tags: ['b', 'a'], send_at: '2026-11-30T23:00:00.000Z' })
    const local = await make(w, { send_in_user_timezone: true, send_at: '2026-12-01T09:00' })
    expect(local).toMatchObject({ send_in_user_timezone: true, send_at: '2026-12-01T09:00:00.000' })
    const event_rule = { where: [{ attribute: 'data.total', greater_than: 50 }], user: { attribute: 'data.plan', is: 'pro' } }
    const trigger = await make(w, { type: 'trigger', event_name: ' order placed', channel: 'email', event_rule })
    expect(trigger).toMatchObject({ type: 'trigger', event_name: ' order placed', event_rule })
    const variants = [
      { name: 'Short', weight: 1 },
      { name: 'Long', weight: 3 },
    ]
    const winner = { metric: 'clicks', test_percent: 20, after_minutes: 60 }
    const rate = { limit: 100, interval_seconds: 60 }
    const mail_retries = { after_minutes: [5, 60], for_hours: 12 }
    const split = { variants, winner, rate, mail_retries, holdout_percent: 10, expires_after_hours: 5 }
    const made = await make(w, split)
    expect(made).toMatchObject(split)
    const changed = (await w.patch(pathOf(made), { winner: null, rate: null, variants: [], mail_retries: null })).body
    expect(changed).not.toHaveProperty('winner')
    expect(changed).not.toHaveProperty('mail_retries')
  })

  test('a campaign has the channel of its subscription type', async () => {
    await using w = await world()
    expect(await make(w, { subscription_id: await subscription(w, 'push') })).toMatchObject({ channel: 'push' })
    const body = { type: 'blast', name: 'x', subscription_id: await subscription(w, 'push'), channel: 'email' }
    expect(await w.post(CAMPAIGNS, body)).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'channel' } } })
  })

  test('only email is tried again as its campaign says', async () => {
    await using w = await world()
    const mail_retries = { after_minutes: [5, 60], for_hours: 12 }
    const body = { type: 'blast', name: 'x', subscription_id: await subscription(w, 'text'), mail_retries }
    expect(await w.post(CAMPAIGNS, body)).toMatchObject({ status: 422, body: { error: { param: 'mail_retries' } } })
  })

  test('references must exist in the same project', async () => {
    await using w = await world()
    const other = await w.other()
    const [own, archived, foreign] = [await makeList(w), await makeList(w, w, w.clock.now()), await makeList(w, other)]
    const subscription_id = await subscription(w)
    const cases: [object, string[]][] = [
      [{ subscription_id: await subscription(w, 'email', other.keys.secret) }, ['subscription_id']],
      [{ list_ids: [own, archived], exclusion_list_ids: [foreign] }, ['list_ids[1]', 'exclusion_list_ids[0]']],
      [{ provider_id: 1 }, ['provider_id']],
      [{ custom_domain_id: 1 }, ['custom_domain_id']],
      [{ event_name: 'bought' }, ['event_name']],
      [{ event_rule: { user: { attribute: 'email', is_set: true } } }, ['event_rule']],
      [{ type: 'trigger', event_rule: { user: { all: [{ list: archived }, { list: own }] } } }, ['event_rule.user.all[0].list']],
      [{ type: 'trigger', event_rule: { user: { subscription: 999_999, is: 'subscribed' } } }, ['event_rule.user.subscription']],
      [{ type: 'trigger', event_rule: { user: { campaign: 999_999, did: 'opened' } } }, ['event_rule.user.campaign']],
    ]
    for (const [body, params] of cases) {
      const reply = await w.post(CAMPAIGNS, { type: 'blast', name: 'x', subscription_id, ...body })
      expect(reply).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
      expect(reply.body.error.errors.map(({ param }: { param: string }) => param)).toEqual(params)
    }
  })

  const two = [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 1 },
  ]
  const winner = { metric: 'opens', test_percent: 10, after_minutes: 60 }

  test.each([
    [{ variants: two.slice(1) }, 'variants'],
    [{ variants: [two[0], two[0]] }, 'variants'],
    [{ winner }, 'winner'],
    [{ variants: two, winner, send_in_user_timezone: true }, 'winner'],
    [{ type: 'trigger', variants: two }, 'variants'],
    [{ type: 'trigger', holdout_percent: 5 }, 'holdout_percent'],
    [{ holdout_percent: 91 }, 'holdout_percent'],
    [{ expires_after_hours: 0 }, 'expires_after_hours'],
    [{ expires_after_hours: 721 }, 'expires_after_hours'],
    [{ rate: { limit: 0, interval_seconds: 1 } }, 'rate.limit'],
    [{ mail_retries: { after_minutes: [0], for_hours: 1 } }, 'mail_retries.after_minutes[0]'],
    [{ mail_retries: { after_minutes: [5], for_hours: 121 } }, 'mail_retries.for_hours'],
    [{ mail_retries: { after_minutes: [1], for_hours: 1 } }, 'mail_retries'],
    [{ variants: Array.from({ length: 27 }, (_, name) => ({ name: `v${name}`, weight: 1 })) }, 'variants'],
    [{ variants: [two[0], { name: 'B', weight: 0 }] }, 'variants[1].weight'],
  ])('the split %j is refused', async (wrong, param) => {
    await using w = await world()
    const body = { type: 'blast', name: 'x', subscription_id: await subscription(w), ...wrong }
    expect(await w.post(CAMPAIGNS, body)).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param } } })
  })

  test.each([
    [{}, 'parameter_missing', 'event_rule'],
    [{ where: [] }, 'parameter_invalid_empty', 'event_rule.where'],
    [{ where: [{ attribute: 'email', is: 'x' }] }, 'parameter_invalid_format', 'event_rule.where[0].attribute'],
    [{ where: [{ attribute: 'data.at', within_last: '5d' }] }, 'validation_failed', 'event_rule.where[0]'],
    [{ user: { attribute: 'data.plan' } }, 'parameter_missing', 'event_rule.user'],
    [{ event: 'x' }, 'parameter_unknown', 'event_rule.event'],
  ])('the event rule %j is refused', async (event_rule, code, param) => {
    await using w = await world()
    const body = { type: 'trigger', name: 'x', subscription_id: await subscription(w), event_rule }
    expect((await w.post(CAMPAIGNS, body)).body).toMatchObject({ code, error: { param } })
  })

  test('a text campaign cannot have a winner, because opens are not tracked', async () => {
    await using w = await world()
    const body = { type: 'blast', name: 'x', subscription_id: await subscription(w, 'text'), variants: two, winner }
    expect(await w.post(CAMPAIGNS, body)).toMatchObject({ status: 422, body: { error: { param: 'winner' } } })
  })

  test.each([
    [{ type: undefined }, 'parameter_missing', 'type'],
    [{ type: 'drip' }, 'parameter_invalid_format', 'type'],
    [{ name: ' ' }, 'parameter_invalid_empty', 'name'],
    [{ subscription_id: undefined }, 'parameter_missing', 'subscription_id'],
    [{ send_at: '2026-02-30' }, 'parameter_invalid_format', 'send_at'],
    [{ send_at: null }, 'parameter_invalid_format', 'send_at'],
    [{ list_ids: [1.5] }, 'parameter_invalid_format', 'list_ids[0]'],
    [{ tags: Array(51).fill('x') }, 'validation_failed', 'tags'],
    [{ state: 'scheduled' }, 'parameter_unknown', 'state'],
    [{ delivery: {} }, 'parameter_unknown', 'delivery'],
  ])('%j is refused', async (wrong, code, param) => {
    await using w = await world()
    const body = { type: 'blast', name: 'x', subscription_id: 1, ...wrong }
    expect((await w.post(CAMPAIGNS, body)).body).toMatchObject({ code, error: { param } })
  })

  test('a create that is repeated with its idempotency key creates one campaign', async () => {
    await using w = await world()
    const body = { type: 'blast', name: 'Once', subscription_id: await subscription(w) }
    const headers = { 'idempotency-key': 'spring' }
    const first = await w.post(CAMPAIGNS, body, { headers })
    const second = await w.post(CAMPAIGNS, body, { headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect((await w.get(`${CAMPAIGNS}?q=Once`)).body.results).toHaveLength(1)
  })

  test('campaigns are listed newest first, paged both ways, sorted by a nullable date, searched by name and tag, and filtered by provider', async () => {
    await using w = await world()
    for (const [name, body] of [
      ['A', { tags: ['Sale'] }],
      ['B', { send_at: '2027-01-01' }],
      ['C sale', {}],
      ['D', { send_at: '2026-12-01' }],
    ] as const) {
      w.advance('1 minute')
      await make(w, { name, ...body })
    }
    const names = ({ results }: { results: { name: string }[] }) => results.map(({ name }) => name)
    const first = (await w.get(`${CAMPAIGNS}?limit=3`)).body
    expect(names(first)).toEqual(['D', 'C sale', 'B'])
    const second = (await w.get(`${CAMPAIGNS}?limit=3&cursor=${first.nextCursor}`)).body
    expect(names(second)).toEqual(['A'])
    expect(names((await w.get(`${CAMPAIGNS}?limit=3&page=prev&cursor=${second.prevCursor}`)).body)).toEqual(names(first))
    expect(names((await w.get(`${CAMPAIGNS}?sort=send_at`)).body)).toEqual(['D', 'B', 'A', 'C sale'])
    expect(names((await w.get(`${CAMPAIGNS}?q=SALE&sort=name`)).body)).toEqual(['A', 'C sale'])
    expect((await w.get(`${CAMPAIGNS}?sort=delivery`)).status).toBe(400)
    const provider = (await w.post('/api/client/providers', { name: 'Out', kind: 'sandbox', channel: 'email', settings: {} })).body.id
    for (const [name, body] of [
      ['E', { provider_id: provider }],
      ['F', { provider_id: provider }],
      ['G', {}],
    ] as const)
      await make(w, { name, ...body })
    const using = (await w.get(`${CAMPAIGNS}?provider_id=${provider}&limit=1`)).body
    expect(names(using)).toEqual(['F'])
    expect(names((await w.get(`${CAMPAIGNS}?provider_id=${provider}&limit=1&cursor=${using.nextCursor}`)).body)).toEqual(['E'])
    expect((await w.get(`${CAMPAIGNS}?provider_id=x`)).status).toBe(400)
  })
})

describe('changes', () => {
  test('a campaign that names what is gone is saved, but names nothing more that is gone and is not scheduled with it', async () => {
    await using w = await world()
    const [kept, gone, other] = [await makeList(w), await makeList(w), await makeList(w, w, w.clock.now())]
    const provider = (await w.post('/api/client/providers', { name: 'Out', kind: 'sandbox', channel: 'email', settings: {} })).body.id
    const domain = (await w.post('/api/client/domains', { host: 'links.bellbird.test' })).body.id
    const body = { list_ids: [gone], exclusion_list_ids: [kept], provider_id: provider, custom_domain_id: domain }
    const campaign = await ready(w, body)
    expect(await w.delete(`/api/client/domains/${domain}`)).toMatchObject({ status: 204 })
    expect(await w.delete(`/api/client/providers/${provider}`)).toMatchObject({ status: 204 })
    expect(await w.delete(`/api/client/lists/${gone}`)).toMatchObject({ status: 204 })
    expect(await w.patch(pathOf(campaign), { ...body, name: 'Summer' })).toMatchObject({ status: 200, body: { ...body, name: 'Summer' } })
    expect(await w.patch(pathOf(campaign), { list_ids: [kept, gone] })).toMatchObject({ status: 200 })
    const params = async (changes: object) =>
      (await w.patch(pathOf(campaign), changes)).body.error.errors.map(({ param }: { param: string }) => param)
    expect(await params({ list_ids: [gone, other], exclusion_list_ids: [gone] })).toEqual(['list_ids[1]', 'exclusion_list_ids[0]'])
    expect(await params({ provider_id: provider + 1, custom_domain_id: domain + 1 })).toEqual(['provider_id', 'custom_domain_id'])
    expect(await params({ state: 'scheduled' })).toEqual(['list_ids[1]'])
    expect(await w.patch(pathOf(campaign), { state: 'scheduled', list_ids: [kept], exclusion_list_ids: [] })).toMatchObject({ status: 200 })
  })

  test('a trigger whose rule names an archived list is saved with it and not run with it', async () => {
    await using w = await world()
    const list = await makeList(w)
    const event_rule = { user: { list } }
    const campaign = await make(w, { type: 'trigger', event_name: 'bought', event_rule })
    await w.put(templateOf(campaign, 'en'), html)
    expect(await w.delete(`/api/client/lists/${list}`)).toMatchObject({ status: 204 })
    expect(await w.patch(pathOf(campaign), { name: 'Thanks', event_rule })).toMatchObject({ status: 200, body: { name: 'Thanks' } })
    const refused = { status: 422, body: { error: { param: 'event_rule.user.list' } } }
    expect(await w.patch(pathOf(campaign), { event_rule: { user: { all: [{ list }] } } })).toMatchObject({ status: 422 })
    expect(await w.patch(pathOf(campaign), { state: 'running' })).toMatchObject(refused)
  })

  test('updated_at changes only if another member does', async () => {
    await using w = await world()
    const list = await makeList(w)
    const campaign = await make(w, { tags: ['a', 'b'], list_ids: [list], send_at: '2026-12-01' })
    w.advance('1 hour')
    for (const same of [{}, { name: 'Spring' }, { tags: ['a', 'b', 'a'] }, { send_at: '2026-12-01T00:00Z' }]) {
      expect((await w.patch(pathOf(campaign), same)).body).toEqual(campaign)
    }
    const { body } = await w.patch(pathOf(campaign), { tags: ['a'], list_ids: [], send_at: null }, { key: w.keys.editor })
    const { send_at: _, ...rest } = campaign
    expect(body).toEqual({ ...rest, tags: ['a'], list_ids: [], updated_at: w.clock.now().toISOString() })
    expect((await w.get(pathOf(campaign))).body).toEqual(body)
  })

  test('type and channel cannot change; a new subscription type must be for the channel', async () => {
    await using w = await world()
    const campaign = await make(w)
    for (const name of ['type', 'channel']) {
      expect((await w.patch(pathOf(campaign), { [name]: 'email' })).body).toMatchObject({
        code: 'parameter_unknown',
        error: { param: name },
      })
    }
    const wrong = { subscription_id: await subscription(w, 'push') }
    expect(await w.patch(pathOf(campaign), wrong)).toMatchObject({ status: 422, body: { error: { param: 'subscription_id' } } })
    const { body: newsletter } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })
    expect((await w.patch(pathOf(campaign), { subscription_id: newsletter.id })).body).toMatchObject({ subscription_id: newsletter.id })
  })

  test('an archived campaign is listed apart and can be restored, with its templates and its slug', async () => {
    await using w = await world()
    const campaign = await make(w, { name: 'Spring' })
    await w.put(templateOf(campaign, 'en'), html)
    const { slug } = (await w.get(pathOf(campaign))).body
    await w.delete(pathOf(campaign))
    expect((await w.get(`${CAMPAIGNS}?archived=true`)).body.results).toMatchObject([
      { id: campaign.id, archived_at: w.clock.now().toISOString() },
    ])
    const { body } = await w.post(`${pathOf(campaign)}/unarchive`, undefined, { key: w.keys.editor })
    expect(body).toMatchObject({ id: campaign.id, state: 'draft', slug })
    expect(body.archived_at).toBeUndefined()
    expect((await w.get(templateOf(campaign, 'en'))).status).toBe(200)
    expect((await w.post(`${pathOf(campaign)}/unarchive`)).status).toBe(200)
    await w.delete(pathOf(campaign))
    await make(w, { slug })
    expect((await w.post(`${pathOf(campaign)}/unarchive`)).body.slug).toBe(`${slug}-2`)
    expect((await w.get(`${CAMPAIGNS}?archived=true`)).body.results).toEqual([])
  })

  test('a campaign that was aborted because it was archived stays aborted, and needs a publisher', async () => {
    await using w = await world()
    const campaign = await readyTrigger(w)
    expect((await w.patch(pathOf(campaign), { state: 'running' })).body.state).toBe('running')
    await w.delete(pathOf(campaign))
    const restore = (key: string) => w.post(`${pathOf(campaign)}/unarchive`, undefined, { key })
    expect((await restore(w.keys.editor)).status).toBe(403)
    expect(await restore(w.keys.publisher)).toMatchObject({ status: 200, body: { state: 'aborted' } })
  })

  test('a paused campaign that was archived is not paused when it is restored', async () => {
    await using w = await world()
    const campaign = await readyTrigger(w)
    expect((await w.patch(pathOf(campaign), { state: 'running' })).body.state).toBe('running')
    expect((await w.post(`${pathOf(campaign)}/pause`)).body.is_paused).toBe(true)
    await w.delete(pathOf(campaign))
    const { body } = await w.post(`${pathOf(campaign)}/unarchive`)
    expect([body.state, body.is_paused, body.paused_at]).toEqual(['aborted', undefined, undefined])
  })

  test('the number that a restored campaign gets keeps its slug within 64 characters', async () => {
    await using w = await world()
    const slug = 's'.repeat(64)
    const campaign = await make(w, { slug })
    await w.delete(pathOf(campaign))
    await make(w, { slug })
    const restored = await w.post(`${pathOf(campaign)}/unarchive`)
    expect(restored.body.slug).toBe(`${'s'.repeat(54)}-2`)
    expect((await w.patch(pathOf(campaign), { name: 'Again' })).status).toBe(200)
  })

  test('a campaign for messages with their own content is not restored beside another of its type', async () => {
    await using w = await world()
    const message = {
      subscription_id: await subscription(w),
      content: { from: 'a@example.com', ...html },
      user: { external_id: 'ana', email: 'ana@example.com' },
    }
    const send = () => w.post('/api/client/messages', message)
    expect((await send()).status).toBe(202)
    const [first] = (await w.get(CAMPAIGNS)).body.results
    await w.delete(pathOf(first))
    expect((await send()).status).toBe(202)
    expect(await w.post(`${pathOf(first)}/unarchive`)).toMatchObject({ status: 409, body: { code: 'resource_already_exists' } })
  })

  test('a campaign that is archived or of another project is not found', async () => {
    await using w = await world()
    const campaign = await make(w)
    const { keys } = await w.other()
    const everywhere = async (key: string) => [
      (await w.get(pathOf(campaign), { key })).status,
      (await w.patch(pathOf(campaign), { name: 'x' }, { key })).status,
      (await w.delete(pathOf(campaign), { key })).status,
      (await w.post(`${pathOf(campaign)}/duplicate`, undefined, { key })).status,
      (await w.get(`${pathOf(campaign)}/templates`, { key })).status,
      (await w.put(templateOf(campaign, 'en'), html, { key })).status,
      (await w.delete(templateOf(campaign, 'en'), { key })).status,
    ]
    expect(await everywhere(keys.secret)).toEqual(Array(7).fill(404))
    expect((await w.get(CAMPAIGNS, { key: keys.secret })).body.results).toEqual([])
    expect((await w.delete(pathOf(campaign), { key: w.keys.editor })).status).toBe(204)
    expect(await everywhere(w.keys.secret)).toEqual(Array(7).fill(404))
    expect((await w.get(CAMPAIGNS)).body.results).toEqual([])
  })
})

describe('states', () => {
  test('a blast is scheduled, made a draft again and aborted', async () => {
    await using w = await world()
    const campaign = await ready(w)
    const write = async (body: object) => (await w.patch(pathOf(campaign), body, { key: w.keys.publisher })).body
    expect(await write({ state: 'scheduled' })).toMatchObject({ state: 'scheduled', send_at: '2026-12-01T09:00:00.000Z' })
    expect(await write({ state: 'scheduled', send_at: '2026-12-02' })).toMatchObject({
      state: 'scheduled',
      send_at: '2026-12-02T00:00:00.000Z',
    })
    expect(await write({ state: 'draft' })).toMatchObject({ state: 'draft' })
    expect(await write({ state: 'aborted' })).toMatchObject({ state: 'aborted' })
    expect(await write({ state: 'aborted' })).toMatchObject({ state: 'aborted' })
    expect(await write({ state: 'scheduled' })).toMatchObject({ code: 'validation_failed', error: { param: 'state' } })
  })

  test('send_at may be set in the same write as the state', async () => {
    await using w = await world()
    const campaign = await ready(w, { send_at: undefined })
    expect((await w.patch(pathOf(campaign), { state: 'scheduled' })).body).toMatchObject({ error: { param: 'send_at' } })
    expect((await w.patch(pathOf(campaign), { state: 'scheduled', send_at: '2026-12-01' })).body).toMatchObject({ state: 'scheduled' })
    expect(await w.patch(pathOf(campaign), { send_at: null })).toMatchObject({ status: 422, body: { error: { param: 'send_at' } } })
    expect(await w.patch(pathOf(campaign), { list_ids: [] })).toMatchObject({ status: 422, body: { error: { param: 'list_ids' } } })
  })

  test('a trigger runs, finishes and is aborted, and is found by its event only while it runs', async () => {
    await using w = await world()
    const campaign = await readyTrigger(w)
    const found = async () => (await runningTriggers(w.ctx, ['bought', 'seen'])).map(({ id }) => id)
    expect(await found()).toEqual([])
    expect((await w.patch(pathOf(campaign), { state: 'running' })).body).toMatchObject({ state: 'running' })
    expect(await found()).toEqual([campaign.id])
    expect(await runningTriggers(w.ctx, ['seen'])).toEqual([])
    expect(await runningTriggers((await w.other()).ctx, ['bought'])).toEqual([])
    expect((await w.patch(pathOf(campaign), { event_name: null })).body).toMatchObject({ state: 'running' })
    expect(await found()).toEqual([])
    await w.patch(pathOf(campaign), { event_name: 'bought' })
    expect(await w.patch(pathOf(campaign), { state: 'draft' })).toMatchObject({ status: 422, body: { error: { param: 'state' } } })
    expect((await w.patch(pathOf(campaign), { state: 'finished' })).body).toMatchObject({ state: 'finished' })
    expect(await found()).toEqual([])
    expect((await w.patch(pathOf(campaign), { state: 'aborted' })).body).toMatchObject({ state: 'aborted' })
  })

  test('a campaign cannot run without a template, and its last template cannot be removed while it runs', async () => {
    await using w = await world()
    const campaign = await make(w, { type: 'trigger', event_name: 'bought' })
    const refused = await w.patch(pathOf(campaign), { state: 'running' })
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'state' } } })
    expect(refused.body.message).toContain('template')
    await w.put(templateOf(campaign, 'en'), html)
    await w.patch(pathOf(campaign), { state: 'running' })
    expect(await w.delete(templateOf(campaign, 'en'))).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    await w.put(templateOf(campaign, 'fr'), html)
    expect((await w.delete(templateOf(campaign, 'en'))).status).toBe(204)
  })

  test('without variants, a campaign needs a template of the first one', async () => {
    await using w = await world()
    const campaign = await make(w, { list_ids: [await makeList(w)], send_at: '2026-12-01T09:00:00Z' })
    await w.put(`${templateOf(campaign, 'en')}?variant=B`, html)
    const refused = await w.patch(pathOf(campaign), { state: 'scheduled' })
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'state' } } })
    await w.put(templateOf(campaign, 'en'), html)
    expect((await w.patch(pathOf(campaign), { state: 'scheduled' })).status).toBe(200)
    expect((await w.delete(templateOf(campaign, 'en'))).status).toBe(422)
    expect((await w.delete(`${templateOf(campaign, 'en')}?variant=B`)).status).toBe(204)
  })

  test('the last template of a variant cannot be removed while the campaign is active', async () => {
    await using w = await world()
    const variants = [
      { name: 'Short', weight: 1 },
      { name: 'Long', weight: 1 },
    ]
    const campaign = await ready(w, { variants })
    await w.put(`${templateOf(campaign, 'en')}?variant=B`, html)
    await w.put(`${templateOf(campaign, 'fr')}?variant=B`, html)
    expect((await w.patch(pathOf(campaign), { state: 'scheduled' })).status).toBe(200)
    const refused = await w.delete(`${templateOf(campaign, 'en')}?variant=A`)
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'locale' } } })
    expect(refused.body.message).toContain('the variant `A`')
    expect((await w.delete(`${templateOf(campaign, 'en')}?variant=B`)).status).toBe(204)
    expect((await w.delete(`${templateOf(campaign, 'fr')}?variant=B`)).status).toBe(422)
  })

  test.each([
    ['loading', 400, 'parameter_invalid_format'],
    ['aborting', 400, 'parameter_invalid_format'],
    [null, 400, 'parameter_invalid_format'],
    ['running', 422, 'validation_failed'],
    ['finished', 422, 'validation_failed'],
  ])('a blast cannot be set to %s', async (state, status, code) => {
    await using w = await world()
    expect(await w.patch(pathOf(await ready(w)), { state })).toMatchObject({ status, body: { code, error: { param: 'state' } } })
  })

  test('a trigger cannot be scheduled', async () => {
    await using w = await world()
    expect(await w.patch(pathOf(await readyTrigger(w)), { state: 'scheduled' })).toMatchObject({
      status: 422,
      body: { error: { param: 'type' } },
    })
  })

  test('editors change drafts; any other change needs a publisher', async () => {
    await using w = await world()
    const campaign = await readyTrigger(w)
    const as = { key: w.keys.editor }
    const refused = { status: 403, body: { code: 'permission_denied', error: { reason: 'role' } } }
    for (const state of ['running', 'aborted', 'draft']) expect(await w.patch(pathOf(campaign), { state }, as)).toMatchObject(refused)
    expect((await w.patch(pathOf(campaign), { name: 'x' }, as)).status).toBe(200)
    await w.patch(pathOf(campaign), { state: 'running' }, { key: w.keys.publisher })
    expect(await w.patch(pathOf(campaign), { name: 'y' }, as)).toMatchObject(refused)
    expect(await w.put(templateOf(campaign, 'en'), html, as)).toMatchObject(refused)
    expect(await w.delete(templateOf(campaign, 'en'), as)).toMatchObject(refused)
    expect(await w.delete(pathOf(campaign), as)).toMatchObject(refused)
    expect((await w.post(`${pathOf(campaign)}/duplicate`, undefined, as)).status).toBe(201)
    for (const key of [w.keys.support, w.keys.smtpproxy]) {
      expect(await w.post(CAMPAIGNS, {}, { key })).toMatchObject(refused)
      expect(await w.put(templateOf(campaign, 'en'), {}, { key })).toMatchObject(refused)
    }
    expect((await w.delete(pathOf(campaign), { key: w.keys.publisher })).status).toBe(204)
    expect(await runningTriggers(w.ctx, ['bought'])).toEqual([])
  })
})

describe('copies', () => {
  test('a copy is a draft with the same settings and templates, and no date', async () => {
    await using w = await world()
    const campaign = await ready(w, { tags: ['a'] })
    await w.patch(pathOf(campaign), { state: 'scheduled' })
    w.advance('1 hour')
    const { status, body, headers } = await w.post(`${pathOf(campaign)}/duplicate`)
    expect(status).toBe(201)
    expect(headers.location).toBe(pathOf(body))
    const { send_at: _, ...rest } = campaign
    const now = w.clock.now().toISOString()
    expect(body).toEqual({ ...rest, id: expect.any(Number), name: 'Spring (copy)', slug: 'spring-copy', created_at: now, updated_at: now })
    expect(body.id).not.toBe(campaign.id)
    const { results } = (await w.get(`${pathOf(body)}/templates`)).body
    expect(results).toMatchObject([{ campaign_id: body.id, locale: 'en', data: html }])
  })
})

describe('templates', () => {
  test('a campaign has one for each locale, which is replaced as a whole', async () => {
    await using w = await world()
    const campaign = await make(w)
    const first = await w.put(templateOf(campaign, 'en_AU'), { ...html, preheader: 'News' }, { key: w.keys.editor })
    const at = w.clock.now().toISOString()
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      id: expect.any(Number),
      campaign_id: campaign.id,
      locale: 'en-AU',
      variant: 'A',
      findings: expect.any(Array),
      data: { ...html, preheader: 'News' },
      created_at: at,
      updated_at: at,
    })
    w.advance('1 hour')
    expect((await w.put(templateOf(campaign, 'en-AU'), { ...html, preheader: 'News' })).body).toEqual(first.body)
    const replaced = await w.put(templateOf(campaign, 'en-AU'), html)
    expect(replaced.body).toEqual({ ...first.body, data: html, updated_at: w.clock.now().toISOString() })
    await w.put(templateOf(campaign, 'fr'), html)
    expect(
      (await w.get(`${pathOf(campaign)}/templates`, { key: w.keys.support })).body.results.map(({ locale }: { locale: string }) => locale),
    ).toEqual(['en-AU', 'fr'])
    expect((await w.delete(templateOf(campaign, 'en_AU'))).status).toBe(204)
    expect((await w.delete(templateOf(campaign, 'en_AU'))).status).toBe(404)
    expect((await templatesOf(w.ctx, [campaign.id])).map(({ locale }) => locale)).toEqual(['fr'])
  })

  test('the content must have the members of the channel and valid Liquid', async () => {
    await using w = await world()
    const sms = await make(w, { subscription_id: await subscription(w, 'text') })
    expect(
      (await w.put(templateOf(sms, 'en'), html)).body.error.errors.map(({ code, param }: Record<string, string>) => [code, param]),
    ).toEqual([
      ['parameter_missing', 'body'],
      ['parameter_unknown', 'subject'],
      ['parameter_unknown', 'html'],
    ])
    expect((await w.put(templateOf(sms, 'en'), { body: 'Hi {{ user.data.name }}' })).status).toBe(200)
    const broken = await w.put(templateOf(sms, 'en'), { body: 'Hi\n{{ user' })
    expect(broken).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'body' } } })
    expect(broken.body.message).toContain('line 2')
    expect((await w.put(templateOf(sms, 'en'), [])).status).toBe(400)
    expect((await w.put(templateOf(sms, 'not a locale'), { body: 'x' })).body).toMatchObject({
      code: 'parameter_invalid_format',
      error: { param: 'locale' },
    })
  })
})

test('findCampaigns returns live campaigns of its own project only', async () => {
  await using w = await world()
  const [kept, gone] = [await make(w), await make(w)]
  await w.delete(pathOf(gone))
  expect((await findCampaigns(w.ctx, [kept.id, gone.id])).map(({ id }) => id)).toEqual([kept.id])
  const { ctx } = await w.other()
  expect(await findCampaigns(ctx, [kept.id])).toEqual([])
  expect(await templatesOf(ctx, [kept.id])).toEqual([])
})
