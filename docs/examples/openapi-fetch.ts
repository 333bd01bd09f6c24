/**
 * A client from types: `npx openapi-typescript $URL/openapi.json --output carillon.ts`, and the package `openapi-fetch`.
 * Compile it with TypeScript, and run it as `node openapi-fetch.js $URL $KEY`.
 */
import createClient from 'openapi-fetch'
import type { paths } from './carillon.js'

const [baseUrl = 'http://127.0.0.1:3000', key = ''] = process.argv.slice(2)
const carillon = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })

/** The reply, or an exception with the message of the error. */
async function replyOf<T>(call: Promise<{ data?: T; error?: { message: string } }>): Promise<T> {
  const { data, error } = await call
  if (error) throw new Error(error.message)
  return data as T
}

// An event creates the user. It is accepted at once and takes effect a moment later.
await replyOf(
  carillon.POST('/api/client/events', {
    body: [
      { name: 'order_placed', external_id: 'customer-7', data: { total: 89.9 }, user: { email: 'kim@example.com', data: { plan: 'pro' } } },
    ],
  }),
)

async function userWith(externalId: string) {
  for (;;) {
    const { data } = await carillon.GET('/api/client/users/{userId}', { params: { path: { userId: externalId } } })
    if (data) return data
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const user = await userWith('customer-7')
const plan = user.data.plan

const types = await replyOf(carillon.GET('/api/client/subscriptions', { params: { query: { limit: 100 } } }))
const email = types.results.find(({ channel }) => channel === 'email')
if (!email) throw new Error('The project has no subscription type for email.')

const list = await replyOf(
  carillon.POST('/api/client/lists', { body: { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } } }),
)
const campaign = await replyOf(
  carillon.POST('/api/client/campaigns', { body: { type: 'blast', name: 'News', subscription_id: email.id, list_ids: [list.id] } }),
)
const path = { campaignId: campaign.id, locale: 'en' }
await replyOf(
  carillon.PUT('/api/client/campaigns/{campaignId}/templates/{locale}', {
    params: { path },
    body: { subject: 'News', html: '<p>Hello. <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>' },
  }),
)

const refused = await carillon.GET('/api/client/campaigns/{campaignId}', { params: { path: { campaignId: campaign.id + 1 } } })

process.stdout.write(JSON.stringify({ user: user.external_id, plan, campaign: campaign.state, refused: refused.error?.code }))
