/** What the pictures and the checks of looks show: a few users, what they did, and captured messages. */
import { SAMPLE_USERS } from '../src/parts/sample-users.ts'
import type { Site } from './site.ts'

const SUBJECTS = [
  ['sample-2', 'Time for more beans, Wilhelmina?'],
  ['sample-3', '手冲咖啡豆快喝完了吗？'],
  ['sample-4', 'هل أوشكت حبوب القهوة على النفاد؟'],
] as const

const HTML = `<div style="max-width: 520px; margin: 0 auto; padding: 24px; font: 16px/1.6 Georgia, serif; color: #1d3a33">
<h1 style="font-size: 24px">Nearly out of filter beans?</h1>
<p>It has been 23 days since your last bag of Gesha, washed. If you brew two cups a day, there are about three mornings left in it.</p>
<p><a href="https://shop.example.com" style="display: inline-block; padding: 12px 20px; background: #1d3a33; color: #fff; text-decoration: none">Send me another bag</a></p>
<p style="font-size: 12px"><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></div>`

/** Fills the first project. */
export async function fillProject(site: Site): Promise<void> {
  await site.api('POST', 'users/batch', SAMPLE_USERS)
  await site.api('POST', 'events', [
    { external_id: 'sample-2', name: 'page_viewed', data: { path: '/beans/gesha-washed' } },
    { external_id: 'sample-2', name: 'order_placed', data: { order: 88140, total: 64, currency: 'AUD', items: 2 } },
  ])
  const types = (await site.api('GET', 'subscriptions')).results
  const typeOf = (wanted: string): number => types.find(({ channel }: { channel: string }) => channel === wanted).id
  for (const [external_id, subject] of SUBJECTS)
    await site.api('POST', 'messages', { user: { external_id }, subscription_id: typeOf('email'), content: { subject, html: HTML } })
  await site.api('POST', 'messages', {
    user: { external_id: 'sample-2' },
    subscription_id: typeOf('text'),
    content: { body: 'Hi Wilhelmina, 23 days since your Gesha. Another bag? shop.example.com/r/8kq2 Reply STOP to leave' },
  })
  const { id } = await site.api('POST', 'lists', {
    name: 'Ordered in the last month',
    type: 'dynamic',
    rule: {
      all: [
        { event: 'order_placed', at_least: 1, within: '30d', where: [{ attribute: 'data.total', greater_than: 30 }] },
        {
          any: [
            { attribute: 'email', is_set: true },
            { attribute: 'data.plan', one_of: ['pro', 'team'] },
          ],
        },
      ],
    },
  })
  await site.api('POST', 'lists', { name: 'Others', type: 'dynamic', rule: { not: { list: id } } })
  await site.api('POST', 'lists', { name: 'Testers', type: 'static', tags: ['shop'] })
  await site.api('POST', 'suppressions', [{ channel: 'email', address: 'lee@example.net' }])
  const domain = await site.api('POST', 'domains', { sending_domain: 'bellbird.test' })
  await site.api('PUT', `domains/${domain.id}/warm-up`, {})
  await site.api('PUT', 'mail-sites/google', { limits: { mails_per_second: 20 } })
  await addCampaigns(site, typeOf('email'))
  // Any other kind would make the project a live one.
  await site.api('POST', 'providers', { name: 'Mail relay', kind: 'sandbox', channel: 'email', settings: {} })
  const event_types = ['delivery.delivered', 'delivery.dsn-perm-fail', 'incoming-report.abuse-report']
  const endpoint = await site.api('POST', 'webhooks', { name: 'Warehouse', url: 'https://hooks.warehouse.test/carillon', event_types })
  await site.api('POST', `webhooks/${endpoint.id}/test`, {})
  await addJourney(site, typeOf('email'))
}

/** A campaign that was sent, and a draft. */
async function addCampaigns(site: Site, subscription_id: number): Promise<void> {
  const { id: list } = await site.api('POST', 'lists', { name: 'Newsletter', type: 'static' })
  await site.api('POST', `lists/${list}/users`, { external_ids: SAMPLE_USERS.map(({ external_id }) => external_id) })
  const names = ['Spring harvest launch', 'Refill reminder']
  for (const name of names) {
    const { id } = await site.api('POST', 'campaigns', { type: 'blast', name, subscription_id, list_ids: [list] })
    const subject = 'Nearly out of filter beans, {{ user.data.first_name | default: "friend" }}?'
    const preheader = 'Your last bag was Gesha, washed'
    await site.api('PUT', `campaigns/${id}/templates/en-AU`, { from: 'Bellbird <hello@bellbird.example>', subject, preheader, html: HTML })
    if (name === names[0]) await site.api('PATCH', `campaigns/${id}`, { state: 'scheduled', send_at: new Date().toISOString() })
  }
}

/** A journey with users at several steps. */
async function addJourney(site: Site, subscription_id: number): Promise<void> {
  const { id: campaign_id } = await site.api('POST', 'campaigns', { type: 'trigger', name: 'Time for a refill', subscription_id })
  await site.api('PUT', `campaigns/${campaign_id}/templates/en-AU`, {
    from: 'Bellbird <hello@bellbird.example>',
    subject: 'A refill?',
    html: HTML,
  })
  await site.api('PATCH', `campaigns/${campaign_id}`, { state: 'running' })
  const { id } = await site.api('POST', 'journeys', { name: 'Refill reminder', description: 'Three weeks after an order' })
  const branches = ['a', 'b'].map((path) => ({ path, weight: 1 }))
  await site.api('PUT', `journeys/${id}/steps`, {
    entrance_1: step('entrance', { trigger: 'event', event_name: 'refill_due', multiple: true }, ['default', 'gate_1']),
    gate_1: step('gate', { rule: { attribute: 'email', is_set: true } }, ['yes', 'delay_1'], ['no', 'exit_1']),
    delay_1: { ...step('delay', { days: 21 }, ['default', 'experiment_1']), name: 'Three weeks' },
    experiment_1: step('experiment', { branches }, ['a', 'action_1'], ['b', 'wait_until_1']),
    action_1: step('action', { campaign_id }, ['default', 'wait_until_1']),
    wait_until_1: step('wait_until', WAIT, ['bought', 'exit_2'], ['timeout', 'exit_1']),
    exit_1: { ...step('exit', { as: 'exited', reason: 'not bought' }), name: 'Did not buy' },
    exit_2: { ...step('exit', { reason: 'bought' }), name: 'Bought' },
  })
  await site.api('POST', `journeys/${id}/publish`, { note: 'First version' })
  const events = SAMPLE_USERS.map(({ external_id }) => ({ external_id, name: 'refill_due' }))
  await site.api('POST', 'events', events)
}

const WAIT = { conditions: [{ path: 'bought', event_name: 'order_placed' }], timeout: '7d' }

const step = (type: string, data: object, ...ways: [path: string, external_id: string][]) => ({
  type,
  x: 0,
  y: 0,
  data,
  children: ways.map(([path, external_id]) => ({ path, external_id })),
})
