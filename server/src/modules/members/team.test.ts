import { describe, expect, test } from 'vitest'
import { type Member, member, PASSWORD, pageWith, signIn } from '../../../test/members.ts'
import { openRelay } from '../../../test/relay.ts'
import { select } from '../../../test/select.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { systemClock } from '../../infra/runtime/clock.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { codeAt, stepAt } from '../../lib/totp.ts'
import { claimMail, delayMail, deleteMail, nextMailAt } from './mails.queries.ts'
import { relayOf } from './mails.ts'
import { operatorLink } from './profile.ts'

const as = ({ headers }: Pick<Member, 'headers'>) => ({ key: null, headers })
const bodyOf = (name: string, more: object = {}) => ({ email: `${name}@team.example`, name, role: 'member', ...more })
const tokenIn = (url: string) => url.split('#token=')[1] as string

const accept = (w: World, url: string, more: object = {}) =>
  w.post('/api/console/accept-invitation', { token: tokenIn(url), password: PASSWORD, ...more }, { key: null })

const auditOf = async (w: World) =>
  (await w.get('/api/client/audit?limit=-1', { key: w.keys.organisation })).body.results.map(
    ({ action, actor }: { action: string; actor: { type: string; name: string } }) => [action, actor.type, actor.name],
  )

const NEXT = 'another four words'

describe('an invitation', () => {
  test('lets a member join once, with the roles that it names', async () => {
    await using w = await world()
    const admin = await member(w, 'admin')
    const invited = await w.post(
      '/api/console/members',
      bodyOf('ana', { projects: [{ project_id: w.projectId, role: 'editor' }] }),
      as(admin),
    )
    expect([invited.status, invited.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        email: 'ana@team.example',
        name: 'ana',
        role: 'member',
        projects: [{ project_id: w.projectId, role: 'editor' }],
        is_invited: true,
        has_totp: false,
        has_passkey: false,
        joined_at: null,
        active_at: null,
        created_at: expect.any(String),
        invitation_url: expect.stringMatching(/^http:\/\/carillon\.test\/accept-invitation#token=[\w-]{43}$/),
        is_mailed: false,
      },
    ])
    expect((await signIn(w, 'ana@team.example')).status).toBe(401)
    const joined = await accept(w, invited.body.invitation_url, { name: 'Ana Ng' })
    expect([joined.status, joined.body.member.name, joined.body.projects[0].role]).toEqual([200, 'Ana Ng', 'editor'])
    expect((await accept(w, invited.body.invitation_url)).body.error.reason).toBe('link_invalid')
    expect((await signIn(w, 'ana@team.example')).status).toBe(200)
    const { body } = await w.get(`/api/console/members/${invited.body.id}`, as(admin))
    expect([body.is_invited, body.joined_at === null, body.active_at === null]).toEqual([false, false, false])
    expect(await auditOf(w)).toContainEqual(['member.created', 'member', 'A admin'])
  })

  test('can be made again, which ends the earlier link, until the member has joined', async () => {
    await using w = await world()
    const owner = await member(w, 'owner')
    const first = (await w.post('/api/console/members', bodyOf('ben'), as(owner))).body
    const again = await w.post(`/api/console/members/${first.id}/invite`, undefined, as(owner))
    expect((await accept(w, first.invitation_url)).status).toBe(401)
    expect((await accept(w, again.body.invitation_url)).status).toBe(200)
    expect((await w.post(`/api/console/members/${first.id}/invite`, undefined, as(owner))).status).toBe(422)
  })

  test('is of no use once the member has joined with a link of the operator', async () => {
    await using w = await world()
    const { invitation_url } = (await w.post('/api/console/members', bodyOf('dot'), as(await member(w, 'admin')))).body
    const token = tokenIn((await operatorLink(w.ctx, 'dot@team.example')) as string)
    expect((await w.post('/api/console/reset-password', { token, password: NEXT }, { key: null })).status).toBe(204)
    const refused = await accept(w, invitation_url)
    expect([refused.status, refused.body.error.reason, refused.headers['set-cookie']]).toEqual([401, 'link_invalid', undefined])
    expect((await signIn(w, 'dot@team.example', NEXT)).status).toBe(200)
  })

  test('ends when the role becomes higher, because others may have the link, and not when it becomes lower', async () => {
    await using w = await world()
    const [owner, admin] = [await member(w, 'owner'), await member(w, 'admin')]
    const invite = async (name: string, role: string, by: Member) =>
      (await w.post('/api/console/members', bodyOf(name, { role }), as(by))).body
    const [fin, hal] = [await invite('fin', 'member', admin), await invite('hal', 'owner', owner)]
    expect((await w.patch(`/api/console/members/${fin.id}`, { role: 'owner' }, as(owner))).status).toBe(200)
    expect((await w.patch(`/api/console/members/${hal.id}`, { role: 'admin' }, as(owner))).status).toBe(200)
    expect((await accept(w, fin.invitation_url)).body.error.reason).toBe('link_invalid')
    expect((await accept(w, hal.invitation_url)).body.role).toBe('admin')
    const again = `/api/console/members/${fin.id}/invite`
    expect((await w.post(again, undefined, as(admin))).status).toBe(403)
    expect((await accept(w, (await w.post(again, undefined, as(owner))).body.invitation_url)).body.role).toBe('owner')
  })

  test('is refused for an address that a member has, in any case, and for projects of others', async () => {
    await using w = await world()
    const foreign = await w.other()
    const owner = await member(w, 'owner')
    expect((await w.post('/api/console/members', bodyOf('cat'), as(owner))).status).toBe(201)
    expect((await w.post('/api/console/members', { ...bodyOf('cat'), email: 'CAT@team.example' }, as(owner))).status).toBe(409)
    const elsewhere = bodyOf('dan', { projects: [{ project_id: foreign.projectId, role: 'admin' }] })
    const refused = await w.post('/api/console/members', elsewhere, as(owner))
    expect([refused.status, refused.body.error.param]).toEqual([422, 'projects[0].project_id'])
  })

  test('is sent through the relay of the server', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const owner = await member(w, 'owner')
    const { body } = await w.post('/api/console/members', bodyOf('eve'), as(owner))
    expect(body.is_mailed).toBe(true)
    relay.answer({ at: 'RCPT', code: 451, text: 'later' })
    await w.drain('members.mail')
    expect(relay.mails).toHaveLength(0)
    w.advance('1 minute')
    await w.drain('members.mail')
    expect(relay.mails.map(({ to, from }) => [to, from])).toEqual([[['eve@team.example'], 'carillon@example.com']])
    expect(relay.mails[0]?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')).toContain(body.invitation_url)
    expect(await select(w, 'select id from member_mails')).toEqual([])
  })

  test('is not sent any more once another one replaced it or the member was removed', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const owner = await member(w, 'owner')
    const [gia, hal] = [
      (await w.post('/api/console/members', bodyOf('gia'), as(owner))).body,
      (await w.post('/api/console/members', bodyOf('hal'), as(owner))).body,
    ]
    const again = (await w.post(`/api/console/members/${gia.id}/invite`, undefined, as(owner))).body
    await w.delete(`/api/console/members/${hal.id}`, as(owner))
    await w.drain('members.mail')
    expect(relay.mails.map(({ to }) => to)).toEqual([['gia@team.example']])
    expect(relay.mails[0]?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')).toContain(again.invitation_url)
    expect(await select(w, 'select id from member_mails')).toEqual([])
  })

  test('is given up after an hour by a server whose relay was removed, and so is a lost password, without a link', async () => {
    await using relay = await openRelay()
    const env = { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' }
    await using w = await world({ env })
    const owner = await member(w, 'owner')
    await w.post('/api/console/members', bodyOf('ivy'), as(owner))
    await w.post('/api/console/lost-password', { email: owner.email }, { key: null })
    await using later = await world({ own: true })
    for (const minutes of [0, 1, 2, 4, 8, 16]) {
      later.advance(`${minutes} minutes`)
      await later.drain('members.mail')
    }
    expect(await select(w, 'select id from member_mails')).toEqual([])
    expect(await select(w, `select kind from member_links where kind = 'password'`)).toEqual([])
    w.advance('31 minutes')
    await w.drain('members.mail')
    expect(relay.mails).toEqual([])
  })
})

describe('roles', () => {
  test('change with the next request, which gets a new token', async () => {
    await using w = await world()
    const [owner, other] = [await member(w, 'owner'), await member(w, 'member', 'support')]
    const path = `/api/console/members/${other.id}`
    const changed = await w.patch(path, { projects: [{ project_id: w.projectId, role: 'publisher' }] }, as(owner))
    expect(changed.body.projects).toEqual([{ project_id: w.projectId, role: 'publisher' }])
    const { body, headers } = await w.get('/api/console/session', as(other))
    expect([body.projects[0].role, headers['set-cookie'] === undefined]).toEqual(['publisher', false])
    expect((await w.patch(path, { role: 'admin' }, as(owner))).body.role).toBe('admin')
    expect((await w.get('/api/console/session', as(other))).body.projects[0].role).toBe('admin')
  })

  test('in a project that was deleted are gone at once, and others can be changed as they were read', async () => {
    await using w = await world()
    const [admin, kim] = [await member(w, 'admin'), await member(w, 'member', 'support')]
    const { id } = (await w.post('/api/client/projects', { name: 'Shop', locale: 'en', timezone: 'UTC' }, { key: w.keys.organisation }))
      .body
    const path = `/api/console/members/${kim.id}`
    const roles = [w.projectId, id].map((project_id) => ({ project_id, role: 'support' }))
    expect((await w.patch(path, { projects: roles }, as(admin))).body.projects).toEqual(roles)
    const deleted = await w.request('DELETE', `/api/client/projects/${id}`, { name: 'Shop' }, { key: w.keys.organisation })
    expect(deleted.status, deleted.text).toBe(204)
    const { projects } = (await w.get(path, as(admin))).body
    expect(projects).toEqual(roles.slice(0, 1))
    const listed = (await w.get('/api/console/members', as(admin))).body.results
    expect(listed.find((one: { id: number }) => one.id === kim.id).projects).toEqual(projects)
    const renamed = await w.patch(path, { name: 'Kim', projects }, as(admin))
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Kim'])
  })

  test('of an owner are for owners, and the last one stays', async () => {
    await using w = await world()
    const [owner, admin] = [await member(w, 'owner'), await member(w, 'admin')]
    for (const reply of [
      await w.post('/api/console/members', bodyOf('fay', { role: 'owner' }), as(admin)),
      await w.patch(`/api/console/members/${admin.id}`, { role: 'owner' }, as(admin)),
      await w.patch(`/api/console/members/${owner.id}`, { name: 'x' }, as(admin)),
      await w.delete(`/api/console/members/${owner.id}`, as(admin)),
    ]) {
      expect([reply.status, reply.body.error.reason]).toEqual([403, 'role'])
    }
    expect((await w.patch(`/api/console/members/${owner.id}`, { role: 'member' }, as(owner))).status).toBe(422)
    expect((await w.delete(`/api/console/members/${owner.id}`, as(owner))).status).toBe(422)
    const invited = (await w.post('/api/console/members', bodyOf('gus', { role: 'owner' }), as(owner))).body
    expect((await w.delete(`/api/console/members/${owner.id}`, as(owner))).status).toBe(422)
    await accept(w, invited.invitation_url)
    expect((await w.delete(`/api/console/members/${owner.id}`, as(owner))).status).toBe(204)
  })
})

test('an owner renames the organisation, which the audit log has before and after', async () => {
  await using w = await world()
  const owner = await member(w, 'owner')
  const rename = (name: string, by: Member) => w.patch('/api/console/organisation', { name }, as(by))
  expect((await rename('Magpie', await member(w, 'admin'))).status).toBe(403)
  const renamed = await rename(' Bellbird ', owner)
  expect([renamed.status, renamed.body]).toEqual([200, { id: w.organisationId, name: 'Bellbird' }])
  expect((await w.get('/api/console/session', as(owner))).body.organisation.name).toBe('Bellbird')
  const { results } = (await w.get('/api/client/audit?limit=1', { key: w.keys.organisation })).body
  expect([results[0].action, results[0].after]).toEqual(['organisation.updated', { name: 'Bellbird' }])
})

describe('a member who was removed', () => {
  test('is signed out at once, on every way, and the audit log keeps the name', async () => {
    await using w = await world()
    const [owner, other] = [await member(w, 'owner'), await member(w, 'member', 'editor')]
    const inProject = as({ headers: { ...other.headers, 'carillon-project': String(w.projectId) } })
    expect((await w.post('/api/client/lists', { name: 'x', type: 'static' }, inProject)).status).toBe(201)
    expect((await w.delete(`/api/console/members/${other.id}`, as(owner))).status).toBe(204)
    expect((await w.get('/api/client/lists', inProject)).status).toBe(401)
    expect((await signIn(w, other.email)).status).toBe(401)
    expect((await w.get(`/api/console/members/${other.id}`, as(owner))).status).toBe(404)
    const live = await select(w, `select id from api_keys where member_id = ${other.id} and archived_at is null`)
    expect(live).toEqual([])
    expect(await auditOf(w)).toContainEqual(['list.created', 'member', 'A member'])
    expect((await w.post('/api/console/members', { ...bodyOf('x'), email: other.email }, as(owner))).status).toBe(201)
  })

  test('of another organisation cannot be seen', async () => {
    await using w = await world()
    const foreign = await w.other()
    const [owner, stranger] = [await member(w, 'owner'), await member(w, 'owner', undefined, foreign)]
    for (const reply of [
      await w.get(`/api/console/members/${stranger.id}`, as(owner)),
      await w.patch(`/api/console/members/${stranger.id}`, { name: 'x' }, as(owner)),
      await w.delete(`/api/console/members/${stranger.id}`, as(owner)),
      await w.post(`/api/console/members/${stranger.id}/invite`, undefined, as(owner)),
    ])
      expect(reply.status).toBe(404)
    const { results } = (await w.get('/api/console/members', as(owner))).body
    expect(results.map(({ id }: { id: number }) => id)).toEqual([owner.id])
  })
})

describe('a password', () => {
  test('is changed with the one before, and other sessions end', async () => {
    await using w = await world()
    const one = await member(w, 'member')
    const other = pageWith(await signIn(w, one.email))
    const change = (current_password: string, password: string) =>
      w.put('/api/console/profile/password', { current_password, password }, as(one))
    expect((await change('wrong', NEXT)).status).toBe(403)
    expect((await change(PASSWORD, 'short')).status).toBe(422)
    expect((await change(PASSWORD, NEXT)).status).toBe(204)
    expect((await w.get('/api/console/session', as({ headers: other }))).status).toBe(401)
    expect((await w.get('/api/console/session', as(one))).status).toBe(200)
    expect([(await signIn(w, one.email)).status, (await signIn(w, one.email, NEXT)).status]).toEqual([401, 200])
    expect(await auditOf(w)).toContainEqual(['member.password_changed', 'member', 'A member'])
  })

  test('that was lost is set with a link by email; the reply is the same for an unknown address', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    expect((await w.get('/api/console/sign-in', { key: null })).body.can_mail).toBe(true)
    const one = await member(w, 'member')
    const lose = (email: string) => w.post('/api/console/lost-password', { email }, { key: null })
    const replies = [await lose(one.email), await lose('nobody@example.com'), await lose(one.email)]
    expect(replies.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([204, '']))
    expect(await select(w, 'select id from member_mails')).toHaveLength(3)
    await w.drain('members.mail')
    expect(relay.mails.map(({ to }) => to)).toEqual([[one.email]])
    const [, token] = /#token=([\w-]{43})/.exec(relay.mails[0]?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '') ?? []
    const reset = () => w.post('/api/console/reset-password', { token, password: NEXT }, { key: null })
    expect((await reset()).status).toBe(204)
    expect((await reset()).body.error.reason).toBe('link_invalid')
    expect((await w.get('/api/console/session', as(one))).status).toBe(401)
    expect((await signIn(w, one.email, NEXT)).status).toBe(200)
  })

  test('that was lost is set with a link that is mailed with the next attempt when the relay refuses one, and not twice', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const one = await member(w, 'member')
    const lose = () => w.post('/api/console/lost-password', { email: one.email }, { key: null })
    const mailed = async () => {
      await w.drain('members.mail')
      return relay.mails.length
    }
    await lose()
    relay.answer({ at: 'RCPT', code: 451, text: 'later' }, { at: 'BODY', cut: true })
    expect(await mailed()).toBe(0)
    w.advance('1 minute')
    expect(await mailed()).toBe(0)
    w.advance('2 minutes')
    expect(await mailed()).toBe(1)
    const [, token] = /#token=([\w-]{43})/.exec(relay.mails[0]?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '') ?? []
    await lose()
    expect(await mailed()).toBe(1)
    expect((await w.post('/api/console/reset-password', { token, password: NEXT }, { key: null })).status).toBe(204)
  })

  test('that was lost and that a process mails is not claimed by another one, whose clock is ahead', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const one = await member(w, 'member')
    await w.post('/api/console/lost-password', { email: one.email }, { key: null })
    /** A process on a machine of its own. */
    const processAt = (aheadMs: number) => {
      const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
      return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
    }
    const [right, ahead] = [processAt(0), processAt(10 * MINUTE_MS)]
    const claim = (ctx: Ctx) => claimMail(ctx, new Date(ctx.clock.now().getTime() + 5 * MINUTE_MS))
    const mail = await claim(right)
    expect(mail).toMatchObject({ attempts: 1 })
    expect(await claim(ahead)).toBeUndefined()
    expect((await nextMailAt(ahead))?.getTime()).toBeGreaterThan(ahead.clock.now().getTime())
    await deleteMail(right, mail?.id as number)
  })

  test.each([
    ['behind', -10 * MINUTE_MS],
    ['ahead', 20 * MINUTE_MS],
  ])('that was lost and that a relay deferred is tried again in time where the clock is %s that of the database', async (_, aheadMs) => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const one = await member(w, 'member')
    await w.post('/api/console/lost-password', { email: one.email }, { key: null })
    // As if it had been asked for by now.
    await w.db.run(sql`update member_mails set due_at = now() - interval '1 hour'`)
    const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
    const ctx = { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
    const after = (ms: number) => new Date(now().getTime() + ms)
    const mail = await claimMail(ctx, after(5 * MINUTE_MS))
    await delayMail(ctx, mail?.id as number, after(MINUTE_MS))
    const nextMs = ((await nextMailAt(ctx)) as Date).getTime()
    expect(nextMs).toBeGreaterThan(now().getTime())
    expect(nextMs).toBeLessThanOrEqual(after(MINUTE_MS).getTime())
    await deleteMail(ctx, mail?.id as number)
  })

  test('that was lost can be asked for again as soon as the relay has refused the email for the last time', async () => {
    await using relay = await openRelay()
    await using w = await world({
      env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@example.com' },
    })
    const one = await member(w, 'member')
    const lose = () => w.post('/api/console/lost-password', { email: one.email }, { key: null })
    await lose()
    relay.answer(...Array.from({ length: 6 }, () => ({ at: 'RCPT', code: 451, text: 'later' }) as const))
    for (const minutes of [0, 1, 2, 4, 8, 16]) {
      w.advance(`${minutes} minutes`)
      await w.drain('members.mail')
    }
    expect(relay.mails).toHaveLength(0)
    await lose()
    await w.drain('members.mail')
    expect(relay.mails).toHaveLength(1)
  })

  test('that was lost is not mailed by a server without a relay', async () => {
    await using w = await world()
    const one = await member(w, 'member')
    expect((await w.get('/api/console/sign-in', { key: null })).body.can_mail).toBe(false)
    expect((await w.post('/api/console/lost-password', { email: one.email }, { key: null })).status).toBe(204)
    expect(await select(w, 'select id from member_mails')).toEqual([])
  })
})

describe('the second factor', () => {
  const bytesOf = (secret: string) => {
    const bits = [...secret].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('')
    return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  }

  async function withTotp(w: World) {
    const one = await member(w, 'member')
    const begin = (current_password: string) => w.post('/api/console/profile/totp/begin', { current_password }, as(one))
    expect((await begin('wrong')).status).toBe(403)
    const { secret } = (await begin(PASSWORD)).body
    const code = () => codeAt(bytesOf(secret), stepAt(w.clock.now()))
    const confirm = (code: string) => w.post('/api/console/profile/totp/confirm', { code }, as(one))
    expect((await signIn(w, one.email)).status).toBe(200)
    expect((await confirm('000000')).status).toBe(422)
    const { recovery_codes } = (await confirm(code())).body
    return { one, code, begin, recovery_codes: recovery_codes as string[] }
  }

  test('is asked for after the password, and each code is used once', async () => {
    await using w = await world()
    const { one, code, begin, recovery_codes } = await withTotp(w)
    expect(new Set(recovery_codes).size).toBe(10)
    expect((await begin(PASSWORD)).status).toBe(409)
    expect((await signIn(w, one.email, 'wrong')).body.error.reason).toBe('sign_in_failed')
    expect((await signIn(w, one.email)).body.error.reason).toBe('code_required')
    const used = code()
    expect((await signIn(w, one.email, PASSWORD, { code: used })).body.error.reason).toBe('code_invalid')
    w.advance('30 seconds')
    expect((await signIn(w, one.email, PASSWORD, { code: code() })).status).toBe(200)
    expect((await signIn(w, one.email, PASSWORD, { code: code() })).body.error.reason).toBe('code_invalid')
    const recovery = recovery_codes[0]?.toLowerCase()
    expect((await signIn(w, one.email, PASSWORD, { code: recovery })).status).toBe(200)
    expect((await signIn(w, one.email, PASSWORD, { code: recovery })).body.error.reason).toBe('code_invalid')
    expect((await w.get('/api/console/profile', as(one))).body).toMatchObject({
      has_totp: true,
      recovery_codes_left: 9,
      has_password: true,
    })
  })

  test('is removed with the password, and stored encrypted', async () => {
    await using w = await world()
    const { one } = await withTotp(w)
    const [row] = await select(w, `select totp_secret from members where id = ${one.id}`)
    expect(row?.totp_secret).toMatch(/^test\./)
    expect((await w.post('/api/console/profile/totp/remove', { current_password: 'wrong' }, as(one))).status).toBe(403)
    expect((await w.post('/api/console/profile/totp/remove', { current_password: PASSWORD }, as(one))).status).toBe(204)
    expect((await signIn(w, one.email)).status).toBe(200)
    expect((await auditOf(w)).map(([action]: string[]) => action)).toEqual(
      expect.arrayContaining(['member.second_factor_added', 'member.second_factor_removed']),
    )
  })

  test('and the password are lost: the link of an operator sets a password once, and removes the factor', async () => {
    await using w = await world()
    const { one } = await withTotp(w)
    expect(await operatorLink(w.ctx, 'nobody@example.com')).toBeNull()
    const token = tokenIn((await operatorLink(w.ctx, one.email)) as string)
    const reset = () => w.post('/api/console/reset-password', { token, password: NEXT }, { key: null })
    expect([(await reset()).status, (await reset()).body.error.reason]).toEqual([204, 'link_invalid'])
    expect([(await signIn(w, one.email)).status, (await signIn(w, one.email, NEXT)).status]).toEqual([401, 200])
    expect((await auditOf(w)).map(([action]: string[]) => action)).toContain('member.reset')
  })

  test('is guessed as slowly as a password', async () => {
    await using w = await world()
    const { one, code } = await withTotp(w)
    for (let count = 0; count < 10; count++) await signIn(w, one.email, PASSWORD, { code: '000000' })
    w.advance('29 seconds')
    expect((await signIn(w, one.email, PASSWORD, { code: code() })).status).toBe(429)
  })
})

test.each([
  ['smtp://relay.example', { host: 'relay.example', port: 587, tls: 'opportunistic', connections: 1 }],
  ['smtps://relay.example', { host: 'relay.example', port: 465, tls: 'implicit', connections: 1 }],
  [
    'smtp://us%40er:p%3Aw@relay.example:2525',
    { host: 'relay.example', port: 2525, tls: 'starttls', connections: 1, username: 'us@er', password: 'p:w' },
  ],
])('the relay of %s', (url, relay) => expect(relayOf(url)).toEqual(relay))
