/** Campaigns that send over a provider: a relay as the provider of a project, and a trigger campaign. */
import { expect } from 'vitest'
import type { CampaignId, ProviderId } from '../src/lib/ids.ts'
import { CAMPAIGNS, subscriptionTo, write } from './blasts.ts'
import type { Relay } from './relay.ts'
import type { World } from './world.ts'

/** Saves a provider. The first of a channel is its default. */
export async function providerOf(w: World, body: { kind: string; channel: string; settings: object }): Promise<ProviderId> {
  const made = await w.post('/api/client/providers', { name: body.kind, ...body })
  expect(made.status, made.text).toBe(201)
  return made.body.id
}

/** Saves a relay as a provider of email. */
export const sendOver = (w: World, { host, port }: Pick<Relay, 'host' | 'port'>): Promise<ProviderId> =>
  providerOf(w, { kind: 'smtp', channel: 'email', settings: { host, port, tls: 'none', connections: 5 } })

const CONTENT: Record<string, object> = {
  email: { from: 'Shop <shop@example.com>', subject: 'Thanks', html: '<p>Thanks</p>' },
  text: { body: 'Thanks' },
  push: { title: 'Thanks', body: 'Thanks' },
  in_app: { title: 'Thanks', body: 'Thanks' },
}

/** Starts a campaign that sends one message for each event `order`, whose template has `more` beside its content. */
export async function answerOrders(
  w: World,
  channel: 'email' | 'text' | 'push' | 'in_app' = 'email',
  more: object = {},
): Promise<{ id: CampaignId }> {
  const subscription_id = await subscriptionTo(w, channel)
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Thanks', subscription_id, event_name: 'order' })
  expect(made.status, made.text).toBe(201)
  const put = await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { ...CONTENT[channel], ...more })
  expect(put.status, put.text).toBe(200)
  await write(w, made.body, { state: 'running' })
  return made.body
}

/** Sends an event `order` for each of these users. */
export async function order(w: World, ...names: string[]): Promise<void> {
  const placed = await w.post(
    '/api/client/events',
    names.map((external_id) => ({ name: 'order', external_id })),
  )
  expect(placed.status, placed.text).toBe(204)
}

/** The recipients of all emails that a relay accepted, sorted. */
export const recipientsOf = ({ mails }: Pick<Relay, 'mails'>): string[] => mails.flatMap(({ to }) => to).sort()
