/** A world whose provider of email is the server’s own mail queue, with the Internet of mail that it delivers to, and a webhook endpoint. */
import { expect, inject } from 'vitest'
import type { CampaignId } from '../src/lib/ids.ts'
import { webhookEvents } from '../src/modules/webhook-events/index.ts'
import { verifiedDomain } from './domains.ts'
import { type Internet, openInternet } from './internet/internet.ts'
import { answerOrders, order, providerOf } from './mailing.ts'
import type { Receiver } from './receiver.ts'
import { type World, world } from './world.ts'

export type MailEvent = { id: string; type: string; data: Record<string, unknown> }

export type MailWorld = World & {
  internet: Internet
  endpoint: Receiver
  campaign: { id: CampaignId }
  /** Sends an email to a new user at a domain, without delivering it. Returns the address. */
  mailTo(domain: string): Promise<string>
  /** Delivers what is due. Returns the events that the endpoint got since the last call, in order; with an address, those about it. */
  events(address?: string): Promise<MailEvent[]>
}

let users = 0

/** Opens a mail world. Every event type is subscribed to, except for the one for entering the queue. */
export async function mailWorld(
  env: Record<string, string> = {},
  leaves: string[] = ['queue.queue-message-authenticated'],
): Promise<MailWorld> {
  const internet = await openInternet(inject('authorityDir'))
  const w = await world({ env: { DNS_SERVERS: internet.dns.server, MTA_PORT: String(internet.mx.port), ...env } })
  const receiver = await w.receiver()
  const types = Object.values(webhookEvents).flatMap(({ type }) => (leaves.includes(type) ? [] : [type]))
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: types })).status).toBe(201)
  await verifiedDomain(w, 'example.com')
  await providerOf(w, { kind: 'mta', channel: 'email', settings: {} })
  const campaign = await answerOrders(w)
  return {
    ...w,
    internet,
    endpoint: receiver,
    campaign,
    async mailTo(domain) {
      const name = `user-${++users}`
      const email = `${name}@${domain}`
      await w.post('/api/client/users/batch', [{ external_id: name, email }])
      await order(w, name)
      return email
    },
    async events(address) {
      await w.drain()
      const all = receiver.requests.splice(0).map(({ json }) => json as MailEvent)
      const events = all.filter(({ data }) => address === undefined || [data.to].flat().includes(address))
      return events.sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    async [Symbol.asyncDispose]() {
      await w[Symbol.asyncDispose]()
      await internet[Symbol.asyncDispose]()
    },
  }
}

/** The types of events, without `delivery.`. */
export const typesOf = (events: MailEvent[]): string[] => events.map(({ type }) => type.replace(/^delivery\./, ''))
