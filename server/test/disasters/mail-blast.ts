/** Server processes with a mail queue of their own, the Internet of mail that they deliver to, and a webhook endpoint, for tests that kill them. */
import { cp } from 'node:fs/promises'
import { inject } from 'vitest'
import { temporaryDir } from '../child-server.ts'
import { type Internet, openInternet } from '../internet/internet.ts'
import { openReceiver, type Receiver } from '../receiver.ts'
import { rowsOf } from '../statements.ts'
import { type Call, caller, createBlast } from './blast.ts'
import { type Group, type Roles, startGroup } from './group.ts'

export type MailGroup = AsyncDisposable & { group: Group; internet: Internet; receiver: Receiver; call: Call }

/** The types of the events that the endpoint gets. */
const EVENT_TYPES = ['delivery.attempt-end', 'delivery.delivered', 'delivery.dsn-perm-fail', 'delivery.completed']

/** Starts processes with a verified sending domain, whose leases are short. The first one must have the API. */
export async function startMailGroup(roles: Roles, env: Record<string, string> = {}): Promise<MailGroup> {
  await using opening = new AsyncDisposableStack()
  const internet = opening.use(await openInternet(inject('authorityDir')))
  const receiver = opening.use(await openReceiver())
  const dir = opening.use(await temporaryDir())
  // The servers trust the authority that issued the certificates of the receiver and of the mail hosts.
  await cp(inject('authorityDir'), dir.path, { recursive: true, filter: (path) => !path.endsWith('/postgres') })
  const mail = { DNS_SERVERS: internet.dns.server, MTA_PORT: String(internet.mx.port), MESSAGE_LEASE_S: '2' }
  const group = opening.use(await startGroup(roles, { env: { DATA_DIR: dir.path, ...mail, ...env } }))
  const call = caller(group.urls[0] as string, group.key)
  await call('POST', '/domains', { sending_domain: 'example.com' })
  await rowsOf(group.databaseUrl, `update domains set sending_verified_at = now(), next_check_at = '2100-01-01'`)
  await rowsOf(group.databaseUrl, `update dkim_keys set state = 'active'`)
  await call('POST', '/webhooks', { name: 'Depot', url: receiver.url, event_types: EVENT_TYPES })
  const closing = opening.move()
  return { group, internet, receiver, call, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** Creates a draft of a blast to users with these addresses, which the servers deliver themselves. Returns the id of the campaign. */
export async function prepareMailBlast(call: Call, addresses: string[]): Promise<number> {
  const settings = { default_from: 'shop@example.com' }
  const { id } = await call('POST', '/providers', { name: 'Own', kind: 'mta', channel: 'email', settings })
  return createBlast(call, addresses, id)
}

export type QueuedRow = { mail_id: number; address: string; state: string; attempts: number }

/** The recipients in the mail queue. */
export const queueOf = ({ group }: MailGroup): Promise<QueuedRow[]> =>
  rowsOf<QueuedRow>(group.databaseUrl, 'select mail_id::int, address, state, attempts from mail_recipients order by mail_id, no')

/** How many times each address was accepted at the mail hosts. */
export const acceptedBy = ({ internet }: MailGroup): Map<string, number> => {
  const times = new Map<string, number>()
  for (const { to } of internet.mx.mails()) for (const address of to) times.set(address, (times.get(address) ?? 0) + 1)
  return times
}
