/** What a project sees of mail sites and sets for them, and how processes share their limits. */
import { describe, expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { createProcessShare, createScheduler, recordSiteComplaint, recordSiteResults } from './index.ts'

const SITES = '/api/client/mail-sites'
const google = { site: 'google', label: 'Google' }
const NOTHING = { delivered: 0, deferred: 0, bounced: 0, last_reply: null }

const record = (ctx: ProjectCtx, ...results: Parameters<typeof recordSiteResults>[1]) => inTx(ctx, (ctx) => recordSiteResults(ctx, results))

const sites = async (w: World) => (await w.get(SITES)).body.results

describe('a mail site', () => {
  test('shows its limits, its last reply and what became of the attempts of 24 hours', async () => {
    await using w = await world()
    await record(w.ctx, { ...google, ...NOTHING, delivered: 7, last_reply: '452 4.2.2 Mailbox full' })
    w.advance('2 hours')
    await record(
      w.ctx,
      { ...google, delivered: 1, deferred: 1, bounced: 1, last_reply: null },
      { site: 'mx-1', label: 'example.org', ...NOTHING },
    )
    const shown = {
      ...google,
      state: 'open',
      state_until: null,
      state_reason: null,
      limits: { connections: 5, mails_per_connection: 50, connections_per_minute: 100, mails_per_second: 100 },
      project_limits: null,
      last_reply: '452 4.2.2 Mailbox full',
      last_replied_at: '2026-11-23T09:00:00.000Z',
      last_24_hours: { delivered: 8, deferred: 1, bounced: 1, deferral_share: 0.1, bounce_share: 0.1 },
    }
    expect((await w.get(`${SITES}/google`)).body).toEqual(shown)
    expect(await sites(w)).toMatchObject([shown, { label: 'example.org' }])
    w.advance('23 hours')
    expect((await w.get(`${SITES}/google`)).body.last_24_hours).toMatchObject({ delivered: 1, deferred: 1, bounced: 1 })
    expect((await w.get(`${SITES}?limit=1&sort=site`)).body.results).toMatchObject([{ site: 'google' }])
  })

  test('is not shown to other projects, with what it said', async () => {
    await using w = await world()
    const other = await w.other()
    await record(other.ctx, { ...google, ...NOTHING, delivered: 7, last_reply: '550 5.1.1 <kim@example.org> unknown' })
    expect(await sites(w)).toEqual([])
    expect((await w.get(`${SITES}/google`)).status).toBe(404)
  })

  test('has limits of the operator, and those of the project', async () => {
    await using w = await world({ env: { MTA_LIMITS: '{"google": {"connections": 2}}' } })
    const set = await w.put(`${SITES}/google`, { limits: { mails_per_second: 0.5, mails_at_once: 3 } })
    expect(set.body).toMatchObject({
      label: 'Google',
      limits: { connections: 2, mails_per_second: 100 },
      project_limits: { mails_per_second: 0.5, mails_at_once: 3 },
    })
    await record(w.ctx, { ...google, ...NOTHING, delivered: 1 })
    expect((await w.get(`${SITES}/google`)).body.project_limits).toEqual({ mails_per_second: 0.5, mails_at_once: 3 })
    expect((await w.put(`${SITES}/google`, { limits: null })).body.project_limits).toBe(null)
  })

  test.each<[string, string, unknown, number]>([
    ['an unknown site', 'mx-0', { limits: { mails_at_once: 1 } }, 404],
    ['no limits', 'google', {}, 400],
    ['a limit of 0', 'google', { limits: { mails_at_once: 0 } }, 422],
    ['an unknown limit', 'google', { limits: { connections: 1 } }, 400],
  ])('refuses %s', async (_, site, body, status) => {
    await using w = await world()
    expect((await w.put(`${SITES}/${site}`, body)).status).toBe(status)
  })

  test('keeps its counts for 30 days', async () => {
    await using w = await world()
    await record(w.ctx, { ...google, ...NOTHING, delivered: 1 })
    w.advance('31 days')
    await record(w.ctx, { ...google, ...NOTHING, delivered: 1 })
    expect(await select(w, 'select delivered from mail_site_hours where project_id = $1', [w.projectId])).toEqual([{ delivered: 1 }])
  })
})

describe('the days of sites', () => {
  const DAYS = '/api/client/mail-site-days'
  const complain = (ctx: ProjectCtx, site: string | null) => inTx(ctx, (ctx) => recordSiteComplaint(ctx, site))

  test('have what was delivered, bounced and complained about, the largest site first, for 29 days', async () => {
    await using w = await world()
    await record(
      w.ctx,
      { ...google, ...NOTHING, delivered: 3, bounced: 1 },
      { site: 'mx-1', label: 'example.org', ...NOTHING, delivered: 9 },
    )
    w.advance('2 hours')
    await record(w.ctx, { ...google, ...NOTHING, delivered: 2 })
    await complain(w.ctx, 'google')
    await complain(w.ctx, null)
    w.advance('1 day')
    await complain(w.ctx, 'google')
    await record(w.ctx, { ...google, ...NOTHING, deferred: 2 })
    const { body } = await w.get(DAYS)
    expect(body).toEqual({
      first_day: '2026-10-27',
      last_day: '2026-11-24',
      sites: [
        { site: 'mx-1', label: 'example.org', days: [{ day: '2026-11-23', delivered: 9, bounced: 0, complained: 0 }] },
        {
          ...google,
          days: [
            { day: '2026-11-23', delivered: 5, bounced: 1, complained: 1 },
            { day: '2026-11-24', delivered: 0, bounced: 0, complained: 1 },
          ],
        },
      ],
    })
    w.advance('28 days')
    expect((await w.get(DAYS)).body.sites).toMatchObject([{ ...google, days: [{ day: '2026-11-24' }] }])
  })

  test('are those of the sites with the most attempts, deferred ones included', async () => {
    await using w = await world()
    const busy = Array.from({ length: 20 }, (_, at) => ({ site: `mx-${at}`, label: `${at}.example`, ...NOTHING, delivered: 2 }))
    await record(w.ctx, { ...google, ...NOTHING, deferred: 3 }, ...busy)
    const { sites } = (await w.get(DAYS)).body
    expect([sites.length, sites[0].site]).toEqual([20, 'google'])
  })

  test('are those of the project', async () => {
    await using w = await world()
    const other = await w.other()
    await record(other.ctx, { ...google, ...NOTHING, delivered: 7 })
    expect((await w.get(DAYS)).body.sites).toEqual([])
  })
})

describe('processes', () => {
  const scheduler = (w: World) => createScheduler({ now: () => w.clock.now().getTime(), processes: () => 1, overrides: {} })
  const ids = [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000002',
    '00000000-0000-4000-8000-000000000003',
  ] as const

  test('that deliver share the limits; one that stopped has no share after 20 seconds', async () => {
    await using w = await world({ own: true })
    const [a, b] = [createProcessShare(ids[0]), createProcessShare(ids[1])]
    await a.report(w.ctx, () => [])
    await b.report(w.ctx, () => [])
    expect([a.count(), b.count()]).toEqual([1, 2])
    w.advance('6 seconds')
    await a.report(w.ctx, () => [])
    expect(a.count()).toBe(2)
    w.advance('21 seconds')
    await a.report(w.ctx, () => [])
    expect(a.count()).toBe(1)
  })

  test('that stopped tell nothing once another one delivers', async () => {
    await using w = await world({ own: true })
    await record(w.ctx, { ...google, ...NOTHING, delivered: 1 })
    const stopped = scheduler(w)
    for (let count = 0; count < 10; count++) stopped.record({ key: 'google', label: 'Google' }, { is: 'unreachable', isRefused: true })
    await createProcessShare(ids[0]).report(w.ctx, stopped.sites)
    w.advance('21 seconds')
    expect(await sites(w)).toMatchObject([{ state: 'suspended' }])
    await createProcessShare(ids[1]).report(w.ctx, () => [])
    expect(await sites(w)).toMatchObject([{ state: 'open' }])
    expect((await w.get(`${SITES}/google`)).body).toMatchObject({ state: 'open', state_until: null })
  })

  test('tell the states of their sites, of which the worst is shown, until it is over', async () => {
    await using w = await world({ own: true })
    await record(w.ctx, { ...google, ...NOTHING, delivered: 1 })
    const site = { key: 'google', label: 'Google' }
    const [fine, slowed, suspended] = [scheduler(w), scheduler(w), scheduler(w)]
    fine.record(site, { is: 'delivered' })
    slowed.record(site, { is: 'replied', code: 421, response: '421 temporarily deferred' })
    for (let count = 0; count < 10; count++) suspended.record(site, { is: 'unreachable', isRefused: true })
    for (const [at, one] of [fine, slowed, suspended].entries()) await createProcessShare(ids[at] as string).report(w.ctx, one.sites)
    const state = async () => (await w.get(`${SITES}/google`)).body
    expect(await state()).toMatchObject({ state: 'suspended', state_reason: 'unreachable', state_until: '2026-11-23T09:05:00.000Z' })
    w.advance('6 minutes')
    expect(await state()).toMatchObject({ state: 'slowed', state_reason: 'reputation-rate' })
    w.advance('2 hours')
    expect(await state()).toMatchObject({ state: 'open', state_reason: null, state_until: null })
  })
})
