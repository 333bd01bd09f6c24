import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'

test('a captured email is checked as it was rendered, with its tracked links and where they lead', async () => {
  await using w = await world()
  await w.users('ana')
  const [project] = (await w.get('/api/client/projects', { key: w.keys.organisation })).body.results
  await w.patch(`/api/client/projects/${project.id}`, { link_wrap_email: true }, { key: w.keys.organisation })
  const types = (await w.get('/api/client/subscriptions')).body.results
  const marketing = types.find(({ channel }: { channel: string }) => channel === 'email')
  const { id: transactional } = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true }))
    .body
  const html =
    '<p>{{ literal }}</p>\n<img src="http://cdn.example.com/a.png">\n<p><a href="http://localhost/{{ user.external_id }}">Try it</a>\n<a href="/returns">Returns</a></p>'
  const send = async (event_name: string, subscription_id: number, more = '') => {
    const { id } = (await w.post('/api/client/campaigns', { type: 'trigger', name: 'Beans', subscription_id, event_name })).body
    await w.put(`/api/client/campaigns/${id}/templates/en`, { from: 'shop@example.com', subject: 'Beans', html: html + more })
    await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
    await w.post('/api/client/events', [{ name: event_name, external_id: 'ana' }])
    await w.drain()
    const { results } = (await w.get('/api/client/sandbox/messages?limit=1')).body
    const path = `/api/client/sandbox/messages/${results[0].id}/check`
    return { path, check: (await w.get(path, { key: w.keys.support })).body }
  }
  const kinds = ({ findings }: any) => findings.map(({ kind, line }: any) => [kind, line])

  const { path, check } = await send('one', marketing.id)
  expect(kinds(check)).toEqual([
    ['no_unsubscribe_link', undefined],
    ['insecure_link', 2],
    ['missing_alt', 2],
  ])
  expect(check.links).toEqual([
    expect.objectContaining({ text: 'Try it', kind: 'tracked', target: 'http://localhost/ana', problem: 'loopback', line: 3 }),
    { url: '/returns', text: 'Returns', kind: 'none', target: null, problem: 'relative', line: 4 },
  ])
  expect(check.size_bytes).toBeGreaterThan(html.length)
  expect((await w.get(path, { key: (await w.other()).keys.secret })).status).toBe(404)

  const left = (await send('two', marketing.id, '<a href="{{ unsubscribe_url }}">Leave</a>')).check
  expect(kinds(left)).toEqual(kinds(check).slice(1))
  expect(left.links.at(-1)).toMatchObject({ kind: 'unsubscribe', text: 'Leave', problem: null })
  const own = '{% assign u = unsubscribe_url | append: "?x=1#y" %}<a href="{{ u }}">Leave</a>'
  expect((await send('four', marketing.id, own)).check.links.at(-1)).toMatchObject({ kind: 'unsubscribe', problem: null })
  expect(kinds((await send('three', transactional)).check)).toEqual(kinds(check).slice(1))
})

test.each([
  [
    'email',
    {
      from: 'shop@example.com',
      subject: '{{ user.data.note }}',
      html: '<p>{{ user.data.note }} <a href="https://example.com/a?b={{ user.data.note }}">{{ user.data.note }}</a>',
    },
  ],
  ['text', { body: '{{ user.data.note }}' }],
])('a captured message of the channel %s may say what looks like Liquid', async (channel, template) => {
  await using w = await world()
  await w.users('ana')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', phone: '+61491570156', data: { note: '{{ ✓ {% if %}' } }])
  const types = (await w.get('/api/client/subscriptions')).body.results
  const { id: subscription_id } = types.find((type: { channel: string }) => type.channel === channel)
  const { id } = (await w.post('/api/client/campaigns', { type: 'trigger', name: 'Beans', subscription_id, event_name: 'e' })).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, template)
  await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  await w.post('/api/client/events', [{ name: 'e', external_id: 'ana' }])
  await w.drain()
  const [message] = (await w.get('/api/client/sandbox/messages?limit=1')).body.results
  const { status, body } = await w.get(`/api/client/sandbox/messages/${message.id}/check`)
  expect(status).toBe(200)
  expect(body.links.map(({ text, url }: any) => [text, url])).toEqual(
    channel === 'email' ? [['{{ ✓ {% if %}', 'https://example.com/a?b={{ ✓ {% if %}']] : [],
  )
  expect(body.findings.map(({ kind }: any) => kind)).toEqual(channel === 'email' ? ['no_unsubscribe_link'] : ['sms_unicode'])
})
