import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { suppress } from '../subscriptions/index.ts'
import * as registry from './kinds/index.ts'
import { storesMjml } from './queries.ts'
import { sendableTemplatesOf } from './ready.ts'

const CAMPAIGNS = '/api/client/campaigns'

const templateKinds = { ...registry }

type Campaign = { id: CampaignId; path: string; template(locale: string, variant?: string): string }

/** A draft for a channel. */
async function make(w: World, channel = 'email', body: object = {}): Promise<Campaign> {
  const types = (await w.get('/api/client/subscriptions')).body.results
  const { id: subscription_id } = types.find((type: { channel: string }) => type.channel === channel)
  const reply = await w.post(CAMPAIGNS, { type: 'blast', name: 'Spring', subscription_id, ...body })
  expect(reply.status, reply.text).toBe(201)
  const path = `${CAMPAIGNS}/${reply.body.id}`
  return { id: reply.body.id, path, template: (locale, variant) => `${path}/templates/${locale}${variant ? `?variant=${variant}` : ''}` }
}

const mjmlOf = (text: string) =>
  `<mjml><mj-body>{% if user.data.vip %}<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>{% endif %}</mj-body></mjml>`
const footer = '<a href="{{ unsubscribe_url }}">Stop</a>'
const html = { subject: 'Hi {{ user.data.name | default: "you" }}', html: `<p>{{ user.data.name }}</p>${footer}` }
const kinds = (findings: { kind: string }[]) => findings.map(({ kind }) => kind)

describe('saving', () => {
  test('MJML shows that this server compiles it, which is loaded when the server starts then', async () => {
    await using w = await world({ own: true, env: {} })
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    expect(await storesMjml(w.ctx)).toBe(false)
    await w.put(campaign.template('de'), { subject: 'Hi', mjml: mjmlOf(footer) })
    expect(await storesMjml(w.ctx)).toBe(true)
  })

  test('MJML is stored as written and sent as compiled', async () => {
    await using w = await world()
    const campaign = await make(w)
    const data = { subject: 'Hi', mjml: mjmlOf(`Hi {{ user.data.name }} ${footer}`), required: ['user.data.name'] }
    const saved = await w.put(campaign.template('en'), data, { key: w.keys.editor })
    expect(saved, saved.text).toMatchObject({ status: 200, body: { data, variant: 'A', findings: [] } })
    expect((await w.get(`${campaign.path}/templates`)).body.results[0].data).toEqual(data)
    const [sending] = await sendableTemplatesOf(w.ctx, [campaign.id])
    expect(sending).toMatchObject({
      variant: 0,
      required: ['user.data.name'],
      content: {
        subject: 'Hi',
        html: expect.stringMatching(/^<!doctype html>[\s\S]*\{% if user\.data\.vip %\}[\s\S]*Hi \{\{ user\.data\.name \}\}/),
        text: '{% if user.data.vip %}Hi {{ user.data.name }} Stop ({{ unsubscribe_url }}){% endif %}',
      },
    })
    expect(sending?.content).not.toHaveProperty('mjml')
  })

  test('MJML that would lose Liquid is refused, and the stored template does not change', async () => {
    await using w = await world()
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    const mjml = '<mjml>\n<mj-body><mj-section mj-class="{{ user.data.style }}"></mj-section></mj-body></mjml>'
    const refused = await w.put(campaign.template('en'), { subject: 'Hi', mjml })
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: 'mjml' } } })
    expect(refused.body.message).toContain('`{{ user.data.style }}` on line 2')
    const wrong = await w.put(campaign.template('en'), { subject: 'Hi', mjml: '<mjml><mj-body>\n<mj-text>x</mj-text></mj-body></mjml>' })
    expect(wrong.body.message).toContain('line 2')
    expect((await w.get(`${campaign.path}/templates`)).body.results[0].data).toEqual(html)
  })

  test('the reply has the findings', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { name: 'Kim' } }])
    const campaign = await make(w)
    const { body } = await w.put(campaign.template('en'), {
      subject: 'Hi {{ user.data.naem }}',
      html: '<a href="#">x</a>\n<img src="https://example.com/{{ event.data.x }}">',
    })
    expect(body.findings.map(({ kind, severity, param, line }: Record<string, unknown>) => [kind, severity, param, line])).toEqual([
      ['broken_href', 'error', 'html', 1],
      ['no_unsubscribe_link', 'error', 'html', undefined],
      ['missing_alt', 'warning', 'html', 2],
      ['unknown_variable', 'warning', 'html', 2],
      ['unknown_variable', 'warning', 'subject', 1],
    ])
    const lint = await w.get(`${campaign.path}/lint`, { key: w.keys.support })
    expect(lint.body).toEqual({ results: [{ locale: 'en', variant: 'A', findings: body.findings }] })
  })

  test('a transactional campaign needs no unsubscribe link, and a trigger may use its event', async () => {
    await using w = await world()
    const type = await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })
    const campaign = await make(w, 'email', { type: 'trigger', event_name: 'bought', subscription_id: type.body.id })
    const { body } = await w.put(campaign.template('en'), { subject: 'Thanks', html: '{{ event.data.total }}' })
    expect(body.findings).toEqual([])
  })

  test('an attribute that the key may not read is reported as unknown', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { name: 'Kim', salary: 7 } }])
    await w.put('/api/client/attributes/salary', { min_role: 'admin' })
    const campaign = await make(w)
    const template = { subject: 's', html: `{{ user.data.salary }}${footer}` }
    expect(kinds((await w.put(campaign.template('en'), template, { key: w.keys.editor })).body.findings)).toEqual(['unknown_variable'])
    expect(kinds((await w.put(campaign.template('en'), template)).body.findings)).toEqual([])
  })

  test('in a large project, attributes that users got since they were last counted are known, and others are said to be unseen', async () => {
    await using w = await world()
    await w.db.run(
      sql`insert into users (project_id, external_id, data, created_at, updated_at)
          select ${w.projectId}, 'u' || n, '{"plan": "pro"}', ${w.clock.now()}, ${w.clock.now()} from generate_series(1, 5002) n`,
    )
    await w.db.run(sql`update users set data = '{"rare": 1}' where project_id = ${w.projectId} and external_id = 'u1'`)
    const campaign = await make(w)
    const save = async (key: string) =>
      (await w.put(campaign.template('en'), { subject: 's', html: `{{ user.data.${key} }}${footer}` })).body.findings
    const [unseen] = await save('rare')
    await w.drain()
    w.advance('1 minute')
    expect(await save('rare')).toEqual([])
    await w.db.run(sql`update users set data = data || '{"tier": 2, "none": null}' where project_id = ${w.projectId}`)
    w.advance('1 minute')
    expect([await save('tier'), await save('plan')]).toEqual([[], []])
    expect(kinds(await save('none'))).toEqual(['unknown_variable'])
    expect(unseen.message).toMatch(/^None of the newest 5,000 users has `user\.data\.rare`/)
  })

  test('with more attributes than are counted, none is reported as unknown', async () => {
    await using w = await world()
    await w.db.run(
      sql`insert into users (project_id, external_id, data, created_at, updated_at)
          select ${w.projectId}, 'u' || n, jsonb_build_object('k' || n, 1), ${w.clock.now()}, ${w.clock.now()} from generate_series(1, 2001) n`,
    )
    const campaign = await make(w)
    const template = { subject: 's', html: `{{ user.data.k2001 }}{{ user.data.other }}${footer}` }
    expect((await w.put(campaign.template('en'), template)).body.findings).toEqual([])
  })
})

describe('variants', () => {
  test('each has its own templates, which duplicates of the campaign have too', async () => {
    await using w = await world()
    const campaign = await make(w, 'text')
    await w.put(campaign.template('en'), { body: 'A' })
    expect((await w.put(campaign.template('en', 'B'), { body: 'B' })).body.variant).toBe('B')
    await w.put(campaign.template('fr', 'B'), { body: 'B fr' })
    const copy = (await w.post(`${campaign.path}/duplicate`)).body
    const listed = (await w.get(`${CAMPAIGNS}/${copy.id}/templates`)).body.results
    expect(
      listed.map(({ locale, variant, data }: { locale: string; variant: string; data: { body: string } }) => [locale, variant, data.body]),
    ).toEqual([
      ['en', 'A', 'A'],
      ['en', 'B', 'B'],
      ['fr', 'B', 'B fr'],
    ])
    const preview = async (body: object) => (await w.post(`${campaign.path}/preview`, body)).body.content.body
    expect(await preview({})).toBe('A')
    expect(await preview({ variant: 'B', locale: 'fr_CA' })).toBe('B fr')
    expect(await preview({ variant: 'C', locale: 'fr' })).toBe('A')
    expect((await w.delete(campaign.template('fr'))).status).toBe(404)
    expect((await w.delete(campaign.template('fr', 'B'))).status).toBe(204)
    for (const variant of ['b', 'AB', '1', '']) {
      expect((await w.put(`${campaign.template('en')}?variant=${variant}`, { body: 'x' })).status).toBe(400)
    }
  })
})

describe('a preview', () => {
  test('renders a stored template for a user, with placeholder links', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', locale: 'fr', data: { name: '<Kim>' } }])
    const campaign = await make(w)
    await w.put(campaign.template('en'), { ...html, text: 'en' })
    await w.put(campaign.template('fr'), html)
    const { status, body } = await w.post(`${campaign.path}/preview`, { user: 'kim' }, { key: w.keys.support })
    expect(status).toBe(200)
    const content = {
      subject: 'Hi <Kim>',
      html: '<html lang="fr"><p>&lt;Kim&gt;</p><a href="https://example.com/unsubscribe">Stop</a>',
      text: '<Kim>\n\nStop (https://example.com/unsubscribe)',
    }
    expect(body).toEqual({ locale: 'fr', variant: 'A', content, attachments: [], size_bytes: content.html.length, findings: [] })
    expect((await w.post(`${campaign.path}/preview`, { user: 'kim', locale: 'en-GB' })).body.content.text).toBe('en')
    expect((await w.post(`${campaign.path}/preview`, { user: 'nobody' })).status).toBe(404)
  })

  test('without a user renders sample values', async () => {
    await using w = await world()
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    const subject = async (body: object) => (await w.post(`${campaign.path}/preview`, body)).body.content.subject
    expect(await subject({})).toBe('Hi you')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { name: 'Kim' } }])
    w.advance('1 minute')
    expect(await subject({})).toBe('Hi Kim')
    expect(await subject({ data: {} })).toBe('Hi you')
    expect(await subject({ data: { user: { data: { name: 'Lee' } } } })).toBe('Hi Lee')
    expect(await subject({ user: 'kim', data: { event: { data: {} } } })).toBe('Hi Kim')
  })

  test('renders a template that is not saved', async () => {
    await using w = await world()
    const campaign = await make(w)
    const template = { subject: 's', mjml: mjmlOf('Hi {{ event.data.what }}') }
    const { body } = await w.post(`${campaign.path}/preview`, {
      template,
      locale: 'de_AT',
      variant: 'B',
      data: { user: { data: { vip: true } }, event: { data: { what: 'there' } } },
    })
    expect(body).toMatchObject({ locale: 'de-AT', variant: 'B', content: { subject: 's', text: 'Hi there' } })
    expect(body.content.html).toContain('Hi there')
    expect(body.size_bytes).toBe(Buffer.byteLength(body.content.html))
    expect(kinds(body.findings)).toEqual(['no_unsubscribe_link', 'unknown_variable'])
    expect((await w.get(`${campaign.path}/templates`)).body.results).toEqual([])
    expect((await w.post(`${campaign.path}/preview`, {})).status).toBe(404)
    expect((await w.post(`${campaign.path}/preview`, { template: { subject: 's' } })).status).toBe(400)
    expect((await w.post(`${campaign.path}/preview`, { template: { subject: 's', html: '{% if' } })).status).toBe(422)
  })

  test('reports a required variable that the user lacks', async () => {
    await using w = await world()
    await w.users('kim')
    const campaign = await make(w)
    const { body } = await w.post(`${campaign.path}/preview`, { user: 'kim', template: { ...html, required: ['user.data.name'] } })
    expect(body).toMatchObject({ content: null, size_bytes: 0 })
    expect(body.findings[0]).toEqual({
      kind: 'render_failed',
      severity: 'error',
      param: 'template',
      message: 'Rendering fails on line 1: the required variable `user.data.name` is empty.',
    })
  })

  test('counts the segments of the rendered text message', async () => {
    await using w = await world()
    const campaign = await make(w, 'text')
    const { body } = await w.post(`${campaign.path}/preview`, { template: { body: 'It’s {{ project.name }} 🎉' } })
    expect(body.segments).toEqual({ encoding: 'UCS-2', segments: 1, characters: 11, non_gsm: ['’', '🎉'] })
    expect(kinds(body.findings)).toEqual(['sms_unicode'])
  })

  test('has only attributes that the key may read', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { salary: 7 } }])
    await w.put('/api/client/attributes/salary', { min_role: 'admin' })
    const campaign = await make(w, 'text')
    await w.put(campaign.template('en'), { body: 'Earns {{ user.data.salary }}' })
    const textOf = async (body: object, key: string) => (await w.post(`${campaign.path}/preview`, body, { key })).body.content.body
    expect(await textOf({ user: 'kim' }, w.keys.support)).toBe('Earns ')
    expect(await textOf({}, w.keys.support)).toBe('Earns ')
    expect(await textOf({ user: 'kim' }, w.keys.secret)).toBe('Earns 7')
  })

  test('needs a campaign of the same project, as checks and test sends do', async () => {
    await using w = await world()
    const other = await w.other()
    const campaign = await make(w)
    const as = { key: other.keys.secret }
    expect((await w.post(`${campaign.path}/preview`, { template: html }, as)).status).toBe(404)
    expect((await w.get(`${campaign.path}/lint`, as)).status).toBe(404)
    expect((await w.post(`${campaign.path}/test`, { to: ['a@example.com'] }, as)).status).toBe(404)
  })
})

describe('test sends', () => {
  test('go to addresses and users with a prefix in the subject, rendered for each recipient or for a given user', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', email: 'kim@example.com', data: { name: 'Kim' } },
      { external_id: 'lee', data: { name: 'Lee' } },
    ])
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    const { status, body } = await w.post(
      `${campaign.path}/test`,
      { to: ['me@example.com', 'kim', 'lee', 'nobody', 'kim'] },
      { key: w.keys.editor },
    )
    expect(status).toBe(200)
    expect(body.results.map(({ to, outcome, content }: any) => [to, outcome, content?.to, content?.subject])).toEqual([
      ['me@example.com', 'accepted', 'me@example.com', '[Test] Hi Kim'],
      ['kim', 'accepted', 'kim@example.com', '[Test] Hi Kim'],
      ['lee', 'refused', undefined, undefined],
      ['nobody', 'refused', undefined, undefined],
    ])
    expect(body.results[0].provider).toBe('sandbox')
    const as = await w.post(`${campaign.path}/test`, { to: ['me@example.com', 'kim'], as: 'lee' })
    expect(as.body.results.map(({ content }: any) => [content.to, content.subject])).toEqual([
      ['me@example.com', '[Test] Hi Lee'],
      ['kim@example.com', '[Test] Hi Lee'],
    ])
  })

  test('create no messages', async () => {
    await using w = await world()
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    await w.post(`${campaign.path}/test`, { to: ['me@example.com'] })
    await w.drain()
    expect((await w.get(campaign.path)).body.delivery.total).toBe(0)
    expect(await w.db.run(sql`delete from messages where project_id = ${w.projectId}`)).toBe(0)
  })

  test('skip suppressed addresses', async () => {
    await using w = await world()
    const campaign = await make(w)
    await w.put(campaign.template('en'), html)
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: 'bounced@example.com', reason: 'hard_bounce', source: {} }]))
    const { body } = await w.post(`${campaign.path}/test`, { to: ['Bounced@example.com', 'here@example.com'] })
    expect(body.results.map(({ outcome }: any) => outcome)).toEqual(['refused', 'accepted'])
    expect(body.results[0].reason).toContain('suppressed')
  })

  test('report why nothing was sent', async () => {
    await using w = await world()
    const campaign = await make(w)
    expect((await w.post(`${campaign.path}/test`, { to: ['me@example.com'] })).status).toBe(404)
    await w.put(campaign.template('en'), { ...html, required: ['user.data.name'] })
    const { body } = await w.post(`${campaign.path}/test`, { to: ['me@example.com'] })
    expect(body.results).toEqual([
      { to: 'me@example.com', outcome: 'refused', reason: expect.stringContaining('`user.data.name` is empty') },
    ])
    for (const to of [[], Array.from({ length: 11 }, (_, at) => `u${at}`), 'me@example.com']) {
      expect((await w.post(`${campaign.path}/test`, { to })).status).toBeGreaterThanOrEqual(400)
    }
    expect((await w.post(`${campaign.path}/test`, { to: ['x'] }, { key: w.keys.support })).status).toBe(403)
  })

  test('work on every channel', async () => {
    await using w = await world()
    const kim = { external_id: 'kim', email: 'kim@example.com', phone: '+61491570156', data: { name: 'Kim' } }
    await w.post('/api/client/users/batch', [kim])
    await w.post('/api/client/devices', { external_id: 'kim', device_id: 'phone', token: 't1' })
    for (const channel of CHANNELS) {
      const campaign = await make(w, channel)
      await w.put(campaign.template('en'), templateKinds[channel].sample)
      const { body } = await w.post(`${campaign.path}/test`, { to: ['kim'] })
      expect(body.results, channel).toMatchObject([{ outcome: 'accepted' }])
    }
    const campaign = await make(w, 'text')
    await w.put(campaign.template('en'), { body: 'Hi' })
    const { body } = await w.post(`${campaign.path}/test`, { to: ['+61491570157'] })
    expect(body.results).toMatchObject([{ outcome: 'accepted', content: { to: '+61491570157' } }])
  })
})

test('an email that was saved without compiled content is sent', async () => {
  await using w = await world()
  const campaign = await make(w)
  await w.put(campaign.template('en'), html)
  await w.db.run(sql`update campaign_templates set compiled = null where project_id = ${w.projectId}`)
  expect((await sendableTemplatesOf(w.ctx, [campaign.id]))[0]?.content).toEqual({
    ...html,
    html: `<html lang="en">${html.html}`,
    text: '{{ user.data.name }}\n\nStop ({{ unsubscribe_url }})',
  })
})
