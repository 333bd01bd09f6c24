import { describe, expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { receiveText, suppress, suppressedAmong } from './index.ts'

const PHONE = '+61412345678'
const TYPES = '/api/client/subscriptions'
const of = (user: string) => `/api/client/users/${user}/subscriptions`

/** Two users with one number, a user with another number, and a second text type. */
async function household(w: World) {
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', phone: PHONE },
    { external_id: 'ben', phone: PHONE },
    { external_id: 'cal', phone: '+61400000000' },
  ])
  const second = (await w.post(TYPES, { name: 'Alerts', channel: 'text', default_state: 0, is_public: false })).body.id
  await w.patch(of('ana'), [{ subscription_id: second, state: 2 }])
  return { second }
}

const textStates = async (w: World, user: string) =>
  (await w.get(of(user))).body.results.filter(({ channel }: any) => channel === 'text').map(({ state }: { state: number }) => state)
const isSuppressed = async (w: World) => (await suppressedAmong(w.ctx, 'text', [PHONE])).get(PHONE)

describe('a text message', () => {
  test('STOP unsubscribes every user with the number, and START restores their states', async () => {
    await using w = await world()
    await household(w)
    expect(await receiveText(w.ctx, PHONE, 'Stop!')).toBe(
      'You are unsubscribed from Test and will get no more text messages. Reply START to subscribe again.',
    )
    expect(await Promise.all(['ana', 'ben', 'cal'].map((user) => textStates(w, user)))).toEqual([
      [0, 0],
      [0, 0],
      [1, 0],
    ])
    expect(await isSuppressed(w)).toBe('unsubscribed_all')
    const { results } = (await w.get('/api/client/users/ana/consents')).body
    expect(results[0]).toMatchObject({ source: 'text_keyword', state: 0, previous_state: 2, proof: { keyword: 'stop' } })

    expect(await receiveText(w.ctx, '0412 345 678', 'start')).toContain('again')
    expect(await Promise.all(['ana', 'ben', 'cal'].map((user) => textStates(w, user)))).toEqual([
      [1, 2],
      [1, 0],
      [1, 0],
    ])
    expect(await isSuppressed(w)).toBeUndefined()
  })

  test('STOP leaves out users with the number who were merged or erased', async () => {
    await using w = await world()
    await household(w)
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser', phone: PHONE }])
    await w.post('/api/client/users/batch', [{ external_id: 'cal', anonymous_id: 'browser' }])
    await w.delete('/api/client/users/ben')
    const before = await select(w, 'select max(id) as id from consent_entries where project_id = $1', [w.projectId])
    await receiveText(w.ctx, PHONE, 'STOP')
    const { id } = (await w.get('/api/client/users/ana')).body
    const entries = await select(
      w,
      'select distinct user_id::int as id from consent_entries where project_id = $1 and id > $2 and state = 0',
      [w.projectId, before[0]?.id],
    )
    expect(entries).toEqual([{ id }])
    expect(await textStates(w, 'cal')).toEqual([1, 0])
  })

  test('START does not restore a type that was unsubscribed separately since', async () => {
    await using w = await world()
    await household(w)
    const [, text] = (await w.get(TYPES)).body.results
    await receiveText(w.ctx, PHONE, 'STOP')
    await w.patch(of('ana'), [{ subscription_id: text.id, state: 1 }])
    await w.patch(of('ana'), [{ subscription_id: text.id, state: 0 }])
    await receiveText(w.ctx, PHONE, 'START')
    expect(await textStates(w, 'ana')).toEqual([0, 2])
  })

  test('START without an earlier STOP is ignored', async () => {
    await using w = await world()
    await household(w)
    expect(await receiveText(w.ctx, PHONE, 'Yes')).toBeNull()
    expect(await textStates(w, 'ana')).toEqual([1, 2])
  })

  test('START does not lift a suppression with another reason', async () => {
    await using w = await world()
    await household(w)
    await receiveText(w.ctx, PHONE, 'STOP')
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'text', address: PHONE, reason: 'manual', source: {} }]))
    expect(await receiveText(w.ctx, PHONE, 'START')).toContain('reply STOP')
    expect(await isSuppressed(w)).toBe('manual')
  })

  test('STOP from an unknown number suppresses the number', async () => {
    await using w = await world()
    expect(await receiveText(w.ctx, PHONE, 'STOP')).not.toBeNull()
    expect(await isSuppressed(w)).toBe('unsubscribed_all')
    expect(await receiveText(w.ctx, PHONE, 'START')).not.toBeNull()
    expect(await isSuppressed(w)).toBeUndefined()
  })

  test.each([
    ['a Canadian number', '+14165550100', 'ARRÊT'],
    ['a Swiss number', '+41791234567', 'Abmelden bitte'],
    ['an Australian number', PHONE, 'stop please'],
  ])('from %s stops in a language of its country: %s %s', async (_, phone, text) => {
    await using w = await world()
    expect(await receiveText(w.ctx, phone, text)).toContain('You are unsubscribed')
    expect((await suppressedAmong(w.ctx, 'text', [phone])).get(phone)).toBe('unsubscribed_all')
  })

  test('stops in every language of the country of the project', async () => {
    await using w = await world()
    const canadian = { ...w.ctx, project: { ...w.ctx.project, locale: 'en-CA' } }
    expect(await receiveText(w.ctx, PHONE, 'ARRÊT')).toBeNull()
    expect(await receiveText(canadian, PHONE, 'ARRÊT')).toContain('You are unsubscribed')
  })

  test('gets the replies of the project, in its language', async () => {
    await using w = await world()
    await w.patch(
      `/api/client/projects/${w.projectId}`,
      { text_opt_out_message: 'Bye.', text_help_message: 'Call us.' },
      { key: w.keys.organisation },
    )
    expect(await receiveText(w.ctx, PHONE, 'stop')).toBe('Bye.')
    expect(await receiveText(w.ctx, PHONE, 'help')).toBe('Call us.')
    const german = { ...w.ctx, project: { ...w.ctx.project, locale: 'de-DE' } }
    await w.put('/api/client/page-theme', { brand_name: '$& Glocke' })
    expect(await receiveText(german, PHONE, 'starten')).toBe('Sie erhalten wieder SMS von $& Glocke. Mit STOP melden Sie sich ab.')
  })

  test.each(['', ' \n'])('gets the default replies when those of the project are %j', async (blank) => {
    await using w = await world()
    const { body } = await w.patch(
      `/api/client/projects/${w.projectId}`,
      { text_opt_out_message: blank, text_help_message: blank },
      { key: w.keys.organisation },
    )
    expect(body).toMatchObject({ text_opt_out_message: null, text_help_message: null })
    expect(await receiveText(w.ctx, PHONE, 'stop')).toContain('You are unsubscribed')
    expect(await receiveText(w.ctx, PHONE, 'help')).toContain('STOP')
  })

  test('without a keyword changes nothing and gets no reply', async () => {
    await using w = await world()
    await household(w)
    expect(await receiveText(w.ctx, PHONE, 'Please stop by')).toBeNull()
    expect(await isSuppressed(w)).toBeUndefined()
  })

  test('YES brings back nothing that an opt-in to another type left out', async () => {
    await using w = await world()
    await household(w)
    const { body: type } = await w.post(TYPES, { name: 'News', channel: 'text', requires_confirmation: true })
    await w.post('/api/client/suppressions', [{ channel: 'text', address: PHONE, reason: 'unsubscribed_all' }])
    await w.patch(of('ana'), [{ subscription_id: type.id, state: 1 }])
    await w.drain()
    const { results } = (await w.get('/api/client/users/ana/events')).body
    const asked = results.find(({ name }: any) => name === 'subscription_confirmation_requested')
    await w.form(asked.data.confirm_url.slice('http://carillon.test'.length), { confirm: 'yes' }, { key: null })
    expect(await isSuppressed(w)).toBeUndefined()
    const states = { ana: [0, 0, 2], ben: [0, 0, 0] }
    for (const [user, its] of Object.entries(states)) expect(await textStates(w, user)).toEqual(its)
    expect(await receiveText(w.ctx, PHONE, 'YES')).toBeNull()
    for (const [user, its] of Object.entries(states)) expect(await textStates(w, user)).toEqual(its)
  })
})
