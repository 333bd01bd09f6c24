/** What the pictures and the checks of looks show: a few users, what they did, and captured messages. */
import { SAMPLE_USERS } from '../src/screens/home/sample-users.ts'
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
  await addCampaigns(site, typeOf('email'))
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
