import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Member, member, PASSWORD, pageWith, signIn } from '../../../test/members.ts'
import { type OpenIdProvider, openIdProvider, type TokenDeviation } from '../../../test/open-id-provider.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { createLink } from './links.ts'
import { operatorLink } from './profile.ts'

const closing = new AsyncDisposableStack()
let provider: OpenIdProvider
let w: World
beforeAll(async () => {
  provider = closing.use(await openIdProvider())
  // A world has one server, and the ids of its projects are known only afterwards: the mapping names roles in the organisation.
  const roles = { owners: { role: 'owner' }, admins: { role: 'admin' }, staff: {} }
  w = closing.use(await world({ env: { ...provider.env, OIDC_ROLES: JSON.stringify(roles), OIDC_NAME: 'Bellbird' } }))
})
afterAll(() => closing.disposeAsync())

const as = ({ headers }: Pick<Member, 'headers'>) => ({ key: null, headers })
const begin = async (at = w) => (await at.post('/api/console/sign-in/single-sign-on/begin', undefined, { key: null })).body
const finish = (parameters: string, binding: string, at = w) =>
  at.post('/api/console/sign-in/single-sign-on', { parameters, binding }, { key: null })

let subjects = 0
const claimsOf = (more: object = {}) => {
  const subject = `subject-${++subjects}`
  return { sub: subject, email: `${subject}@bellbird.test`, email_verified: true, name: 'Ana Ng', groups: ['staff'], ...more }
}

/** Signs in with the provider. */
async function enter(claims: Record<string, unknown>, deviation?: TokenDeviation, at = w) {
  const { url, binding } = await begin(at)
  return finish(provider.signIn(url, claims, deviation), binding, at)
}

const actionsOf = async (id: number) =>
  (await select(w, `select action from audit_entries where object_type = 'member' and object_id = '${id}' order by id`)).map(
    ({ action }) => action,
  )

describe('single sign-on', () => {
  test('asks with PKCE, a state and a nonce, and creates a member whose groups have a role', async () => {
    expect((await w.get('/api/console/sign-in', { key: null })).body).toMatchObject({ local: true, single_sign_on: 'Bellbird' })
    const { url } = await begin()
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      client_id: 'carillon',
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: 'http://carillon.test/sign-in/callback',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    const ana = claimsOf({ groups: ['admins', 'others'] })
    const reply = await enter(ana)
    expect([reply.status, reply.body.member, reply.body.role]).toEqual([
      200,
      { id: expect.any(Number), email: ana.email, name: 'Ana Ng' },
      'admin',
    ])
    expect((await w.get('/api/console/session', { key: null, headers: pageWith(reply) })).status).toBe(200)
    expect(await actionsOf(reply.body.member.id)).toEqual(['member.created', 'member.single_sign_on_linked', 'member.updated'])
    expect((await enter({ ...ana, email: 'changed@bellbird.test' })).body.member.id).toBe(reply.body.member.id)
  })

  test.each<[string, TokenDeviation]>([
    ['a wrong nonce', { nonce: 'another' }],
    ['another client', { aud: 'another' }],
    ['another issuer', { iss: 'https://login.example' }],
    ['a token that has expired', { expiresInS: -300 }],
    ['a forged signature', { isForged: true }],
  ])('is refused with %s', async (_, deviation) => {
    const claims = claimsOf()
    const refused = await enter(claims, deviation)
    expect([refused.status, refused.body.error.reason, refused.headers['set-cookie']]).toEqual([401, 'single_sign_on', undefined])
    expect(await select(w, `select id from members where email = '${claims.email}'`)).toEqual([])
  })

  test('is refused with a state that was used, is late, or began in another browser', async () => {
    const { url, binding } = await begin()
    const other = await begin()
    const answer = provider.signIn(url, claimsOf())
    expect((await finish(answer, other.binding)).status).toBe(401)
    expect((await finish(answer, binding)).status).toBe(200)
    const again = await finish(answer, binding)
    expect([again.status, again.body.error.reason]).toEqual([401, 'single_sign_on'])
    expect((await finish(provider.signIn(url, claimsOf()), binding)).status).toBe(401)
    w.advance('10 minutes')
    expect((await finish(provider.signIn(other.url, claimsOf()), other.binding)).status).toBe(401)
    expect((await finish('error=access_denied', other.binding)).status).toBe(401)
  })

  test.each([
    ['an address that was not verified', { email_verified: false }, 'single_sign_on'],
    ['no word about the address', { email_verified: undefined }, 'single_sign_on'],
    ['no address', { email: undefined }, 'single_sign_on'],
    ['groups without a role', { groups: ['others'] }, 'role'],
    ['no groups', { groups: undefined }, 'role'],
  ])('is refused with %s', async (_, claims, reason) => {
    const refused = await enter(claimsOf(claims))
    expect([refused.status, refused.body.error.reason]).toEqual([403, reason])
  })

  type Address = { email?: 'own' | 'other'; email_verified?: boolean }
  test.each<[string, Address, Address, 'own' | null]>([
    ['both only in the userinfo', {}, { email: 'own', email_verified: true }, 'own'],
    ['the word only in the userinfo, with the address', { email: 'own' }, { email: 'own', email_verified: true }, 'own'],
    ['the word only in the userinfo, for its own address', { email: 'other' }, { email: 'own', email_verified: true }, 'own'],
    ['the word only in the userinfo, without an address', { email: 'other' }, { email_verified: true }, null],
    ['the address only in the userinfo, without the word', { email_verified: true }, { email: 'other' }, null],
    ['both in the ID token, of another address than in the userinfo', { email: 'own', email_verified: true }, { email: 'other' }, 'own'],
    ['both, with different words', { email: 'other', email_verified: false }, { email: 'other', email_verified: true }, null],
  ])('takes the address and the word that it is verified from one place: %s', async (_, token, userinfo, email) => {
    const claims = claimsOf({ groups: undefined })
    const given = (address: Address) => ({
      email: address.email && `${address.email}-${claims.email}`,
      email_verified: address.email_verified,
    })
    const reply = await enter({ ...claims, ...given(token) }, { userinfo: { groups: ['staff'], ...given(userinfo) } })
    expect([reply.status, reply.body.member?.email]).toEqual(email === null ? [403, undefined] : [200, `${email}-${claims.email}`])
  })

  test('asks for the word about the address if only that is missing', async () => {
    const { email, ...claims } = claimsOf({ email_verified: undefined })
    const reply = await enter({ ...claims, email }, { userinfo: { email, email_verified: true } })
    expect([reply.status, reply.body.member?.email]).toEqual([200, email])
  })

  test('links a member by the verified address, once, and gives the roles at every sign-in', async () => {
    const one = await member(w, 'member', 'editor')
    const claims = claimsOf({ email: one.email.toUpperCase(), groups: ['admins'] })
    const reply = await enter(claims)
    expect([reply.status, reply.body.member.id, reply.body.role]).toEqual([200, one.id, 'admin'])
    expect((await w.get('/api/console/session', as(one))).body.role).toBe('admin')
    const second = await enter(claimsOf({ email: one.email }))
    expect([second.status, second.body.error.reason]).toEqual([403, 'single_sign_on'])
    expect((await enter({ ...claims, groups: ['staff'] })).body).toMatchObject({ role: 'member', projects: [] })
    expect((await enter({ ...claims, groups: [] })).status).toBe(403)
  })

  test('ends the invitation of a member who joins with it', async () => {
    const claims = claimsOf()
    const admin = await member(w, 'admin')
    const { invitation_url } = (await w.post('/api/console/members', { email: claims.email, name: 'Ana', role: 'member' }, as(admin))).body
    expect((await enter(claims)).status).toBe(200)
    const token = invitation_url.split('#token=')[1]
    const refused = await w.post('/api/console/accept-invitation', { token, password: PASSWORD }, { key: null })
    expect([refused.status, refused.body.error.reason]).toEqual([401, 'link_invalid'])
    expect((await signIn(w, claims.email)).status).toBe(401)
  })

  test('leaves the last owner an owner, and nothing of a member who was removed', async () => {
    await select(w, `update members set role = 'admin' where role = 'owner'`)
    const claims = claimsOf({ groups: ['owners'] })
    const owner = await enter(claims)
    expect((await enter({ ...claims, groups: ['staff'] })).body.role).toBe('owner')
    const leaving = claimsOf()
    const { id } = (await enter(leaving)).body.member
    expect((await w.delete(`/api/console/members/${id}`, { key: null, headers: pageWith(owner) })).status).toBe(204)
    const back = (await enter(leaving)).body.member
    expect(back.id).not.toBe(id)
  })

  test('ends at the provider too', async () => {
    const reply = await enter(claimsOf())
    const out = await w.post('/api/console/sign-out', undefined, { key: null, headers: pageWith(reply) })
    expect([out.status, out.body.url.split('?')[0]]).toEqual([200, `${provider.issuer}/end`])
    expect(Object.fromEntries(new URL(out.body.url).searchParams)).toMatchObject({
      post_logout_redirect_uri: 'http://carillon.test/sign-in',
      id_token_hint: expect.any(String),
    })
    const one = await member(w, 'member')
    expect((await w.post('/api/console/sign-out', undefined, as(one))).body).toEqual({ url: null })
  })
})

describe('without a mapping', () => {
  test('only members sign in, from the domains that may, and keep their roles', async () => {
    await using plain = await world({ env: { ...provider.env, OIDC_EMAIL_DOMAINS: 'bellbird.test, example.com' } })
    const one = await member(plain, 'member', 'editor')
    expect((await enter(claimsOf(), {}, plain)).body.error.reason).toBe('role')
    const reply = await enter(claimsOf({ email: one.email }), {}, plain)
    expect([reply.status, reply.body.projects.map(({ role }: { role: string }) => role)]).toEqual([200, ['editor']])
    const elsewhere = await enter(claimsOf({ email: 'kim@elsewhere.test' }), {}, plain)
    expect([elsewhere.status, elsewhere.body.error.reason]).toEqual([403, 'single_sign_on'])
  })
})

test('creates no member beyond the limit of an organisation', async () => {
  const [first] = await select(w, 'select organization_id as id from projects order by deleted_at is not null, id limit 1')
  await select(
    w,
    `insert into members (organization_id, email, name, role, created_at, updated_at)
     select $1, 'full-' || n || '@bellbird.test', 'Full', 'member', now(), now() from generate_series(1, 1000) n`,
    [first?.id],
  )
  const refused = await enter(claimsOf())
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded'])
  await select(w, "delete from members where email like 'full-%'")
  expect((await enter(claimsOf())).status).toBe(200)
})

test('as the only way in, it leaves the link of the operator, which signs in', async () => {
  await using only = await world({ env: { ...provider.env, LOCAL_SIGN_IN: 'false', RATE_SIGN_IN_PER_MIN: '0' } })
  const one = await member(w, 'owner')
  const mailed = await inTx(w.ctx, (ctx) => createLink(ctx, 'password', w.organisationId, one.id))
  const refused = [
    await only.post('/api/console/sign-in', { email: one.email, password: PASSWORD }, { key: null }),
    await only.post('/api/console/lost-password', { email: one.email }, { key: null }),
    await only.post('/api/console/accept-invitation', { token: 'x', password: PASSWORD }, { key: null }),
  ]
  expect(refused.map(({ status, body }) => [status, body.error.reason])).toEqual(Array(3).fill([403, 'single_sign_on']))
  const setPassword = (link: string | null) =>
    only.post('/api/console/reset-password', { token: String(link).split('#token=')[1], password: 'another four words' }, { key: null })
  expect((await setPassword(mailed)).body.error.reason).toBe('link_invalid')
  const reset = await setPassword(await operatorLink(only.ctx, one.email))
  expect((await only.get('/api/console/session', { key: null, headers: pageWith(reset) })).body.member.id).toBe(one.id)
  expect((await signIn(w, one.email, 'another four words')).status).toBe(200)
})

test('a server without a provider has none, and one that cannot be reached says so', async () => {
  await using plain = await world()
  expect((await plain.post('/api/console/sign-in/single-sign-on/begin', undefined, { key: null })).status).toBe(422)
  await using far = await world({ env: { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'x' } })
  const reply = await far.post('/api/console/sign-in/single-sign-on/begin', undefined, { key: null })
  expect([reply.status, reply.body.message]).toEqual([422, expect.stringContaining('cannot be reached')])
})
