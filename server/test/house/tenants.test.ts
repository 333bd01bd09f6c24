/** Two tenants in one database: no request with the keys of one reads or changes data of the other. */
import { afterAll, describe, expect, test } from 'vitest'
import type { Route } from '../../src/infra/http/route.ts'
import { inTx } from '../../src/infra/runtime/ctx.ts'
import { newMessageId } from '../../src/modules/messages/index.ts'
import { addTlsCounts, deflateContent, enqueueMail, recordSiteResults } from '../../src/modules/mta/index.ts'
import { KEPT_TABLES } from '../../src/project-deletion.ts'
import { routes } from '../all-routes.ts'
import { select } from '../select.ts'
import { type Tenant, type World, world } from '../world.ts'

/** A part of every text of the foreign tenant, so that a leak is found in any reply. */
const MARK = 'theirs-only'
/** Ids that both tenants use. */
const SHARED = {
  external_id: 'shared',
  anonymous_id: 'shared-visitor',
  device_id: 'shared-device',
  token: 'shared-token',
  event_id: 'shared-event',
}

/** The ids of a tenant by the names of path parameters and references. */
type Ids = Record<
  | 'projectId'
  | 'keyId'
  | 'userId'
  | 'subscriptionId'
  | 'campaignId'
  | 'emailCampaignId'
  | 'journeyId'
  | 'backtestId'
  | 'endpointId'
  | 'deliveryId'
  | 'messageId'
  | 'listId'
  | 'importId'
  | 'providerId'
  | 'domainId'
  | 'suppressionId'
  | 'preflightId'
  | 'erasureId'
  | 'key'
  | 'locale'
  | 'name'
  | 'version'
  | 'site',
  string
>

/** Creates a row of every kind, mostly through the API. `name` is in every text. */
async function createRows(w: World, tenant: Tenant, name: string, hook: string): Promise<Ids> {
  const as = async (method: string, path: string, body?: unknown, key = tenant.keys.secret) => {
    const reply = await w.request(method, `/api/client${path}`, body, { key })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`)
    return reply.body
  }
  await as('PATCH', `/projects/${tenant.projectId}`, { name, description: name }, tenant.keys.organisation)
  const key = await as('POST', '/keys', { name })
  const { external_id, anonymous_id, device_id, token, event_id } = SHARED
  await as('POST', '/users/batch', [
    { external_id: name, anonymous_id: `${name}-visitor`, email: `${name}@example.com`, phone: '+61412345678', data: { note: name } },
    { external_id, anonymous_id, data: { note: name } },
  ])
  await as('POST', '/devices', { external_id, device_id, token, model: name })
  await as('PUT', `/attributes/${name}`, { hidden: true })
  const subscription = await as('POST', '/subscriptions', { name, channel: 'text' })
  await as('PATCH', `/users/${name}/subscriptions`, [{ subscription_id: subscription.id, state: 2 }])
  const campaign = await as('POST', '/campaigns', {
    type: 'trigger',
    name,
    subscription_id: subscription.id,
    event_name: 'arrived',
    tags: [name],
  })
  for (const locale of ['en', 'de']) await as('PUT', `/campaigns/${campaign.id}/templates/${locale}`, { body: `Hello from ${name}` })
  await as('PATCH', `/campaigns/${campaign.id}`, { state: 'running' })
  const letters = await as('POST', '/subscriptions', { name: `${name} by email`, channel: 'email' })
  const letter = await as('POST', '/campaigns', { type: 'trigger', name: `${name} by email`, subscription_id: letters.id })
  await as('PUT', `/campaigns/${letter.id}/templates/en`, { subject: name, html: `<p>${name}</p>` })
  const file = { content_type: 'text/plain', content: Buffer.from(name).toString('base64') }
  await as('PUT', `/campaigns/${letter.id}/templates/en/attachments/a.txt`, file)
  const list = await as('POST', '/lists', { name, type: 'static', tags: [name] })
  await as('POST', `/lists/${list.id}/users`, { external_ids: [name, external_id] })
  const inner = await as('POST', '/lists', { name, type: 'static' })
  await as('POST', '/lists', { name, type: 'dynamic', rule: { any: [{ list: inner.id }, { attribute: 'data.note', is: name }] } })
  const provider = await as('POST', '/providers', { name, kind: 'sandbox', channel: 'text', settings: {} })
  const domain = await as('POST', '/domains', { host: `${name}.example.com`, sending_domain: `${name}.example.com` })
  await as('PUT', `/domains/${domain.id}/warm-up`, {})
  const suppressed = await as('POST', '/suppressions', [{ channel: 'email', address: `${name}@elsewhere.example.com` }])
  const blast = await as('POST', '/campaigns', { type: 'blast', name, subscription_id: subscription.id, list_ids: [list.id] })
  await as('PUT', `/campaigns/${blast.id}/templates/en`, { body: `Hello from ${name}` })
  const preflight = await as('POST', `/campaigns/${blast.id}/preflights`)
  const imported = await importInto(w, tenant, list.id, name)
  const journey = await as('POST', '/journeys', { name, description: name, tags: [name] })
  const steps = {
    start: { type: 'entrance', name, x: 0, y: 0, data: { trigger: 'api' }, children: [{ external_id: 'wait' }] },
    wait: { type: 'delay', x: 0, y: 1, data: { format: 'duration', days: 30 } },
  }
  await as('PUT', `/journeys/${journey.id}/steps`, steps)
  await as('POST', `/journeys/${journey.id}/publish`, { note: name })
  await as('PUT', `/journeys/${journey.id}/steps`, { ...steps, wait: { ...steps.wait, name } })
  await as('POST', `/journeys/${journey.id}/entrances`, { external_id: name, key: name })
  const backtest = await as('POST', `/journeys/${journey.id}/backtest`, {
    since: new Date(w.clock.now().getTime() - 3_600_000).toISOString(),
  })
  const endpoint = await as('POST', '/webhooks', { name, url: `${hook}/${name}`, event_types: ['delivery.completed'], description: name })
  await as('POST', `/webhooks/${endpoint.id}/test`)
  await as('POST', '/events', [
    { external_id: name, name: 'arrived', data: { note: name } },
    { external_id, name: 'arrived', event_id, data: { note: name } },
  ])
  const logged = {
    method: 'POST',
    route: name,
    params: '{}',
    query: '{}',
    status: 204,
    elapsed_ms: 1,
    actor_type: 'key',
    via: 'api',
    left_out: 0,
  }
  await select(
    w,
    `insert into api_requests (project_id, request_id, created_at, ${Object.keys(logged)}) values ($1, $2, now(), ${Object.values(logged).map((value) => `'${value}'`)})`,
    [tenant.projectId, name],
  )
  await w.drain()
  await as('POST', '/mail-queue/pause', {})
  await queueMail(tenant, name)
  await deliverTo(tenant, name)
  const { results: deliveries } = await as('GET', `/webhooks/${endpoint.id}/deliveries`)
  const { results: messages } = await as('GET', '/sandbox/messages')
  const ids = {
    keyId: key.id,
    subscriptionId: subscription.id,
    campaignId: campaign.id,
    emailCampaignId: letter.id,
    journeyId: journey.id,
    backtestId: backtest.id,
    endpointId: endpoint.id,
    deliveryId: deliveries[0].id,
    messageId: messages[0].id,
    listId: list.id,
    importId: imported,
    providerId: provider.id,
    domainId: domain.id,
    suppressionId: suppressed.results[0].id,
    preflightId: preflight.id,
    erasureId: await erase(w, tenant, `${name}-erased`),
  }
  const texts = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id)])) as Record<keyof typeof ids, string>
  return { ...texts, projectId: String(tenant.projectId), userId: name, key: name, locale: 'en', name: 'a.txt', version: '1', site: name }
}

/** Puts an email into the mail queue. */
const queueMail = ({ ctx }: Tenant, name: string): Promise<void> =>
  inTx(ctx, async (ctx) =>
    enqueueMail(ctx, [
      {
        id: await newMessageId(ctx),
        source: 'submission',
        priority: 0,
        campaign_id: null,
        journey_id: null,
        key_id: null,
        mail_from: `${name}@example.com`,
        return_domain: null,
        rfc_message_id: `<${name}@example.com>`,
        to: [`kim@${name}.example.com`],
        content: await deflateContent(Buffer.from(`Subject: ${name}\r\n\r\n`)),
        needs_8bit: false,
        needs_smtp_utf8: false,
        expires_at: new Date(ctx.clock.now().getTime() + 3_600_000),
      },
    ]),
  )

/** Counts a delivery to a mail site. */
const deliverTo = ({ ctx }: Tenant, name: string): Promise<void> =>
  inTx(ctx, async (ctx) => {
    await recordSiteResults(ctx, [{ site: name, label: name, delivered: 1, deferred: 0, bounced: 0, last_reply: null }])
    await addTlsCounts(ctx, [{ domain: `${name}.example.com`, policy: 'no-policy-found', result: 'starttls-not-supported' }])
  })

/** Creates a user and erases it. Returns the id of the receipt. */
async function erase(w: World, { keys }: Tenant, name: string): Promise<string> {
  await w.post('/api/client/users/batch', [{ external_id: name }], { key: keys.secret })
  const { headers } = await w.delete(`/api/client/users/${name}`, { key: keys.secret })
  await w.drain()
  return headers.location?.split('/').at(-1) ?? ''
}

/** Uploads a file with one row to a list. It is imported when the jobs run. */
async function importInto(w: World, { keys }: Tenant, listId: number | string, name: string): Promise<string> {
  const { status, body, text } = await w.request('POST', `/api/client/lists/${listId}/import`, undefined, {
    key: keys.secret,
    raw: `external_id\n${name}\n`,
    headers: { 'content-type': 'text/csv' },
  })
  if (status >= 300) throw new Error(text)
  return String(body.id)
}

/** Every row of the tenant, table by table. */
async function dump(w: World, { projectId, organisationId }: Tenant): Promise<Record<string, unknown>> {
  const tables = await select(
    w,
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname <> 'api_keys'`,
  )
  const ofTable = (name: unknown, condition: string) => `select '${name}' as name, to_jsonb(t) as row from ${name} t where ${condition}`
  const all = [
    ...tables.map(({ name }) => ofTable(name, 'project_id = $1')),
    ofTable('projects', 'organization_id = $2'),
    ofTable('organisations', 'id = $2'),
    ofTable('api_keys', 'organization_id = $2'),
  ]
  const rows = await select(w, `select name, row from (${all.join(' union all ')}) all_tables order by name, row::text`, [
    projectId,
    organisationId,
  ])
  return Object.fromEntries(Map.groupBy(rows, ({ name }) => name as string))
}

type Stage = { w: World; foreign: Tenant; ours: Ids; theirs: Ids; before: Record<string, unknown> }

/** Creates the rows of both tenants, and dumps those of the foreign one. */
async function stage(w: World): Promise<Stage> {
  const { url } = await w.receiver()
  const foreign = await w.other()
  const theirs = await createRows(w, foreign, MARK, url)
  const ours = await createRows(w, w, 'ours', url)
  return { w, foreign, ours, theirs, before: await dump(w, foreign) }
}

async function expectUntouched({ w, foreign, before }: Stage): Promise<void> {
  await w.drain()
  expect(await dump(w, foreign)).toEqual(before)
}

/** A body that would change something, for each route with parameters and a body. */
const bodyFor = (route: Route, ours: Ids): unknown => {
  if (!route.body) return undefined
  const bodies: Record<string, unknown> = {
    'PATCH /api/client/projects/{projectId}': { description: 'Taken over' },
    'DELETE /api/client/projects/{projectId}': { name: 'ours' },
    'POST /api/client/projects/{projectId}/keys': { name: 'Intruder', role: 'admin' },
    'PATCH /api/client/keys/{keyId}': { description: 'Taken over' },
    'PUT /api/client/attributes/{key}': { end_user: true },
    'PATCH /api/client/users/{userId}/subscriptions': [{ subscription_id: Number(ours.subscriptionId), state: 0 }],
    'PATCH /api/client/subscriptions/{subscriptionId}': { is_public: false },
    'PATCH /api/client/campaigns/{campaignId}': { tags: ['taken-over'] },
    'PUT /api/client/campaigns/{campaignId}/templates/{locale}': { body: 'Taken over' },
    'PUT /api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}': { content_type: 'text/plain', content: 'VGFrZW4=' },
    'PATCH /api/client/lists/{listId}': { tags: ['taken-over'] },
    'POST /api/client/lists/{listId}/users': { external_ids: [SHARED.external_id] },
    'DELETE /api/client/lists/{listId}/users': { external_ids: [SHARED.external_id] },
    'PATCH /api/client/journeys/{journeyId}': { tags: ['taken-over'] },
    'PUT /api/client/journeys/{journeyId}/steps': { taken: { type: 'exit', x: 1, y: 1 } },
    'POST /api/client/journeys/{journeyId}/publish': { plan: { default: 'exit' } },
    'POST /api/client/campaigns/{campaignId}/text-sizes': {},
    'POST /api/client/journeys/{journeyId}/publish/preview': {},
    'POST /api/client/journeys/{journeyId}/drain': {},
    'POST /api/client/journeys/{journeyId}/entrances': { external_id: SHARED.external_id },
    'POST /api/client/journeys/{journeyId}/users/{userId}/move': { to: 'wait' },
    'POST /api/client/journeys/{journeyId}/users/{userId}/skip': {},
    'POST /api/client/journeys/{journeyId}/users/{userId}/retry': {},
    'POST /api/client/journeys/{journeyId}/simulate': { user: { external_id: SHARED.external_id } },
    'POST /api/client/journeys/{journeyId}/backtest': { since: '2026-11-23T00:00:00Z' },
    'PATCH /api/client/webhooks/{endpointId}': { description: 'Taken over' },
    'POST /api/client/webhooks/{endpointId}/rotate-secret': {},
    'POST /api/client/webhooks/{endpointId}/test': {},
    'POST /api/client/webhooks/{endpointId}/replays': { since: '2026-11-19T00:00:00Z' },
    'POST /api/client/sandbox/messages/{messageId}/release': { to: 'somebody@example.com' },
    'PUT /api/client/mail-sites/{site}': { limits: { mails_per_second: 5 } },
    'PATCH /api/client/providers/{providerId}': { name: 'Taken over' },
    'PATCH /api/client/domains/{domainId}': { is_default: true },
    'PUT /api/client/domains/{domainId}/warm-up': { is_active: false },
    'POST /api/client/campaigns/{campaignId}/preview': {},
    'POST /api/client/campaigns/{campaignId}/test': { to: ['+61412345678'] },
    'POST /api/client/campaigns/{campaignId}/trigger': { external_id: SHARED.external_id },
  }
  return bodies[`${route.method} ${route.path}`]
}

/** Reads come first; deletions come last, the leaves before what contains them and the project after all, so that each of our requests finds its row. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const placeOf = ({ method, path }: Route) =>
  ORDER.indexOf(method) + (`${method} ${path}` === 'DELETE /api/client/projects/{projectId}' ? 1 : 0)
const withParams = routes
  // With a user token, the token decides which rows are read. The tests of the inbox cover this.
  .filter(({ params, access }) => params !== undefined && ('secret' in access || 'organisation' in access))
  .sort((a, b) => placeOf(a) - placeOf(b) || b.path.length - a.path.length)

/** Only a campaign of emails has attachments. */
const nameIn = (path: string, name: string) => (name === 'campaignId' && path.includes('/attachments') ? 'emailCampaignId' : name)

const filled = (path: string, ids: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[nameIn(path, name)] ?? `no ${name}`))

const call = ({ w, ours }: Stage, route: Route, path: string) =>
  w.request(route.method, path, bodyFor(route, ours), {
    ...(route.stream && { raw: 'external_id\nsomebody\n', headers: { 'content-type': route.stream.type } }),
    key: 'organisation' in route.access && !('secret' in route.access) ? w.keys.organisation : w.keys.secret,
  })

/** These routes need a blast that is being sent, or one with a preflight. Our campaign is a trigger. */
const NOT_FOR_TRIGGERS = /\/(?:pause|resume|preflights|preflights\/\{preflightId\})$/

/** Releasing an email needs a server with a relay. */
const NOT_WITHOUT_RELAY = /\/release$/

/** Parameters that a caller chooses freely. They never refer to a row of another tenant. */
const OWN_NAMES = ['locale', 'name', 'key', 'version']

/** The path with every combination of our ids and theirs that has at least one of theirs. */
function foreignPaths({ ours, theirs }: Stage, { path, params = {} }: Route): string[] {
  const names = Object.keys(params).filter((name) => !OWN_NAMES.includes(name))
  const mixtures = names.map((name) => ({ ...ours, [name]: theirs[name as keyof Ids], emailCampaignId: theirs.emailCampaignId }))
  return names.length === 0 ? [] : [...new Set([...mixtures, theirs].map((ids) => filled(path, ids)))]
}

describe('paths with ids of another tenant', () => {
  test('are 404 on every route and change nothing; the same requests with our ids succeed', { timeout: 120_000 }, async () => {
    await using w = await world()
    const staged = await stage(w)
    const names = withParams.map(({ method, path }) => `${method} ${path}`)
    const seen = []
    for (const route of withParams) {
      for (const path of foreignPaths(staged, route)) {
        const reply = await call(staged, route, path)
        seen.push([`${route.method} ${route.path}`, reply.status])
        expect(reply.text).not.toContain(MARK)
      }
    }
    expect(seen).toEqual(seen.map(([name]) => [name, 404]))
    expect(new Set(seen.map(([name]) => name)).size).toBe(names.filter((name) => !name.includes('/attributes/')).length)
    await expectUntouched(staged)

    // An import that is still queued can be cancelled.
    staged.ours.importId = await importInto(w, w, staged.ours.listId, 'ours')
    for (const route of withParams.filter(({ path }) => !NOT_FOR_TRIGGERS.test(path) && !NOT_WITHOUT_RELAY.test(path))) {
      const { status } = await call(staged, route, filled(route.path, staged.ours))
      expect([route.method, route.path, status < 300]).toEqual([route.method, route.path, true])
    }
    await expectUntouched(staged)

    // The last of our requests deleted our project. Now theirs, which has everything.
    const { foreign, theirs } = staged
    const reply = await w.request('DELETE', `/api/client/projects/${theirs.projectId}`, { name: MARK }, { key: foreign.keys.organisation })
    expect(reply.status, reply.text).toBe(204)
    await w.drain()
    for (const tenant of [w, foreign]) {
      const left = Object.keys(await dump(w, tenant)).filter((table) => !['organisations', 'projects'].includes(table))
      expect(left.sort()).toEqual(Object.keys(KEPT_TABLES).sort())
    }
    w.advance('10 minutes')
    await w.drain()
    expect(JSON.stringify((await dump(w, foreign)).projects)).not.toContain(MARK)
  })

  test('treat an attribute of another tenant like an unknown one', async () => {
    await using w = await world()
    const staged = await stage(w)
    expect((await w.delete(`/api/client/attributes/${MARK}`)).status).toBe(404)
    expect((await w.put(`/api/client/attributes/${MARK}`, { end_user: true })).status).toBe(200)
    await expectUntouched(staged)
  })
})

/** The tenants that tests share which change nothing. The first test creates them. */
function createStage(): () => Promise<Stage> {
  const closing = new AsyncDisposableStack()
  let staged: Promise<Stage> | undefined
  afterAll(() => closing.disposeAsync())
  const open = async () => stage(closing.use(await world()))
  return () => {
    staged ??= open()
    return staged
  }
}

describe('bodies with ids of another tenant', () => {
  const onStage = createStage()

  test.each<[string, (ids: { ours: Ids; theirs: Ids }) => [method: string, path: string, body: unknown], number]>([
    [
      'a new campaign with their subscription type',
      ({ theirs }) => ['POST', '/campaigns', { type: 'trigger', name: 'x', subscription_id: Number(theirs.subscriptionId) }],
      422,
    ],
    [
      'a new campaign for their list',
      ({ ours, theirs }) => [
        'POST',
        '/campaigns',
        { type: 'blast', name: 'x', subscription_id: Number(ours.subscriptionId), list_ids: [Number(theirs.listId)] },
      ],
      422,
    ],
    [
      'a new campaign that excludes their list',
      ({ ours, theirs }) => [
        'POST',
        '/campaigns',
        { type: 'blast', name: 'x', subscription_id: Number(ours.subscriptionId), exclusion_list_ids: [Number(theirs.listId)] },
      ],
      422,
    ],
    [
      'our campaign with their subscription type',
      ({ ours, theirs }) => ['PATCH', `/campaigns/${ours.campaignId}`, { subscription_id: Number(theirs.subscriptionId) }],
      422,
    ],
    [
      'our campaign for their list',
      ({ ours, theirs }) => ['PATCH', `/campaigns/${ours.campaignId}`, { list_ids: [Number(theirs.listId)] }],
      422,
    ],
    [
      'our user with their subscription type',
      ({ ours, theirs }) => [
        'PATCH',
        `/users/${ours.userId}/subscriptions`,
        [{ subscription_id: Number(theirs.subscriptionId), state: 0 }],
      ],
      422,
    ],
    [
      'a new list of the users in their list',
      ({ theirs }) => ['POST', '/lists', { name: 'x', type: 'dynamic', rule: { list: Number(theirs.listId) } }],
      422,
    ],
    [
      'a preview of the users who received their campaign',
      ({ theirs }) => ['POST', '/lists/preview', { rule: { campaign: Number(theirs.campaignId), did: 'sent' } }],
      422,
    ],
    ['a search for the users in their list', ({ theirs }) => ['POST', '/users/search', { rule: { list: Number(theirs.listId) } }], 422],
    [
      'a new list of the users without their subscription type',
      ({ theirs }) => [
        'POST',
        '/lists',
        { name: 'x', type: 'dynamic', rule: { not: { subscription: Number(theirs.subscriptionId), is: 'subscribed' } } },
      ],
      422,
    ],
    ['a device of their user', ({ theirs }) => ['POST', '/devices', { external_id: theirs.userId, device_id: 'new' }], 404],
    ['a device of their anonymous user', () => ['POST', '/devices', { anonymous_id: `${MARK}-visitor`, device_id: 'new' }], 404],
  ])('%s is refused', async (_, write, expected) => {
    const staged = await onStage()
    const [method, path, body] = write(staged)
    expect((await staged.w.request(method, `/api/client${path}`, body)).status).toBe(expected)
    await expectUntouched(staged)
  })

  test('add none of their users to our list', async () => {
    await using w = await world()
    const staged = await stage(w)
    const [{ id }] = (await w.get(`/api/client/users?q=${MARK}`, { key: staged.foreign.keys.secret })).body.results
    const path = `/api/client/lists/${staged.ours.listId}/users`
    const names = [MARK, `${MARK}-visitor`]
    expect((await w.post(path, { external_ids: names })).body).toEqual({ added: 0, unchanged: 0, missing: names })
    expect((await w.post(path, { user_ids: [id] })).body).toEqual({ added: 0, unchanged: 0, missing: [id] })
    await expectUntouched(staged)
  })

  test('with the ids that both use mean our own', async () => {
    await using w = await world()
    const staged = await stage(w)
    const { external_id, anonymous_id, device_id, token, event_id } = SHARED
    const saved = await w.post('/api/client/users/batch', [
      { external_id, anonymous_id, email: 'new@example.com' },
      { external_id: MARK, anonymous_id: `${MARK}-visitor` },
    ])
    expect(saved.body.results.map(({ user }: any) => user.project_id)).toEqual([w.projectId, w.projectId])
    await w.patch('/api/client/users', [{ external_id, data: { note: null } }])
    await w.post('/api/client/devices', { external_id: 'ours', device_id, token })
    await w.post('/api/client/events', [{ external_id, name: 'arrived', event_id: `${event_id}-2`, user: { phone: '+61400000000' } }])
    await w.delete(`/api/client/users/${external_id}`)
    await expectUntouched(staged)
    expect((await w.get(`/api/client/users/${external_id}`, { key: staged.foreign.keys.secret })).body.data).toEqual({ note: MARK })
  })
})

/** Queries that reads need. */
const NEEDED: Record<string, string> = { '/api/client/search': `?q=${MARK}`, '/api/client/lists/sizes': '?list_ids=1' }

describe('reads', () => {
  const onStage = createStage()

  const lists = routes.filter(({ method, list, params }) => method === 'GET' && list !== undefined && params === undefined)

  test.each(lists.map((route) => [route.path, route] as const))(
    'GET %s returns nothing of another tenant, with any search and order',
    async (path, route) => {
      const { w, foreign } = await onStage()
      const access = route.access as { secret?: string; organisation?: string }
      const as = async ({ keys }: Tenant) => {
        if (access.secret) return { key: keys.secret }
        if (access.organisation) return { key: keys.organisation }
        const { body } = await w.post('/api/client/users/shared/sessions', undefined, { key: keys.secret })
        return { key: keys.public, headers: { 'x-service-user-token': body.token } }
      }
      const [us, them] = [await as(w), await as(foreign)]
      expect((await w.get(path, them)).text, 'their reply has rows').toContain(access.secret ? MARK : '')
      const sorts = Object.keys(route.list?.sorts ?? {})
      const { nextCursor } = (await w.get(`${path}?limit=1`, them)).body
      const queries = [
        '',
        'limit=-1',
        `q=${MARK}`,
        'q=e',
        ...sorts.flatMap((sort) => [`sort=${sort}`, `sort=${sort}&direction=desc`]),
        ...(nextCursor ? [`cursor=${nextCursor}`] : []),
      ]
      for (const query of queries) {
        const reply = await w.get(`${path}?${query}`, us)
        expect(reply.status).toBe(200)
        expect(reply.text).not.toContain(MARK)
        for (const { project_id } of reply.body.results) expect(project_id ?? w.projectId).toBe(w.projectId)
      }
    },
  )

  test('every read without parameters returns data of the project of its key', async () => {
    const { w } = await onStage()
    for (const { path, access } of routes.filter(({ method, params }) => method === 'GET' && params === undefined)) {
      // The tests of the stream cover it: it does not end.
      if (!('secret' in access) || path === '/api/client/stream') continue
      const reply = await w.get(path + (NEEDED[path] ?? ''))
      expect([path, reply.status, reply.text.includes(MARK)]).toEqual([path, 200, false])
    }
  })

  test('a user token is refused with the key of another project', async () => {
    await using w = await world()
    const { foreign } = await stage(w)
    const { body } = await w.post('/api/client/users/shared/sessions', undefined, { key: foreign.keys.secret })
    const headers = { 'x-service-user-token': body.token }
    const opened = await w.get('/api/client/users/me', { key: w.keys.public, headers })
    expect([opened.status, opened.body.error.reason]).toEqual([401, 'user_token_invalid'])
    expect((await w.get('/api/client/users/me', { key: foreign.keys.public, headers })).body.data).toEqual({ note: MARK })
  })

  test('two tenants can use the same Idempotency-Key', async () => {
    await using w = await world()
    const foreign = await w.other()
    const headers = { 'idempotency-key': 'the-same' }
    const theirs = await w.post('/api/client/users/batch', [{ external_id: 'kim', email: `${MARK}@example.com` }], {
      key: foreign.keys.secret,
      headers,
    })
    const ours = await w.post('/api/client/users/batch', [{ external_id: 'kim' }], { headers })
    expect([theirs.status, ours.status, ours.headers['idempotent-replayed']]).toEqual([200, 200, undefined])
    expect(ours.body.results[0].user).toMatchObject({ project_id: w.projectId, email: null })
  })
})
