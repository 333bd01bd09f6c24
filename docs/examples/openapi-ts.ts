/**
 * A client with a function for each operation: `npx @hey-api/openapi-ts --input $URL/openapi.json --output carillon`.
 * Compile it with TypeScript, and run it as `node openapi-ts.js $URL $KEY`.
 */
import { client } from './carillon/client.gen.js'
import { createCampaign, createEvents, createList, getCampaign, getUser, listSubscriptions, setCampaignTemplate } from './carillon/index.js'

const [baseUrl = 'http://127.0.0.1:3000', key = ''] = process.argv.slice(2)
client.setConfig({ baseUrl, auth: key })

// An event creates the user. It is accepted at once and takes effect a moment later.
await createEvents({
  throwOnError: true,
  body: [
    { name: 'order_placed', external_id: 'customer-8', data: { total: 89.9 }, user: { email: 'lee@example.com', data: { plan: 'pro' } } },
  ],
})

async function userWith(userId: string) {
  for (;;) {
    const { data } = await getUser({ path: { userId } })
    if (data) return data
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const user = await userWith('customer-8')
const plan = user.data.plan

const types = await listSubscriptions({ throwOnError: true, query: { limit: 100 } })
const email = types.data.results.find(({ channel }) => channel === 'email')
if (!email) throw new Error('The project has no subscription type for email.')

const list = await createList({ throwOnError: true, body: { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } } })
const campaign = await createCampaign({
  throwOnError: true,
  body: { type: 'blast', name: 'News', subscription_id: email.id, list_ids: [list.data.id] },
})
await setCampaignTemplate({
  throwOnError: true,
  path: { campaignId: campaign.data.id, locale: 'en' },
  body: { subject: 'News', html: '<p>Hello. <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>' },
})

const refused = await getCampaign({ path: { campaignId: campaign.data.id + 1 } })

process.stdout.write(JSON.stringify({ user: user.external_id, plan, campaign: campaign.data.state, refused: refused.error?.code }))
