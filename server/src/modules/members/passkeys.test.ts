import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Authenticator, type Deviation, openAuthenticator } from '../../../test/authenticator.ts'
import { type Member, member, PASSWORD, pageWith, signIn } from '../../../test/members.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { Count } from '../../lib/shapes.ts'
import { operatorLink } from './profile.ts'

const ORIGIN = 'http://localhost:3000'

const as = ({ headers }: Pick<Member, 'headers'>) => ({ key: null, headers })

let w: World
beforeAll(async () => {
  w = await world({ env: { BASE_URL: ORIGIN } })
})
afterAll(() => w[Symbol.asyncDispose]())

const begin = (one: Member, current_password = PASSWORD) => w.post('/api/console/profile/passkeys/begin', { current_password }, as(one))

/** Adds the passkey of an authenticator. */
async function add(one: Member, authenticator: Authenticator, deviation?: Deviation, name = 'Laptop') {
  const { options } = (await begin(one)).body
  return w.post('/api/console/profile/passkeys', { name, ...authenticator.create(options, ORIGIN, deviation) }, as(one))
}

/** A member with a passkey. */
async function withPasskey(settings?: Parameters<typeof openAuthenticator>[0]) {
  const one = await member(w, 'member')
  const authenticator = openAuthenticator(settings)
  const added = await add(one, authenticator)
  return { one, authenticator, added }
}

const challenge = async () => (await w.post('/api/console/sign-in/passkey/begin', undefined, { key: null })).body.options
const send = (answer: object) => w.post('/api/console/sign-in/passkey', answer, { key: null })
const enter = async (authenticator: Authenticator, deviation?: Deviation) => send(authenticator.get(await challenge(), ORIGIN, deviation))

const remove = (one: Member, id: number, current_password = PASSWORD) =>
  w.post(`/api/console/profile/passkeys/${id}/remove`, { current_password }, as(one))

const actionsOf = async ({ id }: Member) =>
  (await select(w, `select action from audit_entries where object_type = 'member' and object_id = '${id}' order by id`)).map(
    ({ action }) => action,
  )

describe('adding a passkey', () => {
  test('asks for the password, a name and a verified user, and excludes what is there', async () => {
    const one = await member(w, 'member')
    expect((await begin(one, 'wrong')).status).toBe(403)
    expect((await w.post('/api/console/profile/passkeys/begin', {}, as(one))).status).toBe(403)
    const authenticator = openAuthenticator()
    const added = await add(one, authenticator)
    expect([added.status, added.body]).toEqual([
      200,
      { id: expect.any(Number), name: 'Laptop', created_at: expect.any(String), used_at: null, recovery_codes: expect.any(Array) },
    ])
    expect(new Set(added.body.recovery_codes).size).toBe(10)
    const { options } = (await begin(one)).body
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: one.email },
      excludeCredentials: [{ id: authenticator.credentialId, transports: ['internal'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    })
    const second = await add(one, openAuthenticator(), {}, 'Key ring')
    expect(second.body.recovery_codes).toEqual([])
    const { results } = (await w.get('/api/console/profile/passkeys', as(one))).body
    expect(results.map(({ name }: { name: string }) => name)).toEqual(['Laptop', 'Key ring'])
    expect((await w.get('/api/console/profile', as(one))).body).toMatchObject({
      has_totp: false,
      has_passkey: true,
      recovery_codes_left: 10,
    })
    expect(await actionsOf(one)).toEqual(['member.passkey_added', 'member.passkey_added'])
  })

  test.each<[string, Deviation]>([
    ['another site', { origin: 'http://localhost:3001' }],
    ['another relying party', { rpId: 'example.com' }],
    ['a user who was not verified', { isVerified: false }],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
  ])('is refused with %s', async (_, deviation) => {
    const one = await member(w, 'member')
    const refused = await add(one, openAuthenticator(), deviation)
    expect([refused.status, refused.body.error.reason]).toEqual([422, 'passkey_invalid'])
    expect((await signIn(w, one.email)).status).toBe(200)
  })

  test('is refused with the challenge of another member, one that was used, and one that is old', async () => {
    const [one, other] = [await member(w, 'member'), await member(w, 'member')]
    const { options } = (await begin(one)).body
    const post = (who: Member, authenticator: Authenticator) =>
      w.post('/api/console/profile/passkeys', { name: 'x', ...authenticator.create(options, ORIGIN) }, as(who))
    expect((await post(other, openAuthenticator())).status).toBe(422)
    expect((await post(one, openAuthenticator())).status).toBe(200)
    expect((await post(one, openAuthenticator())).status).toBe(422)
    const late = (await begin(one)).body.options
    w.advance('5 minutes')
    const reply = await w.post('/api/console/profile/passkeys', { name: 'x', ...openAuthenticator().create(late, ORIGIN) }, as(one))
    expect(reply.status).toBe(422)
  })

  test('is refused when twenty were added since it began', async () => {
    const { one } = await withPasskey()
    const { options } = (await begin(one)).body
    await select(
      w,
      `insert into member_passkeys (member_id, organization_id, credential_id, public_key, sign_count, transports, name, created_at)
       select ${one.id}, ${w.organisationId}, '${one.id} ' || n, '', 0, '{}', 'n', now() from generate_series(1, 19) n`,
    )
    const reply = await w.post('/api/console/profile/passkeys', { name: 'x', ...openAuthenticator().create(options, ORIGIN) }, as(one))
    expect([reply.status, reply.body.code]).toEqual([429, 'quota_exceeded'])
  })

  test('is refused for a credential that any member has', async () => {
    const id = randomBytes(16)
    const { authenticator } = await withPasskey({ id })
    const refused = await add(await member(w, 'member'), openAuthenticator({ id }))
    expect([refused.status, refused.body.error.code]).toEqual([409, 'resource_already_exists'])
    expect((await enter(authenticator)).status).toBe(200)
  })
})

describe('signing in with a passkey', () => {
  test('needs no password and no code, and notes the use', async () => {
    const { one, authenticator, added } = await withPasskey()
    const options = await challenge()
    expect([options.rpId, options.userVerification, options.allowCredentials]).toEqual(['localhost', 'required', undefined])
    const reply = await enter(authenticator)
    expect([reply.status, reply.body.member.email]).toEqual([200, one.email])
    expect((await w.get('/api/console/session', { key: null, headers: pageWith(reply) })).status).toBe(200)
    const { results } = (await w.get('/api/console/profile/passkeys', as(one))).body
    expect(results).toEqual([{ id: added.body.id, name: 'Laptop', created_at: expect.any(String), used_at: expect.any(String) }])
  })

  test.each<[string, Deviation]>([
    ['another site', { origin: 'https://localhost:3000' }],
    ['another relying party', { rpId: 'example.com' }],
    ['a user who was not verified', { isVerified: false }],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
    ['another user handle', { userHandle: randomBytes(32).toString('base64url') }],
  ])('is refused with %s', async (_, deviation) => {
    const { authenticator } = await withPasskey()
    const refused = await enter(authenticator, deviation)
    expect([refused.status, refused.body.error.reason, refused.headers['set-cookie']]).toEqual([401, 'passkey_invalid', undefined])
    expect((await enter(authenticator)).status).toBe(200)
  })

  test('is refused with a wrong signature, an answer that was used, and one that is late', async () => {
    const { authenticator } = await withPasskey({ counts: false })
    const [answer, other] = [authenticator.get(await challenge(), ORIGIN), authenticator.get(await challenge(), ORIGIN)]
    expect((await send({ ...answer, signature: other.signature })).status).toBe(401)
    expect((await send(answer)).status).toBe(401)
    expect((await send(other)).status).toBe(200)
    expect((await send(other)).status).toBe(401)
    const late = authenticator.get(await challenge(), ORIGIN)
    w.advance('5 minutes')
    expect((await send(late)).status).toBe(401)
    expect((await send({ ...late, client_data: 'x' })).status).toBe(401)
  })

  test('is refused when the count says that there is a copy, and fine where nothing is counted', async () => {
    const { authenticator } = await withPasskey()
    expect((await enter(authenticator, { count: 7 })).status).toBe(200)
    expect((await enter(authenticator, { count: 7 })).status).toBe(401)
    expect((await enter(authenticator, { count: 8 })).status).toBe(200)
    const { authenticator: plain } = await withPasskey({ counts: false })
    expect([(await enter(plain)).status, (await enter(plain)).status]).toEqual([200, 200])
  })

  test('is refused to those who were removed', async () => {
    const { one, authenticator } = await withPasskey()
    const owner = await member(w, 'owner')
    expect((await w.delete(`/api/console/members/${one.id}`, as(owner))).status).toBe(204)
    expect((await enter(authenticator)).status).toBe(401)
    expect(await select(w, `select id from member_passkeys where member_id = ${one.id}`)).toEqual([])
  })

  test('is not offered where browsers refuse passkeys', async () => {
    await using plain = await world()
    expect((await plain.get('/api/console/sign-in', { key: null })).body.passkey_origin).toBeNull()
    expect((await plain.post('/api/console/sign-in/passkey/begin', undefined, { key: null })).status).toBe(422)
    expect((await w.get('/api/console/sign-in', { key: null })).body.passkey_origin).toBe(ORIGIN)
  })
})

describe('a passkey as second factor', () => {
  test('is needed beside the password, or a recovery code', async () => {
    const { one, added } = await withPasskey()
    expect((await signIn(w, one.email, 'wrong')).body.error.reason).toBe('sign_in_failed')
    expect((await signIn(w, one.email)).body.error.reason).toBe('passkey_required')
    const code = added.body.recovery_codes[0]
    expect((await signIn(w, one.email, PASSWORD, { code: '000000' })).body.error.reason).toBe('code_invalid')
    expect((await signIn(w, one.email, PASSWORD, { code })).status).toBe(200)
    expect((await signIn(w, one.email, PASSWORD, { code })).body.error.reason).toBe('code_invalid')
  })

  test('is removed with the password, and the recovery codes with the last one', async () => {
    const { one, authenticator, added } = await withPasskey()
    const second = (await add(one, openAuthenticator())).body
    const stranger = await withPasskey()
    expect((await remove(one, added.body.id, 'wrong')).status).toBe(403)
    expect((await remove(one, stranger.added.body.id)).status).toBe(404)
    expect((await remove(one, added.body.id)).status).toBe(204)
    expect((await enter(authenticator)).status).toBe(401)
    expect((await signIn(w, one.email)).body.error.reason).toBe('passkey_required')
    expect((await remove(one, second.id)).status).toBe(204)
    expect((await signIn(w, one.email)).status).toBe(200)
    expect(await select(w, `select code_hash from member_recovery_codes where member_id = ${one.id}`)).toEqual([])
    expect(await actionsOf(one)).toContain('member.passkey_removed')
  })

  test('that is the only way in stays; without a password, a fresh sign-in is the proof', async () => {
    const { one, authenticator, added } = await withPasskey()
    await select(w, `update members set password_hash = null where id = ${one.id}`)
    const refused = await remove(one, added.body.id)
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('only way')])
    w.advance('10 minutes')
    expect((await begin(one)).status).toBe(403)
    const fresh = { ...one, headers: pageWith(await enter(authenticator)) }
    expect((await begin(fresh)).status).toBe(200)
  })

  test('stays as the only way in also if the other one is removed at the same time', async () => {
    const { one, authenticator, added } = await withPasskey()
    const other = openAuthenticator()
    const second = (await add(one, other)).body
    await select(w, `update members set password_hash = null where id = ${one.id}`)
    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // Both wait for the audit log, which is written last, if they do not wait for each other.
    const holding = inTx(w.ctx, async (ctx) => {
      await ctx.db.run(sql`select from audit_chains where project_id = 0 and organization_id = ${w.organisationId} for update`)
      held.resolve()
      await release.promise
    })
    await held.promise
    const removing = Promise.all([added.body.id, second.id].map((id) => remove(one, id)))
    const waiting = () =>
      w.db.value(
        Count,
        sql`select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    await vi.waitFor(async () => expect(await waiting()).toBe(2), { timeout: 20_000 })
    release.resolve()
    await holding
    expect((await removing).map(({ status }) => status).toSorted()).toEqual([204, 422])
    const entered = await Promise.all([authenticator, other].map(async (authenticator) => (await enter(authenticator)).status))
    expect(entered.toSorted()).toEqual([200, 401])
  })

  test.each([
    [{}, 422],
    [{ OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'x' }, 204],
    [{ OIDC_ISSUER: 'https://other.example.com', OIDC_CLIENT_ID: 'x' }, 422],
  ])('that is the only way in beside a sign-in at https://id.example.com/ with the settings %j is removed with %i', async (env, status) => {
    await using w = await world({ env: { BASE_URL: ORIGIN, ...env } })
    const one = await member(w, 'member')
    const { options } = (await w.post('/api/console/profile/passkeys/begin', { current_password: PASSWORD }, as(one))).body
    const added = await w.post('/api/console/profile/passkeys', { name: 'Laptop', ...openAuthenticator().create(options, ORIGIN) }, as(one))
    await select(w, `update members set password_hash = null where id = ${one.id}`)
    await select(w, "delete from member_identities where issuer = 'https://id.example.com/'")
    await select(
      w,
      `insert into member_identities (issuer, subject, member_id, organization_id, created_at, used_at)
       values ('https://id.example.com/', 'kim', ${one.id}, ${w.organisationId}, now(), now())`,
    )
    expect((await w.post(`/api/console/profile/passkeys/${added.body.id}/remove`, {}, as(one))).status).toBe(status)
  })

  test('ends with the link of an operator', async () => {
    const { one, authenticator } = await withPasskey()
    const token = String(await operatorLink(w.ctx, one.email)).split('#token=')[1]
    expect((await enter(authenticator)).status).toBe(401)
    const reset = await w.post('/api/console/reset-password', { token, password: 'another four words' }, { key: null })
    expect([reset.status, (await signIn(w, one.email, 'another four words')).status]).toEqual([204, 200])
  })
})

test('challenges that nobody answered are deleted', async () => {
  await challenge()
  w.advance('6 minutes')
  await w.drain('members.purge')
  expect(await select(w, 'select challenge_hash from member_challenges')).toEqual([])
})
