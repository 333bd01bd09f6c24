import { describe, expect, test } from 'vitest'
import { createJourney, dropQueue, putInside, queuedItems, READY, readyWith } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import type { Step } from '../schema.ts'

const failed = (param: string) => ({ status: 422, body: { code: 'validation_failed', error: { param } } })

describe('a draft', () => {
  test('beside a live version is what PUT writes, and is read first', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    expect((await journey.post('publish')).body).toMatchObject({
      version: 1,
      published_at: expect.any(String),
      moving: 0,
      faults: [],
      steps: [],
    })
    expect(await journey.read()).toMatchObject({ status: 'live', live_version: 1 })
    expect((await journey.put(readyWith(24))).status).toBe(200)
    expect((await journey.get('steps')).w1.data.hours).toBe(24)
    expect((await journey.get('steps?version=live')).w1.data.hours).toBe(48)
    expect((await journey.get('steps?version=draft')).w1.data.hours).toBe(24)
    expect((await journey.get('steps?version=1')).w1.data.hours).toBe(48)
    expect((await w.get(`${journey.path}/versions/2147483648`)).status).toBe(404)
    expect(await w.get(`${journey.path}/steps?version=7`)).toMatchObject({ status: 404, body: { code: 'resource_missing' } })
    expect(await w.get(`${journey.path}/steps?version=new`)).toMatchObject({ status: 400 })
  })

  test('of a live journey that was never published goes live at once', async () => {
    await using w = await world()
    const journey = await createJourney(w, { status: 'live' }, READY)
    expect(await journey.read()).toMatchObject({ status: 'live', live_version: 1 })
    expect((await w.get(`${journey.path}/steps?version=draft`)).status).toBe(404)
    await journey.put(readyWith(24))
    expect(await journey.read()).toMatchObject({ live_version: 1 })
  })

  test('of a live journey that was never published is refused with its faults', async () => {
    await using w = await world()
    const journey = await createJourney(w, { status: 'live' })
    const reply = await journey.put({ ...READY, lonely: { type: 'exit', x: 0, y: 0 } })
    expect(reply).toMatchObject(failed('lonely'))
    expect(await journey.get('steps')).toEqual({})
  })

  test('has settings, which are published with the steps', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    const settings = { holdout_percent: 10, goals: [{ name: 'bought', event_name: 'purchase', within_days: 7 }], max_entries_per_day: 3 }
    expect((await w.patch(journey.path, { settings })).body).toMatchObject({ settings })
    await journey.post('publish')
    await w.patch(journey.path, { settings: { holdout_percent: 20 } })
    expect(await journey.read()).toMatchObject({ settings: { holdout_percent: 20 } })
    expect((await journey.get('versions/1')).settings).toEqual(settings)
    expect((await w.patch(journey.path, { settings: {} })).body).not.toHaveProperty('settings')
  })

  test.each([
    [{ holdout_percent: 101 }, 422, 'settings.holdout_percent'],
    [{ exclusion_list_ids: [999_999] }, 422, 'settings.exclusion_list_ids[0]'],
    [{ goals: [{ name: 'a', event_name: 'b', within_days: 0 }] }, 422, 'settings.goals[0].within_days'],
    [
      { goals: [{ name: 'a', event_name: 'b', where: [{ attribute: 'data.x', nears: 1 }], within_days: 1 }] },
      400,
      'settings.goals[0].where[0].nears',
    ],
    [
      {
        goals: [
          { name: 'a', event_name: 'b', within_days: 1 },
          { name: 'a', event_name: 'c', within_days: 1 },
        ],
      },
      422,
      'settings.goals[1].name',
    ],
    [{ other: 1 }, 400, 'settings.other'],
  ])('with the settings %j is refused', async (settings, status, param) => {
    await using w = await world()
    const journey = await createJourney(w)
    expect(await w.patch(journey.path, { settings })).toMatchObject({ status, body: { error: { param } } })
  })

  /** Steps with calls, each with an authorization, in a row. */
  const calling = (calls: Record<string, { secret?: string; url?: string; name?: string }>) => {
    const keys = Object.keys(calls)
    const to = (key: string | undefined) => ({ children: [{ external_id: key ?? 'out' }] })
    const steps = Object.entries(calls).map(([key, { secret = HIDDEN, url = 'https://example.com/a', name = 'authorization' }], at) => [
      key,
      { type: 'webhook', x: 0, y: at, data: { url, headers: { [name]: { secret } } }, ...to(keys[at + 1]) },
    ])
    return { ...READY, w1: { ...READY.w1, ...to(keys[0]) }, ...Object.fromEntries(steps) }
  }
  const HIDDEN = '********'
  const refused = (key: string) => failed(`${key}.data.headers.authorization.secret`)
  /** What the calls of the newest steps are authorised with. */
  const opened = async (w: World, id: number): Promise<Record<string, string>> => {
    const [newest] = await select(
      w,
      `select steps from journey_versions where journey_id = $1 and status in ('draft', 'live') order by status limit 1`,
      [id],
    )
    const calls = ((newest?.steps ?? []) as Step[]).filter(({ type }) => type === 'webhook')
    const secretOf = ({ data }: Step) => (data as { headers: { authorization: { secret: string } } }).headers.authorization.secret
    return Object.fromEntries(calls.map((step) => [step.external_id, w.ctx.secrets.open(secretOf(step), `header of journey ${id}`)]))
  }

  test('hides the secrets of headers, which stay when a reply is written back', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, calling({ call: { secret: 'Bearer s3cret' } }))
    const steps = await journey.get('steps')
    expect(steps.call.data.headers).toEqual({ authorization: { secret: HIDDEN } })
    const stored = async () => JSON.stringify(await select(w, 'select steps from journey_versions where journey_id = $1', [journey.id]))
    const before = await stored()
    expect(before).not.toContain('s3cret')
    expect((await journey.put(calling({ call: {} }))).status).toBe(200)
    expect(await stored()).toBe(before)
    expect(await journey.put(calling({ call: { name: 'x-key' } }))).toMatchObject(failed('call.data.headers.x-key.secret'))
  })

  test('has a secret again when the step that was removed is written back, also after a publication', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, calling({ call: { secret: 'first' } }))
    await journey.put(READY)
    await journey.put(readyWith(24))
    expect((await journey.put(calling({ call: {} }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first' })
    await journey.put(READY)
    await journey.post('publish')
    expect((await journey.put(calling({ call: {} }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first' })
  })

  test('has a removed secret again for nobody else than who removed it, and for a day', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, calling({ call: { secret: 'first' } }))
    await journey.put(READY)
    expect(await w.put(`${journey.path}/steps`, calling({ call: {} }), { key: w.keys.publisher })).toMatchObject(refused('call'))
    w.advance('25 hours')
    expect(await journey.put(calling({ call: {} }))).toMatchObject(refused('call'))
  })

  test('has the secret of a copied step in the copy, but sends it nowhere else', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, calling({ call: { secret: 'first' } }))
    const copied = calling({ call: {}, copy: { url: 'https://example.com/b' } })
    expect((await journey.put(copied)).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first', copy: 'first' })
    for (const url of ['https://example.net/a', 'https://example.com.example.net/a', 'https://example.com@example.net/a'])
      expect(await journey.put(calling({ call: {}, other: { url } })), url).toMatchObject(refused('other'))
    // Of a step that was cut, the pasted one has it too.
    expect((await journey.put(calling({ call: {} }))).status).toBe(200)
    expect((await journey.put(READY)).status).toBe(200)
    expect((await journey.put(calling({ pasted: {} }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ pasted: 'first' })
  })

  test('does not guess which of several secrets a copied step has', async () => {
    await using w = await world()
    const two = { call: { secret: 'first' }, second: { secret: 'second', url: 'https://example.com/b' } }
    const journey = await createJourney(w, {}, calling(two))
    const copy = { url: 'https://example.com/c' }
    expect(await journey.put(calling({ call: {}, second: two.second, copy }))).toMatchObject(refused('copy'))
    expect((await journey.put(calling({ call: {}, second: two.second, copy: { url: two.second.url } }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first', second: 'second', copy: 'second' })
    await journey.put(calling({ call: {}, second: { ...two.second, secret: 'first' }, copy: { url: two.second.url, secret: 'first' } }))
    await journey.put(calling({ call: {}, second: { url: two.second.url } }))
    expect((await journey.put(calling({ call: {}, second: { url: two.second.url }, copy }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first', second: 'first', copy: 'first' })
    // A key that is used again is another step.
    await journey.put(calling({ call: {} }))
    expect((await journey.put(calling({ call: {}, second: {} }))).status).toBe(200)
    await journey.put(calling({ call: {}, second: { secret: 'third', url: 'https://example.net/a' } }))
    await journey.put(calling({ call: {} }))
    expect((await journey.put(calling({ call: {}, second: {} }))).status).toBe(200)
    expect(await opened(w, journey.id)).toEqual({ call: 'first', second: 'first' })
    const ofOther = await createJourney(w)
    expect(await ofOther.put(calling({ call: {} }))).toMatchObject(refused('call'))
  })
})

describe('a publication', () => {
  test('with If-Match publishes only the steps that were read', async () => {
    await using w = await world()
    const journey = await createJourney(w)
    await journey.put(READY)
    const publish = (etag: string | undefined) => w.post(`${journey.path}/publish`, {}, { headers: { 'if-match': etag ?? '' } })
    const tag = async () => (await w.get(`${journey.path}/steps`)).headers.etag
    const read = await tag()
    await journey.put(readyWith(24))
    expect(await publish(read)).toMatchObject({
      status: 412,
      body: { code: 'validation_failed', error: { reason: 'changed', param: 'If-Match' } },
    })
    expect(await journey.read()).toMatchObject({ status: 'draft' })
    const published = await publish(await tag())
    expect(published).toMatchObject({ status: 200, body: { version: 1 } })
    expect(published.headers.etag).toBeUndefined()
  })

  test('without a draft, of an unknown version, or with faults is refused', async () => {
    await using w = await world()
    const journey = await createJourney(w)
    expect(await journey.post('publish')).toMatchObject(failed('version'))
    await journey.put({ ...READY, w1: { ...READY.w1, data: { format: 'duration' } }, lonely: { type: 'exit', x: 0, y: 0 } })
    const preview = (await journey.post('publish/preview')).body
    expect(preview.faults.map(({ param }: { param: string }) => param)).toContain('lonely')
    expect(await journey.post('publish')).toMatchObject({ status: 422 })
    expect(await journey.post('publish', { from_version: 3 })).toMatchObject(failed('from_version'))
    expect((await journey.post('publish', { from_version: 2_147_483_648 })).body.error).toMatchObject({ param: 'from_version' })
    expect(await journey.read()).toMatchObject({ status: 'draft' })
  })

  test('needs a running trigger campaign for each step that sends', async () => {
    await using w = await world()
    const type = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body.id
    const make = async (body: object) => (await w.post('/api/client/campaigns', { name: 'Hi', subscription_id: type, ...body })).body.id
    const sending = (campaign_id: number) => ({
      start: { ...READY.start, children: [{ external_id: 'send' }] },
      send: { type: 'action', x: 0, y: 0, data: { campaign_id } },
    })
    for (const body of [{ type: 'blast' }, { type: 'trigger' }]) {
      const journey = await createJourney(w, {}, sending(await make(body)))
      expect(await journey.post('publish'), JSON.stringify(body)).toMatchObject(failed('send.data.campaign_id'))
    }
  })

  test('shows where users are, what becomes of them, and how many are due at once', async () => {
    await using w = await world()
    await w.users('ana', 'bob', 'cleo')
    const more = { w2: { ...READY.w1, children: [{ external_id: 'out' }] } }
    const both = { ...READY, w1: { ...READY.w1, children: [{ external_id: 'w2' }] }, ...more }
    const journey = await createJourney(w, { status: 'live' }, both)
    await putInside(w, journey, { user: 'ana', arrived: new Date(w.clock.now().getTime() - 25 * 3_600_000) })
    await putInside(w, journey, { user: 'bob' })
    await putInside(w, journey, { user: 'cleo', step: 'w2' })
    await journey.put(readyWith(24))
    const plan = { steps: { w1: { move: 'w1' }, w2: 'exit' } }
    const preview = (await journey.post('publish/preview', { plan })).body
    expect(preview).toEqual({
      version: 2,
      moving: 3,
      faults: [],
      warnings: [],
      steps: [
        { external_id: 'w1', version: 1, users: 2, plan: { move: 'w1' }, in_place: true, due_now: 1 },
        { external_id: 'w2', version: 1, users: 1, plan: 'exit', in_place: false, due_now: 0 },
      ],
    })
    expect(await journey.read()).toMatchObject({ live_version: 1 })
    expect((await journey.post('publish', { plan, note: 'shorter' })).body).toEqual({
      ...preview,
      published_at: w.clock.now().toISOString(),
    })
    expect((await journey.get('versions')).results).toMatchObject([
      { version: 2, status: 'live', users: 0, moving: 0, note: 'shorter' },
      { version: 1, status: 'past', users: 3, moving: 3 },
    ])
  })

  test('lets users exit also if the version before has no steps', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    const entrance_id = await putInside(w, journey, { user: 'ana' })
    await journey.put({})
    expect((await journey.post('publish')).status).toBe(200)
    await journey.put(readyWith(24))
    expect((await journey.post('publish', { plan: { default: 'exit' } })).body).toMatchObject({ moving: 1 })
    await w.drain('journeys.sweep')
    expect(await queuedItems(w)).toMatchObject([{ do: 'plan', version: 3, entrance_id }])
  })

  test('appends an item for each user that is not on it, 1,000 at a time, and another one waits for it', async () => {
    await using w = await world()
    await w.users('ana', 'bob')
    const journey = await createJourney(w, { status: 'live' }, READY)
    const ids = [await putInside(w, journey, { user: 'ana' }), await putInside(w, journey, { user: 'bob' })]
    await journey.put(readyWith(24))
    await journey.post('publish', { plan: { default: 'move' } })
    await journey.put(readyWith(12))
    expect(await journey.post('publish')).toMatchObject(failed('version'))
    await w.drain('journeys.sweep')
    expect(await queuedItems(w)).toMatchObject(ids.map((entrance_id) => ({ do: 'plan', version: 2, journey_id: journey.id, entrance_id })))
    await dropQueue(w)
    expect((await journey.post('publish')).body).toMatchObject({ version: 3 })
    await w.drain('journeys.sweep')
    expect(await queuedItems(w)).toEqual([])
  })

  test.each([
    [{ steps: { nowhere: 'exit' } }, 422, 'plan.steps.nowhere'],
    [{ steps: { w1: { move: 'nowhere' } } }, 422, 'plan.steps.w1.move'],
    [{ steps: { w1: { move: 'start' } } }, 422, 'plan.steps.w1.move'],
    [{ steps: { w1: 'go' } }, 400, 'plan.steps.w1'],
    [{ default: 'move' }, 422, 'plan.steps.w1'],
    [{ default: 'leave' }, 400, 'plan.default'],
  ])('with the plan %j is refused', async (plan, status, param) => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    await putInside(w, journey, { user: 'ana' })
    const { w1: _, ...rest } = READY
    await journey.put({
      ...rest,
      start: { ...READY.start, children: [{ external_id: 'out' }] },
      api: { ...READY.api, children: [{ external_id: 'out' }] },
    })
    expect(await journey.post('publish', { plan })).toMatchObject({ status, body: { error: { param } } })
    if (status === 422) expect((await journey.post('publish/preview', { plan })).body.faults).toMatchObject([{ param }])
  })

  test('of an earlier version rolls back, and the draft stays', async () => {
    await using w = await world()
    const journey = await createJourney(w, { status: 'live' }, READY)
    await journey.put(readyWith(24))
    await journey.post('publish')
    await journey.put(readyWith(12))
    expect((await journey.post('publish', { from_version: 1 })).body).toMatchObject({ version: 3 })
    expect((await journey.get('steps?version=live')).w1.data.hours).toBe(48)
    expect((await journey.get('steps?version=draft')).w1.data.hours).toBe(12)
    expect((await journey.post('publish')).body).toMatchObject({ version: 4 })
    expect(await journey.get('diff?from=1&to=3')).toEqual({ added: [], removed: [], changed: [] })
    expect(await journey.get('diff?from=3&to=live')).toEqual({
      added: [],
      removed: [],
      changed: [{ step: 'w1', at: 'data.hours', from: 48, to: 12 }],
    })
    expect((await w.get(`${journey.path}/diff?from=1&to=draft`)).status).toBe(404)
  })

  test('shows added, removed and changed steps and settings', async () => {
    await using w = await world()
    const journey = await createJourney(w, { status: 'live' }, READY)
    const { api: _, ...rest } = READY
    await journey.put({
      ...rest,
      w1: { ...READY.w1, x: 7, name: 'Wait', children: [{ external_id: 'end' }] },
      out: undefined,
      end: READY.out,
    })
    await w.patch(journey.path, { settings: { holdout_percent: 5 } })
    expect(await journey.get('diff?from=live&to=draft')).toEqual({
      added: ['end'],
      removed: expect.arrayContaining(['api', 'out']),
      changed: expect.arrayContaining([
        { step: 'w1', at: 'name', from: '', to: 'Wait' },
        { step: 'w1', at: 'children', from: [{ external_id: 'out' }], to: [{ external_id: 'end' }] },
        { at: 'holdout_percent', to: 5 },
      ]),
    })
  })

  test('of links that lead back without a delay is refused', async () => {
    await using w = await world()
    const one = await createJourney(w, { status: 'live' }, READY)
    const linking = (journey_id: number, from = 'start') => ({
      start: { ...READY.start, children: [{ external_id: from === 'start' ? 'link' : 'w1' }] },
      ...(from === 'w1' && { w1: { ...READY.w1, children: [{ external_id: 'link' }] } }),
      link: { type: 'link', x: 0, y: 0, data: { journey_id } },
    })
    const two = await createJourney(w, { status: 'live' }, linking(one.id))
    await one.put(linking(two.id))
    expect(await one.post('publish')).toMatchObject(failed('link.data.journey_id'))
    await one.put(linking(two.id, 'w1'))
    expect((await one.post('publish')).status).toBe(200)
  })
})

describe('a status', () => {
  test('live publishes the draft of a draft, and goes on with the live version of a journey that was off', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    expect((await w.patch(journey.path, { status: 'live' })).body).toMatchObject({ status: 'live', live_version: 1 })
    await journey.put(readyWith(24))
    await w.patch(journey.path, { status: 'off' })
    expect((await w.patch(journey.path, { status: 'live' })).body).toMatchObject({ live_version: 1 })
    expect((await journey.get('steps?version=draft')).w1.data.hours).toBe(24)
  })

  test('live is refused for a draft with faults', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, { ...READY, lonely: { type: 'exit', x: 0, y: 0 } })
    expect(await w.patch(journey.path, { status: 'live' })).toMatchObject(failed('lonely'))
    expect(await journey.read()).toMatchObject({ status: 'draft' })
  })

  test('draft is refused while users are inside', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    await putInside(w, journey, { user: 'ana' })
    for (const status of ['live', 'off']) {
      await w.patch(journey.path, { status })
      expect(await w.patch(journey.path, { status: 'draft' })).toMatchObject(failed('status'))
    }
  })
})
