import { expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, messagesIn, pathOf, subscriptionTo } from '../../../../test/blasts.ts'
import { failSaves } from '../../../../test/failing-saves.ts'
import { type World, world } from '../../../../test/world.ts'
import type { UserId } from '../../../lib/ids.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { type PreflightTry, withFound } from './counts.ts'
import { preflightMessage } from './preflight-message.ts'
import { preflightNext } from './service.ts'

const pathOfPreflights = (campaign: { id: number }) => `${pathOf(campaign)}/preflights`

async function start(w: World, campaign: { id: number }) {
  const reply = await w.post(pathOfPreflights(campaign), undefined, { key: w.keys.editor })
  expect(reply.status, reply.text).toBe(201)
  return reply
}

test('a preflight counts who would get the campaign and who not, lists users whose template fails, and sends nothing', async () => {
  await using w = await world()
  const list = await listOf(w, 'ana', 'bo', 'cy', 'di')
  const campaign = await blastTo(w, [list], { exclusion_list_ids: [await listOf(w, 'di')] })
  await w.put(`${pathOf(campaign)}/templates/en`, {
    subject: 'Hi {{ user.data.name }}',
    html: '<p>{{ user.data.city | default: "there" }} {% if user.data.pet %}{{ user.data.pet }}{% endif %}</p>',
    required: ['user.data.plan'],
  })
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', data: { name: 'Ana', plan: 'pro' } },
    { external_id: 'bo', data: { plan: 'pro' } },
    { external_id: 'cy', data: { name: 'Cy' } },
  ])
  const { body, headers } = await start(w, campaign)
  expect(headers.location).toBe(`${pathOfPreflights(campaign)}/${body.id}`)
  expect(body).toMatchObject({ state: 'running', people_total: 4, people_done: 0, counts: [], problems: [], finished_at: null })
  await w.drain()
  expect((await w.get(`${pathOfPreflights(campaign)}/${body.id}`, { key: w.keys.support })).body).toMatchObject({
    state: 'finished',
    people_total: 4,
    people_done: 4,
    counts: [
      { state: 'queued', reason: null, people: 2 },
      { state: 'failed', reason: 'render_failed', people: 1 },
      { state: 'skipped', reason: 'excluded', people: 1 },
    ],
    problems: [
      {
        locale: 'en',
        variant: 'A',
        kind: 'empty_variable',
        message: 'The variable `user.data.name` is empty.',
        people: 1,
        users: [{ external_id: 'bo' }],
      },
      {
        kind: 'render_failed',
        message: expect.stringContaining('the required variable `user.data.plan` is empty'),
        people: 1,
        users: [{ external_id: 'cy' }],
      },
    ],
    finished_at: w.clock.now().toISOString(),
  })
  expect(await messagesIn(w, campaign)).toEqual([])
  expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
})

test('a preflight names the users for whom a template divides by zero', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [await listOf(w, 'ana', 'bo')])
  await w.put(`${pathOf(campaign)}/templates/en`, { subject: 'Save {{ 100 | divided_by: user.data.orders }}%', html: '<p>Hi</p>' })
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', data: { orders: 0 } },
    { external_id: 'bo', data: { orders: 4 } },
  ])
  const { body } = await start(w, campaign)
  await w.drain()
  expect((await w.get(`${pathOfPreflights(campaign)}/${body.id}`)).body).toMatchObject({
    counts: [
      { state: 'failed', reason: 'render_failed', people: 1 },
      { state: 'queued', reason: null, people: 1 },
    ],
    problems: [
      {
        kind: 'render_failed',
        message: 'The template fails on line 1: the result of `divided_by` is not a finite number, for example after a division by zero.',
        users: [{ external_id: 'ana' }],
      },
    ],
  })
})

test('a preflight continues chunk by chunk, and a campaign runs only one at a time', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [await listOf(w, 'a', 'b', 'c', 'd', 'e')])
  const { body: first } = await start(w, campaign)
  expect(await preflightNext(w.ctx, 2)).toBe(2)
  expect((await start(w, campaign)).body).toMatchObject({ id: first.id, state: 'running', people_done: 2 })
  while ((await preflightNext(w.ctx, 2)) > 0);
  expect((await w.get(`${pathOfPreflights(campaign)}/${first.id}`)).body).toMatchObject({
    state: 'finished',
    people_done: 5,
    counts: [{ state: 'queued', reason: null, people: 5 }],
  })
  const { body: second } = await start(w, campaign)
  expect(second.id).not.toBe(first.id)
})

test('the newest five preflights are kept, without users who were erased since', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [await listOf(w, 'ana')])
  await w.put(`${pathOf(campaign)}/templates/en`, { subject: '{{ user.data.name }}', html: '<p>Hello</p>' })
  const ids: number[] = []
  for (let time = 0; time < 6; time++) {
    ids.push((await start(w, campaign)).body.id)
    await w.drain()
  }
  const statuses = await Promise.all(ids.map(async (id) => (await w.get(`${pathOfPreflights(campaign)}/${id}`)).status))
  expect(statuses).toEqual([404, 200, 200, 200, 200, 200])
  const last = async () => (await w.get(`${pathOfPreflights(campaign)}/${ids.at(-1)}`)).body.problems[0]
  expect((await last()).users).toMatchObject([{ external_id: 'ana' }])
  await w.delete('/api/client/users/ana')
  await w.drain()
  expect(await last()).toMatchObject({ people: 1, users: [] })
})

test('a preflight needs a blast with lists in the same project, and an editor', async () => {
  await using w = await world()
  const trigger = await w.post(CAMPAIGNS, { type: 'trigger', name: 'x', subscription_id: await subscriptionTo(w) })
  expect(await w.post(pathOfPreflights(trigger.body))).toMatchObject({ status: 422, body: { error: { param: 'type' } } })
  const bare = await blastTo(w, [])
  expect(await w.post(pathOfPreflights(bare))).toMatchObject({ status: 422, body: { error: { param: 'list_ids' } } })
  const campaign = await blastTo(w, [await listOf(w, 'ana')])
  const { body } = await start(w, campaign)
  const { keys } = await w.other()
  expect((await w.post(pathOfPreflights(campaign), undefined, { key: keys.secret })).status).toBe(404)
  expect((await w.get(`${pathOfPreflights(campaign)}/${body.id}`, { key: keys.secret })).status).toBe(404)
  expect((await w.get(`${pathOfPreflights(bare)}/${body.id}`)).status).toBe(404)
  expect((await w.post(pathOfPreflights(campaign), undefined, { key: w.keys.support })).status).toBe(403)
})

const user = { external_id: 'ana', anonymous_id: null, email: 'ana@example.com', phone: null, has_push_device: false }

test.each<[string, string[]]>([
  ['{{ user.name }}', ['user.name']],
  ['{{ user.name }} {{ user.name }}', ['user.name']],
  ['{{ user.name | upcase }}', ['user.name']],
  ['{{ user.name | default: "you" }}', []],
  ['{% if user.name %}{{ user.name }}{% endif %}', []],
  ['{% if user.a %}x{% endif %}{{ user.name }}', ['user.name']],
  ['{% assign name = "x" %}{{ name }}', []],
  ['{% for item in user.items %}{{ item.name }}{% endfor %}', []],
  ['{% raw %}{{ user.name }}{% endraw %}', []],
  ['{{ user.email }}', []],
  ['{{ user.blank }}{{ user.none }}', ['user.blank', 'user.none']],
  ['{{ user.zero }}{{ user.no }}', []],
])('the empty variables of %s are %j', (body, empty) => {
  const template = { id: 1, locale: 'en', variant: 0, content: { body }, required: [] } as unknown as SendableTemplate
  const scope = { user: { email: 'ana@example.com', blank: ' ', none: [], zero: 0, no: false } }
  const { problems } = preflightMessage('text', template, scope, { ...user, phone: '+61491570156' })
  expect(problems.filter(({ kind }) => kind === 'empty_variable').map(({ message }) => message)).toEqual(
    empty.map((path) => `The variable \`${path}\` is empty.`),
  )
})

test('findings are limited however many users fail, and every user is counted', () => {
  const failed = (userId: number, message: string): PreflightTry => ({
    userId: userId as UserId,
    locale: 'en',
    variant: 0,
    outcome: { state: 'failed', reason: 'render_failed' },
    problems: [{ kind: 'render_failed', message }],
  })
  const some = withFound(
    { counts: [], problems: [] },
    Array.from({ length: 500 }, (_, index) => failed(index, 'same')),
  )
  const many = withFound(
    some,
    Array.from({ length: 500 }, (_, index) => failed(index, `other ${index}`)),
  )
  expect(many.counts).toEqual([{ state: 'failed', reason: 'render_failed', people: 1000 }])
  expect(many.problems).toHaveLength(100)
  expect(many.problems[0]).toMatchObject({ message: 'same', people: 500 })
  expect(many.problems.flatMap(({ user_ids }) => user_ids)).toHaveLength(100)
  expect(some.problems[0]?.user_ids).toHaveLength(10)
})

test('many preflights of one project do not delay the first of another: each project has one chunk checked in a round', async () => {
  await using w = await world()
  const other = await w.other()
  const lists = [await listOf(w, 'a', 'b', 'c')]
  const mine: string[] = []
  for (let at = 0; at < 12; at++) {
    const campaign = await blastTo(w, lists)
    mine.push(`${pathOfPreflights(campaign)}/${(await start(w, campaign)).body.id}`)
  }
  const options = { key: other.keys.secret }
  const [{ id: subscription_id }] = (await w.get('/api/client/subscriptions?q=email', options)).body.results
  const list = (await w.post('/api/client/lists', { name: 'Theirs', type: 'static' }, options)).body
  const draft = { type: 'blast', name: 'Theirs', subscription_id, list_ids: [list.id] }
  const campaign = (await w.post('/api/client/campaigns', draft, options)).body
  const begun = await w.post(pathOfPreflights(campaign), undefined, options)
  expect(begun.status, begun.text).toBeLessThan(300)
  await preflightNext(w.ctx, 2)
  expect((await w.get(`${pathOfPreflights(campaign)}/${begun.body.id}`, options)).body.state).toBe('finished')
  const done = await Promise.all(mine.map(async (path) => (await w.get(path)).body.people_done))
  expect(done.sort()).toEqual([...Array.from({ length: 11 }, () => 0), 2])
})

test('a preflight that cannot be saved keeps no later one of its project waiting, and goes on when it can be', async () => {
  await using w = await world()
  const lists = [await listOf(w, 'a')]
  const [broken, sound] = [await blastTo(w, lists), await blastTo(w, lists)]
  const { id } = (await start(w, broken)).body
  w.advance('1 second')
  const paths = [`${pathOfPreflights(broken)}/${id}`, `${pathOfPreflights(sound)}/${(await start(w, sound)).body.id}`]
  const states = () => Promise.all(paths.map(async (path) => (await w.get(path)).body.state))
  {
    await using _ = await failSaves(w, { table: 'campaign_preflights', when: `new.id = ${id}` })
    await preflightNext(w.ctx)
    await preflightNext(w.ctx)
    expect(await states()).toEqual(['running', 'finished'])
  }
  w.advance('1 minute')
  await w.drain('campaigns.preflight')
  expect(await states()).toEqual(['finished', 'finished'])
})
