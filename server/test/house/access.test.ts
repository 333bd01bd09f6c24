/** Every route with every kind of key and user token: which are accepted, and with which error others are refused (D-KEY-1, D-ROLE-2, D-PK-1). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Route, route } from '../../src/infra/http/route.ts'
import { generateKey, saveKey } from '../../src/modules/keys/index.ts'
import { routes } from '../all-routes.ts'
import { member } from '../members.ts'
import { type Tenant, type World, world } from '../world.ts'

const ROLES = ['support', 'smtpproxy', 'editor', 'publisher', 'admin'] as const
const ORGANISATION_ROLES = ['member', 'admin', 'owner'] as const
type Role = (typeof ROLES)[number]
type OrganisationRole = (typeof ORGANISATION_ROLES)[number]

/** The key and user token of a request. `headers` are sent; the other members decide the expected reply. */
type Presented = { name: string; headers: Record<string, string>; session?: OrganisationRole } & (
  | { kind: 'unauthenticated'; reason: string }
  | { kind: 'secret'; role: Role }
  | { kind: 'organisation'; role: OrganisationRole }
  | { kind: 'publishable'; token: 'none' | 'valid' | 'user_token_missing' | 'user_token_invalid' | 'user_token_expired' }
)

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

async function everyCredential(w: World, foreign: Tenant): Promise<Presented[]> {
  const { keys } = w
  await w.users('kim')
  const theirs = await w.post('/api/client/users/batch', [{ external_id: 'kim' }], { key: foreign.keys.secret })
  expect(theirs.body.succeeded).toBe(1)
  const expired = await w.token('kim')
  w.advance('16 minutes')
  const valid = await w.token('kim')
  const foreignToken = (await w.post('/api/client/users/kim/sessions', undefined, { key: foreign.keys.secret })).body.token
  const organisationAdmin = await organisationKey(w, 'admin')
  const withToken = (token: string) => ({ ...bearer(keys.public), 'x-service-user-token': token })
  return [
    { name: 'no credential', kind: 'unauthenticated', reason: 'key_missing', headers: {} },
    { name: 'an empty header', kind: 'unauthenticated', reason: 'key_missing', headers: { authorization: '' } },
    { name: 'a scheme without a key', kind: 'unauthenticated', reason: 'key_missing', headers: { authorization: 'Bearer ' } },
    { name: 'a user token alone', kind: 'unauthenticated', reason: 'key_missing', headers: { 'x-service-user-token': valid } },
    { name: 'a key in a cookie', kind: 'unauthenticated', reason: 'key_missing', headers: { cookie: `key=${keys.secret}` } },
    { name: 'Basic', kind: 'unauthenticated', reason: 'key_malformed', headers: { authorization: `Basic ${btoa(`${keys.secret}:`)}` } },
    { name: 'a key without a scheme', kind: 'unauthenticated', reason: 'key_malformed', headers: { authorization: keys.secret } },
    { name: 'two keys in one header', kind: 'unauthenticated', reason: 'key_malformed', headers: bearer(`${keys.secret} ${keys.secret}`) },
    { name: 'an unknown key', kind: 'unauthenticated', reason: 'key_invalid', headers: bearer(generateKey('sk_', w.ctx.secrets.random)) },
    { name: 'an unknown prefix', kind: 'unauthenticated', reason: 'key_invalid', headers: bearer(keys.secret.replace('sk_', 'xk_')) },
    { name: 'a key with another end', kind: 'unauthenticated', reason: 'key_invalid', headers: bearer(`${keys.secret}x`) },
    { name: 'an archived key', kind: 'unauthenticated', reason: 'key_invalid', headers: bearer(await archivedKey(w)) },
    { name: 'a user token as key', kind: 'unauthenticated', reason: 'key_invalid', headers: bearer(valid) },
    ...(['support', 'smtpproxy', 'editor', 'publisher'] as const).map((role) => ({
      name: role,
      kind: 'secret' as const,
      role,
      headers: bearer(keys[role]),
    })),
    { name: 'admin', kind: 'secret', role: 'admin', headers: bearer(keys.secret) },
    { name: 'admin with a user token', kind: 'secret', role: 'admin', headers: { ...bearer(keys.secret), 'x-service-user-token': valid } },
    {
      name: 'support with a wrong user token',
      kind: 'secret',
      role: 'support',
      headers: { ...bearer(keys.support), 'x-service-user-token': 'x' },
    },
    { name: 'organisation member', kind: 'organisation', role: 'member', headers: bearer(keys.member) },
    { name: 'organisation admin', kind: 'organisation', role: 'admin', headers: bearer(organisationAdmin) },
    { name: 'organisation owner', kind: 'organisation', role: 'owner', headers: bearer(keys.organisation) },
    ...(await sessions(w)),
    { name: 'publishable', kind: 'publishable', token: 'none', headers: bearer(keys.public) },
    { name: 'publishable with a token', kind: 'publishable', token: 'valid', headers: withToken(valid) },
    { name: 'publishable with an empty token', kind: 'publishable', token: 'user_token_missing', headers: withToken('') },
    { name: 'publishable with an expired token', kind: 'publishable', token: 'user_token_expired', headers: withToken(expired) },
    { name: 'publishable with a foreign token', kind: 'publishable', token: 'user_token_invalid', headers: withToken(foreignToken) },
    { name: 'publishable with a changed token', kind: 'publishable', token: 'user_token_invalid', headers: withToken(changed(valid)) },
    { name: 'publishable with a key as token', kind: 'publishable', token: 'user_token_invalid', headers: withToken(keys.secret) },
  ]
}

/** Sessions of the console: in a project with the lowest role and the highest, and without one. */
async function sessions(w: World): Promise<Presented[]> {
  const signedIn: Presented[] = []
  for (const role of ['support', 'admin'] as const) {
    const { headers } = await member(w, 'member', role)
    const inProject = { ...headers, 'carillon-project': String(w.projectId) }
    signedIn.push({ name: `session with ${role}`, kind: 'secret', role, session: 'member', headers: inProject })
  }
  for (const role of ['member', 'owner'] as const) {
    const { headers } = await member(w, role)
    signedIn.push({ name: `session of ${role}`, kind: 'organisation', role, session: role, headers })
  }
  const unknown = { cookie: `carillon=${'x'.repeat(43)}`, 'sec-fetch-site': 'same-origin' }
  return [...signedIn, { name: 'an unknown session', kind: 'unauthenticated', reason: 'session_invalid', headers: unknown }]
}

/** Changes a character of the signature. The last one would not do, because some of its bits are padding. */
const changed = (token: string) => `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`

async function organisationKey(w: World, role: OrganisationRole): Promise<string> {
  const value = generateKey('ok_', w.ctx.secrets.random)
  await saveKey(w.ctx, value, {
    organisationId: w.organisationId,
    projectId: null,
    scope: 'organisation',
    role,
    name: role,
    description: null,
    isSystemKey: false,
  })
  return value
}

async function archivedKey(w: World): Promise<string> {
  const { body } = await w.post('/api/client/keys', { name: 'Old', role: 'admin' })
  expect((await w.delete(`/api/client/keys/${body.id}`)).status).toBe(204)
  return body.value
}

/** The expected outcome by the access rule of a route: 'through', or status and reason. */
function outcomeOf({ access }: Route, presented: Presented): string {
  if ('open' in access) return 'through'
  if ('member' in access) return consoleOutcome(access.member, presented)
  const needs = access as { secret?: Role; organisation?: OrganisationRole; publishable?: 'user' | 'anonymous'; smtpproxy?: true }
  switch (presented.kind) {
    case 'unauthenticated':
      return `401 ${presented.reason}`
    case 'secret':
      if (!needs.secret) return '403 key_kind'
      if (presented.role === 'smtpproxy') return needs.smtpproxy ? 'through' : '403 role'
      return rankOf(presented.role) >= rankOf(needs.secret) ? 'through' : '403 role'
    case 'organisation':
      if (!needs.organisation) return '403 key_kind'
      return ORGANISATION_ROLES.indexOf(presented.role) >= ORGANISATION_ROLES.indexOf(needs.organisation) ? 'through' : '403 role'
    case 'publishable':
      if (!needs.publishable) return '403 not_publishable'
      if (presented.token === 'none') return needs.publishable === 'anonymous' ? 'through' : '401 user_token_missing'
      return presented.token === 'valid' ? 'through' : `401 ${presented.token}`
    default:
      return presented satisfies never
  }
}

/** Routes of the console need a session. Without a key and a session, the reply asks for the session. */
function consoleOutcome(needed: OrganisationRole, { session, headers, ...presented }: Presented): string {
  if (session) return ORGANISATION_ROLES.indexOf(session) >= ORGANISATION_ROLES.indexOf(needed) ? 'through' : '403 role'
  if (presented.kind !== 'unauthenticated') return '403 key_kind'
  return 'authorization' in headers || presented.reason === 'session_invalid' ? `401 ${presented.reason}` : '401 session_missing'
}

/** `smtpproxy` has no rank: it may call the routes that name it (D-ROLE-1). */
const rankOf = (role: Role) => ROLES.indexOf(role)

/** A request with an invalid query and body: callers with access get an error for them, and nothing is changed. */
const faulty = (w: World, { method, path }: Pick<Route, 'method' | 'path'>, headers: Record<string, string>) =>
  w.request(method, `${path.replace(/\{\w+\}/g, '1')}?surplus=1`, undefined, {
    key: null,
    headers: { ...(method !== 'GET' && { 'content-type': 'application/json' }), ...headers },
    ...(method !== 'GET' && method !== 'DELETE' && { raw: '{"surplus": ' }),
  })

async function outcome(w: World, route: Pick<Route, 'method' | 'path'>, headers: Record<string, string>): Promise<string> {
  const { status, body, headers: replied } = await faulty(w, route, headers)
  if (status !== 401 && status !== 403) return status >= 400 && status < 500 ? 'through' : `${status}, although the request is invalid`
  if (status === 401) expect(replied['www-authenticate']).toMatch(/^Bearer realm="api"/)
  expect(body.code).toBe(status === 401 ? 'authentication_required' : 'permission_denied')
  return `${status} ${body.error.reason}`
}

describe('every route', () => {
  test('applies its access rule to every kind of key and token, before it validates the request', { timeout: 120_000 }, async () => {
    await using w = await world()
    const presented = await everyCredential(w, await w.other())
    for (const route of routes) {
      const expected = presented.map((credential) => [credential.name, outcomeOf(route, credential)])
      const found = await Promise.all(presented.map(async ({ name, headers }) => [name, await outcome(w, route, headers)]))
      expect(found, `${route.method} ${route.path}`).toEqual(expected)
    }
  })

  test('has an access rule that allows some callers', () => {
    expect(routes.length).toBeGreaterThan(40)
    for (const { method, path, access } of routes) {
      expect(
        Object.keys(access).filter((name) => ['secret', 'organisation', 'publishable', 'member', 'open'].includes(name)),
        `${method} ${path}`,
      ).not.toEqual([])
    }
  })

  test('without an access rule does not compile', () => {
    const { path, ...rest } = { method: 'GET', path: '/api/client/bells', summary: 'List bells.', run: async () => undefined } as const
    // @ts-expect-error `access` is missing.
    expect(route({ ...rest, path }).path).toBe(path)
  })

  test('ignores keys in the query and in form fields', async () => {
    await using w = await world()
    const { secret } = w.keys
    for (const url of [`/api/client/users?api_key=${secret}`, `/api/client/users?access_token=${secret}`]) {
      expect((await w.get(url, { key: null })).body.error.reason).toBe('key_missing')
    }
    expect((await w.form('/api/ext/generic/data/generate/food', { api_key: secret }, { key: null })).body.error.reason).toBe('key_missing')
  })

  test('accepts the scheme in any case and with any number of spaces', async () => {
    await using w = await world()
    for (const authorization of [`bearer ${w.keys.secret}`, `BEARER   ${w.keys.secret}`, `Bearer ${w.keys.secret} `]) {
      expect((await w.get('/api/client/users', { key: null, headers: { authorization } })).status).toBe(200)
    }
  })
})

/** The callers that a route allows: roles of secret keys, roles of organisation keys, and publishable keys with and without a user token. */
type Callers = { secret: string; organisation: string; publishable: [withToken: string, without: string] }

const NO_CALLERS: Callers = { secret: '', organisation: '', publishable: ['403 not_publishable', '403 not_publishable'] }
const EVERY_ROLE: Callers = { ...NO_CALLERS, secret: 'support editor publisher admin' }
/** Keys of mail programs send messages and read those that they sent, and do nothing else. */
const SENDERS: Callers = { ...NO_CALLERS, secret: 'smtpproxy publisher admin' }
const SENDERS_AND_READERS: Callers = { ...NO_CALLERS, secret: 'support smtpproxy editor publisher admin' }
const EDITORS: Callers = { ...NO_CALLERS, secret: 'editor publisher admin' }
const PUBLISHERS: Callers = { ...NO_CALLERS, secret: 'publisher admin' }
const ADMINS: Callers = { ...NO_CALLERS, secret: 'admin' }
const ADMINS_AND_ORGANISATIONS: Callers = { ...NO_CALLERS, secret: 'admin', organisation: 'admin owner' }
/** Keys of organisations name users by numeric id: rule 4 of authentication in the specification. */
const READERS_AND_ORGANISATIONS: Callers = { ...EVERY_ROLE, organisation: 'admin owner' }
const END_USERS: Callers = { ...NO_CALLERS, publishable: ['through', '401 user_token_missing'] }
const UTILITIES: Callers = { ...EVERY_ROLE, organisation: 'member admin owner' }
const ORGANISATION_READS: Callers = { ...NO_CALLERS, organisation: 'member admin owner' }
const ORGANISATION_WRITES: Callers = { ...NO_CALLERS, organisation: 'admin owner' }

/** D-ROLE-2, D-PK-1, D-KEY-5 and D-GEN-1 for every route. Written by hand, never derived from the routes. */
const MATRIX: [method: Route['method'], path: Route['path'], callers: Callers][] = [
  // Organisations: D-KEY-5.
  ['GET', '/api/client/projects', ORGANISATION_READS],
  ['GET', '/api/client/projects/{projectId}', ORGANISATION_READS],
  ['POST', '/api/client/projects', ORGANISATION_WRITES],
  ['PATCH', '/api/client/projects/{projectId}', ORGANISATION_WRITES],
  ['GET', '/api/client/projects/{projectId}/size', ORGANISATION_WRITES],
  ['DELETE', '/api/client/projects/{projectId}', ORGANISATION_WRITES],
  ['POST', '/api/client/projects/{projectId}/keys', ORGANISATION_WRITES],

  // End users: D-PK-1.
  ['GET', '/api/client/users/me', END_USERS],
  ['GET', '/api/client/users/me/subscriptions', END_USERS],
  ['PATCH', '/api/client/users/me/subscriptions', END_USERS],
  ['GET', '/api/client/users/me/messages', END_USERS],
  ['GET', '/api/client/users/me/messages/unread-count', END_USERS],
  ['GET', '/api/client/users/me/messages/stream', END_USERS],
  ['POST', '/api/client/users/me/messages/read-all', END_USERS],
  ['PATCH', '/api/client/users/me/messages/{messageId}', END_USERS],

  // Reads.
  ['GET', '/api/client/projects/me', EVERY_ROLE],
  ['GET', '/api/client/users', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}', READERS_AND_ORGANISATIONS],
  ['GET', '/api/client/users/erasures/{erasureId}', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/events', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/messages', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/subscriptions', READERS_AND_ORGANISATIONS],
  ['GET', '/api/client/users/{userId}/consents', EVERY_ROLE],
  ['GET', '/api/client/events/stats', EVERY_ROLE],
  ['GET', '/api/client/schema/events', EVERY_ROLE],
  ['GET', '/api/client/schema/attributes', EVERY_ROLE],
  ['GET', '/api/client/lists', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}', EVERY_ROLE],
  ['GET', '/api/client/lists/sizes', EVERY_ROLE],
  ['GET', '/api/client/lists/tags', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}/users', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}/users/{userId}/explain', EVERY_ROLE],
  ['POST', '/api/client/lists/preview', EVERY_ROLE],
  ['POST', '/api/client/users/search', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}/imports', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}/imports/{importId}', EVERY_ROLE],
  ['GET', '/api/client/lists/{listId}/imports/{importId}/errors', EVERY_ROLE],
  ['GET', '/api/client/rules/meta', EVERY_ROLE],
  ['GET', '/api/client/campaigns', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates', EVERY_ROLE],
  ['GET', '/api/client/templates', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates/{locale}', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates/{locale}/versions', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates/{locale}/attachments', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}', EVERY_ROLE],
  ['POST', '/api/client/campaigns/{campaignId}/preview', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/lint', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/recipients', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/recipients/{userId}/explain', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/delivery', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/links', EVERY_ROLE],
  ['GET', '/api/client/campaigns/{campaignId}/preflights/{preflightId}', EVERY_ROLE],
  ['GET', '/api/client/journeys', EVERY_ROLE],
  ['GET', '/api/client/journeys/meta', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/steps', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/versions', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/versions/{version}', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/diff', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/stats', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/users', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/users/{userId}', EVERY_ROLE],
  ['GET', '/api/client/journeys/{journeyId}/users/{userId}/explain', EVERY_ROLE],
  ['GET', '/api/client/subscriptions', EVERY_ROLE],
  ['GET', '/api/client/subscriptions/{subscriptionId}', EVERY_ROLE],
  ['GET', '/api/client/suppressions', EVERY_ROLE],
  ['GET', '/api/client/page-theme', EVERY_ROLE],
  ['POST', '/api/client/page-theme/preview', EVERY_ROLE],
  ['GET', '/api/client/sending-policy', EVERY_ROLE],
  ['GET', '/api/client/mail-queue/pauses', EVERY_ROLE],
  ['GET', '/api/client/domains', EVERY_ROLE],
  ['GET', '/api/client/tls-results', EVERY_ROLE],
  ['GET', '/api/client/domains/{domainId}', EVERY_ROLE],
  ['GET', '/api/client/domains/{domainId}/zone-file', EVERY_ROLE],
  ['GET', '/api/client/domains/{domainId}/warm-up', EVERY_ROLE],
  ['GET', '/api/client/sandbox/fault-policy', EVERY_ROLE],
  ['GET', '/api/client/sandbox/messages', EVERY_ROLE],
  ['GET', '/api/client/sandbox/messages/{messageId}', EVERY_ROLE],
  ['GET', '/api/client/sandbox/messages/{messageId}/check', EVERY_ROLE],
  ['GET', '/api/client/activity', EVERY_ROLE],
  ['GET', '/api/client/overview', EVERY_ROLE],
  ['GET', '/api/client/reports/messages', EVERY_ROLE],
  ['GET', '/api/client/search', EVERY_ROLE],
  ['GET', '/api/client/stream', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/reachability', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/timeline', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/lists', EVERY_ROLE],
  ['GET', '/api/client/users/{userId}/journeys', EVERY_ROLE],
  ['GET', '/api/client/audit', ADMINS_AND_ORGANISATIONS],
  ['GET', '/api/client/audit/check', ADMINS_AND_ORGANISATIONS],
  ['GET', '/api/client/requests', ADMINS],
  ['GET', '/api/client/mail-site-days', EVERY_ROLE],
  ['GET', '/api/client/mail-sites', EVERY_ROLE],
  ['GET', '/api/client/mail-sites/{site}', EVERY_ROLE],
  ['GET', '/api/client/webhooks', EVERY_ROLE],
  ['GET', '/api/client/webhooks/attempts', EVERY_ROLE],
  ['GET', '/api/client/webhooks/{endpointId}', EVERY_ROLE],
  ['GET', '/api/client/webhooks/{endpointId}/deliveries', EVERY_ROLE],
  ['GET', '/api/client/webhooks/{endpointId}/deliveries/{deliveryId}', EVERY_ROLE],
  ['GET', '/api/client/webhooks/{endpointId}/replays', EVERY_ROLE],

  // Utilities: D-GEN-1.
  ['POST', '/api/ext/generic/data/generate/lorem', UTILITIES],
  ['POST', '/api/ext/generic/data/generate/commerce', UTILITIES],
  ['POST', '/api/ext/generic/data/generate/food', UTILITIES],
  ['POST', '/api/ext/generic/data/generate/contact', UTILITIES],
  ['POST', '/api/ext/generic/text/sentiment-score', UTILITIES],
  ['POST', '/api/ext/generic/sms/phone-mobile-syntax-validator', UTILITIES],
  ['POST', '/api/ext/generic/email/spf-lookup', UTILITIES],
  ['POST', '/api/ext/generic/dns/tcp-verifier', UTILITIES],

  // Users, devices, events, subscription states, user tokens, lists, imports, adding suppressions.
  ['POST', '/api/client/users/batch', EDITORS],
  ['PATCH', '/api/client/users', EDITORS],
  ['DELETE', '/api/client/users/{userId}', EDITORS],
  ['POST', '/api/client/users/{userId}/sessions', EDITORS],
  ['PATCH', '/api/client/users/{userId}/subscriptions', EDITORS],
  ['POST', '/api/client/devices', { ...EDITORS, publishable: END_USERS.publishable }],
  ['POST', '/api/client/events', { ...EDITORS, publishable: ['through', 'through'] }],
  ['POST', '/api/client/lists', EDITORS],
  ['PATCH', '/api/client/lists/{listId}', EDITORS],
  ['DELETE', '/api/client/lists/{listId}', EDITORS],
  ['POST', '/api/client/lists/{listId}/users', EDITORS],
  ['DELETE', '/api/client/lists/{listId}/users', EDITORS],
  ['POST', '/api/client/lists/{listId}/recount', EDITORS],
  ['POST', '/api/client/lists/{listId}/unarchive', EDITORS],
  ['POST', '/api/client/lists/{listId}/import', EDITORS],
  ['POST', '/api/client/lists/{listId}/imports/{importId}/cancel', EDITORS],
  ['POST', '/api/client/lists/{listId}/imports/{importId}/undo', EDITORS],
  ['POST', '/api/client/suppressions', EDITORS],
  ['DELETE', '/api/client/sandbox/messages', EDITORS],
  ['POST', '/api/client/sandbox/messages/{messageId}/release', EDITORS],

  // Campaigns and journeys while they are drafts. Changing others needs `publisher`, which the handlers check.
  ['POST', '/api/client/campaigns', EDITORS],
  ['PATCH', '/api/client/campaigns/{campaignId}', EDITORS],
  ['DELETE', '/api/client/campaigns/{campaignId}', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/duplicate', EDITORS],
  ['PUT', '/api/client/campaigns/{campaignId}/templates/{locale}', EDITORS],
  ['DELETE', '/api/client/campaigns/{campaignId}/templates/{locale}', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}/restore', EDITORS],
  ['PUT', '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}', EDITORS],
  ['DELETE', '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/test', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/preflights', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/text-sizes', EDITORS],
  ['POST', '/api/client/journeys', EDITORS],
  ['PATCH', '/api/client/journeys/{journeyId}', EDITORS],
  ['DELETE', '/api/client/journeys/{journeyId}', EDITORS],
  ['PUT', '/api/client/journeys/{journeyId}/steps', EDITORS],
  ['POST', '/api/client/journeys/{journeyId}/simulate', EDITORS],
  ['POST', '/api/client/journeys/{journeyId}/backtest', EDITORS],
  ['GET', '/api/client/journeys/{journeyId}/backtests/{backtestId}', EDITORS],
  ['DELETE', '/api/client/journeys/{journeyId}/backtests/{backtestId}', EDITORS],

  // Journeys that run.
  ['POST', '/api/client/journeys/{journeyId}/publish', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/publish/preview', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/drain', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/stop', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/hold', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/resume', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/entrances', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/users/{userId}/move', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/users/{userId}/skip', PUBLISHERS],
  ['POST', '/api/client/journeys/{journeyId}/users/{userId}/retry', PUBLISHERS],
  ['DELETE', '/api/client/journeys/{journeyId}/users/{userId}', PUBLISHERS],

  // Starting and stopping sends.
  ['POST', '/api/client/campaigns/{campaignId}/pause', PUBLISHERS],
  ['POST', '/api/client/campaigns/{campaignId}/unarchive', EDITORS],
  ['POST', '/api/client/journeys/{journeyId}/unarchive', EDITORS],
  ['POST', '/api/client/campaigns/{campaignId}/resume', PUBLISHERS],
  ['POST', '/api/client/campaigns/{campaignId}/trigger', PUBLISHERS],
  ['POST', '/api/client/mail-queue/pause', PUBLISHERS],
  ['POST', '/api/client/mail-queue/resume', PUBLISHERS],
  ['POST', '/api/client/mail-queue/retry', PUBLISHERS],
  ['POST', '/api/client/mail-queue/cancel', PUBLISHERS],

  // Messages by request: D-MSG-2.
  ['POST', '/api/client/messages', SENDERS],
  ['POST', '/api/client/messages/batch', SENDERS],
  ['POST', '/api/client/messages/{messageId}/resend', PUBLISHERS],
  ['GET', '/api/client/messages', SENDERS_AND_READERS],
  ['GET', '/api/client/messages/{messageId}', SENDERS_AND_READERS],
  ['GET', '/api/client/mail-queue', SENDERS_AND_READERS],

  // Keys and providers (reading them too), subscription types, webhook endpoints, domains, sending policy, page theme,
  // attribute register, lifting suppressions.
  ['GET', '/api/client/users/{userId}/export', ADMINS],
  ['GET', '/api/client/keys', ADMINS],
  ['GET', '/api/client/keys/{keyId}', ADMINS],
  ['POST', '/api/client/keys', ADMINS],
  ['PATCH', '/api/client/keys/{keyId}', ADMINS],
  ['DELETE', '/api/client/keys/{keyId}', ADMINS],
  ['GET', '/api/client/providers/meta', ADMINS],
  ['GET', '/api/client/providers', ADMINS],
  ['GET', '/api/client/providers/{providerId}', ADMINS],
  ['POST', '/api/client/providers', ADMINS],
  ['PATCH', '/api/client/providers/{providerId}', ADMINS],
  ['DELETE', '/api/client/providers/{providerId}', ADMINS],
  ['POST', '/api/client/providers/{providerId}/test', ADMINS],
  ['POST', '/api/client/subscriptions', ADMINS],
  ['PATCH', '/api/client/subscriptions/{subscriptionId}', ADMINS],
  ['PUT', '/api/client/mail-sites/{site}', ADMINS],
  ['PUT', '/api/client/sandbox/fault-policy', ADMINS],
  ['POST', '/api/client/webhooks', ADMINS],
  ['PATCH', '/api/client/webhooks/{endpointId}', ADMINS],
  ['DELETE', '/api/client/webhooks/{endpointId}', ADMINS],
  ['POST', '/api/client/webhooks/{endpointId}/rotate-secret', ADMINS],
  ['POST', '/api/client/webhooks/{endpointId}/test', ADMINS],
  ['POST', '/api/client/webhooks/{endpointId}/deliveries/{deliveryId}/resend', ADMINS],
  ['POST', '/api/client/webhooks/{endpointId}/replays', ADMINS],
  ['POST', '/api/client/domains', ADMINS],
  ['PATCH', '/api/client/domains/{domainId}', ADMINS],
  ['DELETE', '/api/client/domains/{domainId}', ADMINS],
  ['POST', '/api/client/domains/{domainId}/verify', ADMINS],
  ['POST', '/api/client/domains/{domainId}/rotate-keys', ADMINS],
  ['PUT', '/api/client/domains/{domainId}/warm-up', ADMINS],
  ['PUT', '/api/client/sending-policy', ADMINS],
  ['PUT', '/api/client/page-theme', ADMINS],
  ['GET', '/api/client/attributes', ADMINS],
  ['PUT', '/api/client/attributes/{key}', ADMINS],
  ['DELETE', '/api/client/attributes/{key}', ADMINS],
  ['DELETE', '/api/client/suppressions/{suppressionId}', ADMINS],
]

/** The console: the roles in the organisation that may call a route with a session, or `open`. D-CON-1 and D-CON-4. */
const CONSOLE: [method: Route['method'], path: Route['path'], roles: string][] = [
  ['POST', '/api/console/owner', 'open'],
  ['POST', '/api/console/sign-in', 'open'],
  ['POST', '/api/console/sign-out', 'member admin owner'],
  ['GET', '/api/console/session', 'member admin owner'],
  ['GET', '/api/console/session/end', 'member admin owner'],
  ['PUT', '/api/console/presence', 'member admin owner'],
  ['GET', '/api/console/sessions', 'member admin owner'],
  ['DELETE', '/api/console/sessions/{sessionId}', 'member admin owner'],
  ['GET', '/api/console/sign-in', 'open'],
  ['GET', '/api/console/members', 'member admin owner'],
  ['POST', '/api/console/members', 'admin owner'],
  ['GET', '/api/console/members/{memberId}', 'member admin owner'],
  ['PATCH', '/api/console/members/{memberId}', 'admin owner'],
  ['DELETE', '/api/console/members/{memberId}', 'admin owner'],
  ['POST', '/api/console/members/{memberId}/invite', 'admin owner'],
  ['POST', '/api/console/accept-invitation', 'open'],
  ['PATCH', '/api/console/organisation', 'owner'],
  ['GET', '/api/console/system', 'owner'],
  ['GET', '/api/console/profile', 'member admin owner'],
  ['PATCH', '/api/console/profile', 'member admin owner'],
  ['PUT', '/api/console/profile/password', 'member admin owner'],
  ['POST', '/api/console/lost-password', 'open'],
  ['POST', '/api/console/reset-password', 'open'],
  ['POST', '/api/console/profile/totp/begin', 'member admin owner'],
  ['POST', '/api/console/profile/totp/confirm', 'member admin owner'],
  ['POST', '/api/console/profile/totp/remove', 'member admin owner'],
  ['GET', '/api/console/profile/passkeys', 'member admin owner'],
  ['POST', '/api/console/profile/passkeys/begin', 'member admin owner'],
  ['POST', '/api/console/profile/passkeys', 'member admin owner'],
  ['POST', '/api/console/profile/passkeys/{passkeyId}/remove', 'member admin owner'],
  ['POST', '/api/console/sign-in/passkey/begin', 'open'],
  ['POST', '/api/console/sign-in/passkey', 'open'],
  ['POST', '/api/console/sign-in/single-sign-on/begin', 'open'],
  ['POST', '/api/console/sign-in/single-sign-on', 'open'],
]

describe('the access tables of the decisions', () => {
  let w: World
  let organisationKeys: Record<OrganisationRole, string>
  let token: string
  beforeAll(async () => {
    w = await world()
    await w.users('kim')
    token = await w.token('kim')
    organisationKeys = { member: w.keys.member, admin: await organisationKey(w, 'admin'), owner: w.keys.organisation }
  })
  afterAll(() => w[Symbol.asyncDispose]())

  test('list exactly the existing routes', () => {
    const named = [...MATRIX, ...CONSOLE].map(([method, path]) => `${method} ${path}`)
    expect(named.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test.each(MATRIX)('%s %s', async (method, path, { secret, organisation, publishable }) => {
    const route = { method, path }
    const allowed = async <R extends string>(roles: readonly R[], keyOf: (role: R) => string) => {
      const outcomes = await Promise.all(roles.map((role) => outcome(w, route, bearer(keyOf(role)))))
      return roles.filter((_, at) => outcomes[at] === 'through').join(' ')
    }
    expect(await allowed(ROLES, (role) => (role === 'admin' ? w.keys.secret : w.keys[role]))).toBe(secret)
    expect(await allowed(ORGANISATION_ROLES, (role) => organisationKeys[role])).toBe(organisation)
    const withToken = await outcome(w, route, { ...bearer(w.keys.public), 'x-service-user-token': token })
    expect([withToken, await outcome(w, route, bearer(w.keys.public))]).toEqual(publishable)
  })

  test('the routes of the console', async () => {
    const headers = new Map<OrganisationRole, Record<string, string>>()
    for (const role of ORGANISATION_ROLES) headers.set(role, (await member(w, role)).headers)
    for (const [method, path, expected] of CONSOLE) {
      const allowed: string[] = []
      for (const [role, sent] of headers) if ((await outcome(w, { method, path }, sent)) === 'through') allowed.push(role)
      if ((await outcome(w, { method, path }, {})) === 'through') allowed.splice(0, 3, 'open')
      expect([method, path, allowed.join(' ')]).toEqual([method, path, expected])
    }
  })

  test('a key of any role may read itself and no other', async () => {
    await using w = await world()
    const { body } = await w.get('/api/client/keys')
    for (const role of ['support', 'smtpproxy', 'editor', 'publisher'] as const) {
      for (const { id, role: of, scope } of body.results) {
        const { status } = await w.get(`/api/client/keys/${id}`, { key: w.keys[role] })
        expect([role, of, scope, status]).toEqual([role, of, scope, of === role && scope === 'secret' ? 200 : 403])
      }
    }
  })

  test('the scope decides what a key may do, not its prefix', async () => {
    await using w = await world()
    const { body: key } = await w.post('/api/client/keys', { name: 'Site', scope: 'public', role: 'admin' })
    expect(key.value).toMatch(/^pk_/)
    expect((await w.get('/api/client/users', { key: key.value })).status).toBe(403)
    await w.patch(`/api/client/keys/${key.id}`, { scope: 'secret' })
    expect((await w.get('/api/client/users', { key: key.value })).status).toBe(200)
  })
})

describe('starting, stopping and changing sends', () => {
  /** The rows of D-ROLE-2 that depend on the body or on the state of the resource. */
  test.each<[string, (w: World) => Promise<[method: string, path: string, body?: unknown]>]>([
    ['creating a live journey', async () => ['POST', '/api/client/journeys', { name: 'Now', status: 'live' }]],
    ['creating a journey that is off', async () => ['POST', '/api/client/journeys', { name: 'Off', status: 'off' }]],
    ['starting a draft journey', async (w) => ['PATCH', await journey(w, 'draft'), { status: 'live' }]],
    ['renaming a live journey', async (w) => ['PATCH', await journey(w, 'live'), { name: 'Renamed' }]],
    ['changing the steps of a live journey', async (w) => ['PUT', `${await journey(w, 'live')}/steps`, {}]],
    ['archiving a live journey', async (w) => ['DELETE', await journey(w, 'live')]],
    ['aborting a campaign', async (w) => ['PATCH', await campaign(w), { state: 'aborted' }]],
  ])('%s needs the role publisher', async (_, write) => {
    await using w = await world()
    const [method, path, body] = await write(w)
    const refused = await w.request(method, path, body, { key: w.keys.editor })
    expect([refused.status, refused.body?.error.reason]).toEqual([403, 'role'])
    expect((await w.request(method, path, body, { key: w.keys.publisher })).status).toBeLessThan(300)
  })

  test('an editor can change drafts', async () => {
    await using w = await world()
    const { editor: key } = w.keys
    expect((await w.patch(await journey(w, 'draft'), { name: 'Draft' }, { key })).status).toBe(200)
    expect((await w.put(`${await journey(w, 'draft')}/steps`, {}, { key })).status).toBe(200)
    expect((await w.patch(await campaign(w), { name: 'Draft' }, { key })).status).toBe(200)
  })
})

async function journey(w: World, status: string): Promise<string> {
  return `/api/client/journeys/${(await w.post('/api/client/journeys', { name: 'Welcome', status })).body.id}`
}

async function campaign(w: World): Promise<string> {
  const { body } = await w.get('/api/client/subscriptions')
  const { body: made } = await w.post('/api/client/campaigns', { type: 'trigger', name: 'Hello', subscription_id: body.results[0].id })
  return `/api/client/campaigns/${made.id}`
}
