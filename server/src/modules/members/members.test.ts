import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { besides } from '../../../test/besides.ts'
import { type Member, member, PASSWORD, pageWith, signIn } from '../../../test/members.ts'
import { select } from '../../../test/select.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { ownerLink } from './index.ts'
import { hashPassword } from './passwords.ts'
import { operatorLink } from './profile.ts'
import { requireRenewal } from './sessions.queries.ts'

const tokenOf = async (w: World) => String(await ownerLink(w.ctx, w.organisationId)).split('#token=')[1] as string

const owner = { name: 'Kim', password: PASSWORD }

const createOwner = (w: World, token: string, more: { email: string; password?: string }) =>
  w.post('/api/console/owner', { ...owner, token, ...more }, { key: null })

const session = (w: World, headers: Record<string, string>) => w.get('/api/console/session', { key: null, headers })

describe('presence', () => {
  test('members see who else has the same object open, until those leave or say nothing any more', async () => {
    await using w = await world()
    const [ana, kim] = [await member(w, 'member', 'editor'), await member(w, 'owner')]
    const outsider = await member(w, 'member')
    const note = (who: Member, more: object = {}) =>
      w.put(
        '/api/console/presence',
        { project_id: w.projectId, object: 'campaign', object_id: 7, ...more },
        { key: null, headers: who.headers },
      )
    const othersOf = async (who: Member, more?: object) => (await note(who, more)).body.others.map(({ name }: { name: string }) => name)
    expect(await othersOf(ana)).toEqual([])
    const since = w.clock.now().toISOString()
    w.advance(15_000)
    expect((await note(kim)).body.others).toEqual([{ member_id: ana.id, name: 'A member', since }])
    expect(await othersOf(kim, { object: 'journey' })).toEqual([])
    // The same page says it again: since then it was never away.
    await note(ana)
    w.advance(30_000)
    expect((await note(kim)).body.others).toEqual([{ member_id: ana.id, name: 'A member', since }])
    w.advance(11_000)
    expect(await othersOf(kim)).toEqual([])
    expect(await othersOf(ana)).toEqual(['A owner'])
    await note(kim, { is_here: false })
    expect(await othersOf(ana)).toEqual([])
    expect((await note(outsider)).status).toBe(404)
  })

  test('who opens an object only if no other has it open gets it when the other leaves, and keeps it then', async () => {
    await using w = await world()
    const [ana, kim] = [await member(w, 'owner'), await member(w, 'owner')]
    const note = async (who: Member, more: object = {}) => {
      const about = { project_id: w.projectId, object: 'campaign', object_id: 7 }
      const { body } = await w.put('/api/console/presence', { ...about, ...more }, { key: null, headers: who.headers })
      return [body.is_here, body.others.length]
    }
    const alone = { only_if_alone: true }
    expect(await note(ana, alone)).toEqual([true, 0])
    expect(await note(kim, alone)).toEqual([false, 1])
    // Who waits is not there for the other.
    expect(await note(ana, alone)).toEqual([true, 0])
    expect(await note(ana, { is_here: false })).toEqual([false, 0])
    expect(await note(kim, alone)).toEqual([true, 0])
    expect(await note(ana)).toEqual([true, 1])
    expect(await note(kim, alone)).toEqual([true, 1])
  })

  test('of two members who open an object at the same time only if no other has it open, one gets it', async () => {
    await using w = await world()
    const members = [await member(w, 'owner'), await member(w, 'owner')]
    // Often enough for them to meet.
    for (let object_id = 1; object_id <= 10; object_id++) {
      const body = { project_id: w.projectId, object: 'campaign', object_id, only_if_alone: true }
      const replies = await Promise.all(members.map(({ headers }) => w.put('/api/console/presence', body, { key: null, headers })))
      expect(replies.filter((reply) => reply.body.is_here)).toHaveLength(1)
    }
  })
})

describe('the first link', () => {
  test('creates the owner, who is signed in at once', async () => {
    await using w = await world()
    const reply = await createOwner(w, await tokenOf(w), { email: 'Kim@Example.com' })
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        member: { id: expect.any(Number), email: 'kim@example.com', name: 'Kim' },
        organisation: { id: w.organisationId, name: 'Test' },
        role: 'owner',
        projects: [
          {
            id: w.projectId,
            name: 'Test',
            role: 'admin',
            environment: 'sandbox',
            has_faults: false,
            locale: 'en-AU',
            timezone: 'Australia/Sydney',
          },
        ],
        expires_at: expect.any(String),
      },
    ])
    expect((await session(w, pageWith(reply))).body).toEqual(reply.body)
  })

  test('can be used once, within 24 hours, and while there is no owner', async () => {
    await using w = await world()
    const [first, second] = [await tokenOf(w), await tokenOf(w)]
    expect((await createOwner(w, first, { email: 'lee@example.com' })).status).toBe(200)
    for (const token of [first, second, 'unknown']) {
      const refused = await createOwner(w, token, { email: 'eve@example.com' })
      expect([refused.status, refused.body.error.reason]).toEqual([401, 'link_invalid'])
    }
    expect(await ownerLink(w.ctx, w.organisationId)).toBeNull()

    await using other = await world()
    const token = await tokenOf(other)
    other.advance('25 hours')
    expect((await createOwner(other, token, { email: 'ash@example.com' })).body.error.reason).toBe('link_invalid')
  })

  test('is not spent by a password that is refused', async () => {
    await using w = await world()
    const token = await tokenOf(w)
    expect((await createOwner(w, token, { email: 'max@example.com', password: 'short' })).status).toBe(422)
    expect((await createOwner(w, token, { email: 'max@example.com' })).status).toBe(200)
  })
})

describe('signing in', () => {
  test('takes the address in any case, and gives a new cookie each time', async () => {
    await using w = await world()
    const { email } = await member(w, 'member')
    const [one, two] = [await signIn(w, email), await signIn(w, email.toUpperCase())]
    expect([one.status, two.status]).toEqual([200, 200])
    expect(pageWith(one).cookie).not.toBe(pageWith(two).cookie)
    expect(one.headers['set-cookie']).toMatch(/^carillon=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/)
  })

  test('over HTTPS, the cookie has the prefix that binds it to the host', async () => {
    await using w = await world({ env: { TRUST_PROXY: '127.0.0.1' } })
    const { email } = await member(w, 'member')
    const https = { 'x-forwarded-proto': 'https' }
    const reply = await w.post('/api/console/sign-in', { email, password: PASSWORD }, { key: null, headers: https })
    expect(reply.headers['set-cookie']).toMatch(/^__Host-carillon=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/)
    const cookie = pageWith(reply)
    expect((await session(w, { ...cookie, ...https })).status).toBe(200)
    expect((await session(w, cookie)).body.error.reason).toBe('session_missing')
  })

  test('does not tell an unknown address from a wrong password', async () => {
    await using w = await world()
    const { email } = await member(w, 'member')
    const replies = [await signIn(w, email, 'not the password'), await signIn(w, 'nobody@example.com')]
    for (const reply of replies) {
      expect([reply.status, reply.body.error.reason, reply.headers['set-cookie']]).toEqual([401, 'sign_in_failed', undefined])
    }
    expect(replies[0]?.body.message).toBe(replies[1]?.body.message)
  })

  test.each(['member', 'unknown'])('waits after ten failures of a %s address, longer each time', async (whose) => {
    await using w = await world()
    const email = whose === 'member' ? (await member(w, 'member')).email : 'waiting@example.com'
    const fail = async () => (await signIn(w, email, 'wrong')).status
    for (let count = 0; count < 10; count++) expect(await fail()).toBe(401)
    const blocked = await signIn(w, email)
    expect([blocked.status, blocked.headers['retry-after']]).toEqual([429, '30'])
    w.advance('30 seconds')
    expect(await fail()).toBe(401)
    expect((await signIn(w, email)).headers['retry-after']).toBe('60')
    w.advance('1 minute')
    expect((await signIn(w, email)).status).toBe(whose === 'member' ? 200 : 401)
    if (whose === 'member') expect(await fail()).toBe(401)
  })

  test('has ten attempts also of those that come at the same time', async () => {
    await using w = await world()
    const { email } = await member(w, 'member')
    const replies = await Promise.all(Array.from({ length: 30 }, () => signIn(w, email, 'wrong')))
    const withStatus = (status: number) => replies.filter((reply) => reply.status === status)
    expect([withStatus(401).length, withStatus(429).length]).toEqual([10, 20])
    expect(new Set(withStatus(429).map(({ headers }) => headers['retry-after']))).toEqual(new Set(['30']))
  })

  test('waits at most 15 minutes, however many attempts failed', async () => {
    await using w = await world()
    const fail = () => signIn(w, 'patient@example.com', 'wrong')
    const waits = []
    for (let count = 0; count < 9; count++) await fail()
    for (let count = 0; count < 7; count++) {
      expect((await fail()).status).toBe(401)
      const seconds = Number((await fail()).headers['retry-after'])
      waits.push(seconds)
      w.advance(seconds * 1000)
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900])
  })

  test.each(['signing in', 'signing in, which makes the hash again', 'changing it'])(
    'with the password that is being reset is refused: %s',
    async (way) => {
      await using w = await world()
      await using costly = await world({ env: { PASSWORD_HASH_KIB: '16' } })
      const { email, id, headers } = await member(w, 'member')
      const token = String(await operatorLink(w.ctx, email)).split('#token=')[1]
      const client = new pg.Client({ connectionString: w.databaseUrl })
      await client.connect()
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const waitsFor = async (pid: unknown) =>
        vi.waitFor(async () => {
          const [found] = await select(w, `select pid from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`)
          if (!found) throw new Error('Nothing waits.')
          return found.pid
        }, SOON)
      // The reset has replaced the password and waits to end the sessions; the other request waits for the reset.
      await client.query('begin')
      await client.query(`select from member_sessions where member_id = ${id} for update`)
      const reset = w.post('/api/console/reset-password', { token, password: 'another four words' }, { key: null })
      const resetPid = await waitsFor(rows[0].pid)
      const late =
        way === 'changing it'
          ? w.put('/api/console/profile/password', { current_password: PASSWORD, password: 'one more of these' }, { key: null, headers })
          : signIn(way === 'signing in' ? w : costly, email)
      await waitsFor(resetPid)
      await client.query('commit')
      await client.end()
      expect((await reset).status).toBe(204)
      const refused = await late
      expect([refused.status, refused.headers['set-cookie']]).toEqual([way === 'changing it' ? 403 : 401, undefined])
      expect(await select(w, `select id from member_sessions where member_id = ${id}`)).toEqual([])
      expect((await signIn(w, email, 'another four words')).status).toBe(200)
    },
  )

  test('which makes the hash again does not have a change of the password refused', async () => {
    await using w = await world()
    const { email, id, headers } = await member(w, 'member')
    const again = await hashPassword(w.ctx, PASSWORD)
    const change = { current_password: PASSWORD, password: 'one more of these' }
    const changed = await besides(w, sql`update members set password_hash = ${again} where id = ${id}`, () =>
      w.put('/api/console/profile/password', change, { key: null, headers }),
    )
    expect(changed.status, changed.text).toBe(204)
    expect((await signIn(w, email, change.password)).status).toBe(200)
  })

  test('is limited for each client address', async () => {
    await using w = await world({ env: { RATE_SIGN_IN_PER_MIN: '2' } })
    const statuses = []
    for (const name of ['a', 'b', 'c']) statuses.push((await signIn(w, `${name}@example.com`)).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  test('stores a hash of the password and of the token only, and replaces a hash of another cost', async () => {
    await using w = await world()
    const { email, id } = await member(w, 'member')
    const [row] = await select(w, `select password_hash as hash from members where id = ${id}`)
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=8,t=2,p=1\$/)
    await using costly = await world({ env: { PASSWORD_HASH_KIB: '16' } })
    const replies = await Promise.all([signIn(costly, email), signIn(costly, email), signIn(costly, email)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    const [now] = await select(w, `select password_hash as hash from members where id = ${id}`)
    expect(now?.hash).toMatch(/^\$argon2id\$v=19\$m=16,/)
    const stored = JSON.stringify(await select(w, 'select token_hash from member_sessions'))
    for (const reply of replies) expect(stored).not.toContain(String(pageWith(reply).cookie).split('=')[1])
  })
})

describe('a session', () => {
  test('ends when it was not used for 12 hours, and after 7 days in any case', async () => {
    await using w = await world()
    const { headers } = await member(w, 'member')
    for (let day = 0; day < 13; day++) {
      w.advance('11 hours')
      expect((await session(w, headers)).status).toBe(200)
    }
    w.advance('13 hours')
    expect((await session(w, headers)).body.error.reason).toBe('session_invalid')
    const fresh = await member(w, 'member')
    for (let uses = 0; uses < 16; uses++) {
      w.advance('10 hours')
      expect((await session(w, fresh.headers)).status).toBe(200)
    }
    w.advance('9 hours')
    expect((await session(w, fresh.headers)).body.error.reason).toBe('session_invalid')
    await w.drain('members.purge')
    expect(await select(w, 'select id from member_sessions')).toEqual([])
  })

  test('says when it ends, which is no use of it: the end comes nearer, and stays within 7 days', async () => {
    await using w = await world()
    const { headers } = await member(w, 'member')
    const start = w.clock.now().getTime()
    const inHours = (hours: number) => new Date(start + hours * 3_600_000).toISOString()
    const end = async () => (await w.get('/api/console/session/end', { key: null, headers })).body
    const latest_expires_at = inHours(168)
    expect(await end()).toEqual({ expires_at: inHours(12), latest_expires_at, remaining_seconds: 43_200 })
    w.advance('11 hours')
    expect(await end()).toEqual({ expires_at: inHours(12), latest_expires_at, remaining_seconds: 3600 })
    await session(w, headers)
    expect(await end()).toEqual({ expires_at: inHours(23), latest_expires_at, remaining_seconds: 43_200 })
    for (let uses = 0; uses < 15; uses++) {
      w.advance('10 hours')
      await session(w, headers)
    }
    expect(await end()).toEqual({ expires_at: latest_expires_at, latest_expires_at, remaining_seconds: 25_200 })
    w.advance('7 hours')
    expect((await end()).error.reason).toBe('session_invalid')
  })

  test('is not kept by requests that a page makes by itself, with a project or without, and by news of an editor that is only open', async () => {
    await using w = await world()
    const { headers, id } = await member(w, 'member', 'editor')
    const end = async () => (await w.get('/api/console/session/end', { key: null, headers })).body.expires_at
    const [expiresAt, activeAt] = [await end(), await select(w, `select active_at from members where id = ${id}`)]
    w.advance('2 minutes')
    const background = { ...headers, 'carillon-background': '1' }
    const about = { project_id: w.projectId, object: 'campaign', object_id: 7 }
    const replies = [
      await session(w, background),
      await w.get('/api/client/projects', { key: null, headers: background }),
      await w.get('/api/client/lists', { key: null, headers: { ...background, 'carillon-project': String(w.projectId) } }),
      await w.put('/api/console/presence', about, { key: null, headers: background }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect([await end(), await select(w, `select active_at from members where id = ${id}`)]).toEqual([expiresAt, activeAt])
    await w.get('/api/client/lists', { key: null, headers: { ...headers, 'carillon-project': String(w.projectId) } })
    expect(Date.parse(await end()) - Date.parse(expiresAt)).toBe(120_000)
    w.advance('2 minutes')
    await w.put('/api/console/presence', about, { key: null, headers })
    expect(Date.parse(await end()) - Date.parse(expiresAt)).toBe(240_000)
  })

  test('is listed, and revoked from another one; signing out ends its own', async () => {
    await using w = await world()
    const { headers, email } = await member(w, 'member')
    const second = pageWith(await signIn(w, email))
    const { results } = (await w.get('/api/console/sessions', { key: null, headers: second })).body
    expect(results.map(({ is_current }: { is_current: boolean }) => is_current)).toEqual([true, false])
    const stranger = await member(w, 'owner')
    const path = `/api/console/sessions/${results[1].id}`
    expect((await w.delete(path, { key: null, headers: stranger.headers })).status).toBe(404)
    expect((await w.delete(path, { key: null, headers: second })).status).toBe(204)
    expect((await session(w, headers)).status).toBe(401)
    const out = await w.post('/api/console/sign-out', undefined, { key: null, headers: second })
    expect([out.status, out.headers['set-cookie']]).toEqual([200, expect.stringMatching(/^carillon=; .*Max-Age=0/)])
    expect((await session(w, second)).status).toBe(401)
  })

  test('gets a new token when one is due; requests on their way may use the earlier one for a minute', async () => {
    await using w = await world()
    const { headers, id } = await member(w, 'member')
    await requireRenewal(w.ctx, w.organisationId, id)
    const reply = await session(w, headers)
    const renewed = pageWith(reply)
    expect([reply.status, renewed.cookie === headers.cookie]).toEqual([200, false])
    expect([(await session(w, headers)).status, (await session(w, renewed)).status]).toEqual([200, 200])
    expect((await session(w, headers)).headers['set-cookie']).toBeUndefined()
    w.advance('61 seconds')
    expect([(await session(w, headers)).status, (await session(w, renewed)).status]).toEqual([401, 200])
  })
})

describe('a page of another site', () => {
  test.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://carillon.test' }, 403],
    [{ origin: 'http://carillon.test' }, 200],
    [{ origin: 'https://behind.example', host: 'behind.example' }, 200],
    [{ origin: 'https://carillon.test.evil' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
  ])('%j: signing out is %i', async (sent, status) => {
    await using w = await world()
    const { headers } = await member(w, 'member')
    const reply = await w.post('/api/console/sign-out', undefined, {
      key: null,
      headers: { cookie: headers.cookie as string, ...(sent as Record<string, string>) },
    })
    expect([reply.status, reply.body?.error?.reason]).toEqual([status, status === 403 ? 'origin' : undefined])
  })

  test('cannot sign a browser in, nor write to the API', async () => {
    await using w = await world()
    const { email, headers } = await member(w, 'owner')
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect((await w.post('/api/console/sign-in', { email, password: PASSWORD }, { key: null, headers: foreign })).status).toBe(403)
    const project = { ...headers, 'carillon-project': String(w.projectId) }
    const write = (more: object) =>
      w.post('/api/client/lists', { name: 'x', type: 'static' }, { key: null, headers: { ...project, ...more } })
    expect((await write(foreign)).body.error.reason).toBe('origin')
    expect((await write({})).status).toBe(201)
  })
})

describe('the API with a session', () => {
  const inProject = (w: World, headers: Record<string, string>, id: number | string = w.projectId) => ({
    key: null,
    headers: { ...headers, 'carillon-project': String(id) },
  })

  test('has the rights of the role in the project that the header names', async () => {
    await using w = await world()
    const foreign = await w.other()
    const editor = await member(w, 'member', 'editor')
    expect((await w.post('/api/client/lists', { name: 'x', type: 'static' }, inProject(w, editor.headers))).status).toBe(201)
    const refused = await w.get('/api/client/keys', inProject(w, editor.headers))
    expect([refused.status, refused.body.error.reason, refused.body.message]).toEqual([
      403,
      'role',
      'Your role does not permit this operation.',
    ])
    const admin = await member(w, 'admin')
    expect((await w.get('/api/client/keys', inProject(w, admin.headers))).status).toBe(200)
    const none = await member(w, 'member')
    for (const [headers, id] of [
      [none.headers, w.projectId],
      [admin.headers, foreign.projectId],
      [admin.headers, 999_999_999],
      [admin.headers, 'x'],
    ] as const) {
      const reply = await w.get('/api/client/lists', inProject(w, headers, id))
      expect([reply.status, reply.body.error.reason]).toEqual([403, 'project'])
    }
  })

  test('is about the organisation without the header', async () => {
    await using w = await world()
    const { headers } = await member(w, 'member', 'editor')
    expect((await w.get('/api/client/projects', { key: null, headers })).body.results).toHaveLength(1)
    expect((await w.get(`/api/client/projects/${w.projectId}`, { key: null, headers })).body.role).toBe('editor')
    const project = { name: 'New', locale: 'en', timezone: 'UTC' }
    expect((await w.post('/api/client/projects', project, { key: null, headers })).body.error.reason).toBe('role')
    expect((await w.get('/api/client/lists', { key: null, headers })).body.error.reason).toBe('key_kind')
    const admin = await member(w, 'admin')
    expect((await w.post('/api/client/projects', project, { key: null, headers: admin.headers })).status).toBe(201)
  })

  test('shows a project to a member with a role in it, and to admins', async () => {
    await using w = await world()
    const { headers } = await member(w, 'member')
    expect((await w.get(`/api/client/projects/${w.projectId}`, { key: null, headers })).status).toBe(404)
    expect((await w.get('/api/client/projects', { key: null, headers })).body.results).toEqual([])
    const admin = await member(w, 'admin')
    expect((await w.get(`/api/client/projects/${w.projectId}`, { key: null, headers: admin.headers })).body.role).toBe('admin')
    expect((await w.get(`/api/client/projects/${w.projectId}`, { key: w.keys.member })).status).toBe(200)
  })

  test('a key in the Authorization header wins over the cookie', async () => {
    await using w = await world()
    const { headers } = await member(w, 'owner')
    const project = { ...headers, 'carillon-project': String(w.projectId) }
    expect((await w.get('/api/client/keys', { key: w.keys.support, headers: project })).body.error.reason).toBe('role')
    expect((await w.get('/api/client/keys', { key: 'sk_unknown_unknown_unknown', headers: project })).body.error.reason).toBe('key_invalid')
  })

  test('repeats a write under an Idempotency-Key once, and the key of the member is in no list', async () => {
    await using w = await world()
    const { headers } = await member(w, 'owner')
    const options = inProject(w, { ...headers, 'idempotency-key': 'one' })
    const [first, again] = [
      await w.post('/api/client/lists', { name: 'x', type: 'static' }, options),
      await w.post('/api/client/lists', { name: 'x', type: 'static' }, options),
    ]
    expect([first.status, again.status, again.body.id, again.headers['idempotent-replayed']]).toEqual([201, 201, first.body.id, 'true'])
    const other = await member(w, 'owner')
    const theirs = await w.post(
      '/api/client/lists',
      { name: 'y', type: 'static' },
      inProject(w, { ...other.headers, 'idempotency-key': 'one' }),
    )
    expect([theirs.status, theirs.headers['idempotent-replayed']]).toEqual([201, undefined])
    const [{ id } = { id: 0 }] = await select(
      w,
      'select id from api_keys where member_id is not null and project_id is not null order by id limit 1',
    )
    const { results } = (await w.get('/api/client/keys?limit=-1')).body
    expect(results.map((key: { id: number }) => key.id)).not.toContain(Number(id))
    for (const request of [w.get, w.delete]) expect((await request(`/api/client/keys/${id}`)).status).toBe(404)
    expect((await w.patch(`/api/client/keys/${id}`, { name: 'x' })).status).toBe(404)
  })
})
