/** `carillon seed`: fills a project with invented data, over the API, so that it is checked and processed like any other. */
import type { Call } from '../call-api.ts'
import { CommandError, readArguments, UsageError } from '../command.ts'
import { OPTIONS } from '../options.ts'
import { invent } from './invent.ts'

/** The most items in one request. */
const BATCH_ITEMS = 100
const USERS_MAX = 100_000

export type SeedOptions = { users: number; seed: number; url: string | undefined; key: string | undefined }

/** Reads the arguments of the command. Throws `UsageError` if one is invalid. */
export function seedOptions(args: string[]): SeedOptions {
  const { users, seed, url, key } = readArguments(args, OPTIONS.seed).values
  const isCount = /^[1-9]\d{0,5}$/.test(users) && Number(users) <= USERS_MAX
  if (!isCount) throw new UsageError(`--users must be a number from 1 to ${USERS_MAX}.`)
  if (!/^\d{1,9}$/.test(seed)) throw new UsageError('--seed must be a number such as 1.')
  return { users: Number(users), seed: Number(seed), url, key }
}

/** Seeds a project. What an earlier seed created is not created again. Throws `CommandError` if the project can send to real addresses. */
export async function seedProject(
  { users: count, seed }: SeedOptions,
  call: Call,
  today: Date,
  print: (line: string) => void,
): Promise<void> {
  const { results: providers } = (await call('GET', '/api/client/providers?limit=1')) as Listed
  if (providers.length > 0)
    throw new CommandError('The project has a provider, so its campaigns could send messages. Seed a project without providers.')
  const { users, events } = invent(count, seed, today)
  for (let at = 0; at < users.length; at += BATCH_ITEMS) await call('POST', '/api/client/users/batch', users.slice(at, at + BATCH_ITEMS))
  for (let at = 0; at < events.length; at += BATCH_ITEMS) await call('POST', '/api/client/events', events.slice(at, at + BATCH_ITEMS))
  print(`${users.length} users and ${events.length} events.`)
  const { results } = (await call('GET', '/api/client/campaigns?q=seed-welcome&limit=1')) as Listed
  if (results.length > 0) return print((await isComplete(call)) ? COMPLETE : INCOMPLETE)
  await configure(call)
  print('2 lists, 3 campaigns and a journey.')
}

type Listed = { results: { id: number }[] }

const COMPLETE = 'The lists, campaigns and the journey already exist.'
const INCOMPLETE = 'An earlier seed broke off before its journey was live. To have all of it, seed a new project.'
const JOURNEY = 'Welcome series'

/** Whether an earlier seed came to its end, where the journey goes live. It may have been renamed or archived since. */
async function isComplete(call: Call): Promise<boolean> {
  for (const archived of ['false', 'true']) {
    const { results } = (await call('GET', `/api/client/journeys?archived=${archived}&limit=100`)) as { results: { status: string }[] }
    if (results.some(({ status }) => status !== 'draft')) return true
  }
  return false
}

async function configure(call: Call): Promise<void> {
  const create = async (path: string, body: object) => (await call('POST', `/api/client/${path}`, body)).id as number
  const { results } = (await call('GET', '/api/client/subscriptions?q=email&limit=1')) as Listed
  const [type] = results
  if (!type) throw new CommandError('The project has no subscription type for email.')
  const subscription_id = type.id
  const campaign = async (body: object, subject: string, html: string) => {
    const id = await create('campaigns', { subscription_id, ...body })
    const from = 'Shop <shop@example.com>'
    const footer = '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>'
    await call('PUT', `/api/client/campaigns/${id}/templates/en`, { from, subject, html: `${html}${footer}` })
    return id
  }
  const rule = {
    all: [
      { attribute: 'data.plan', one_of: ['pro', 'team'] },
      { event: 'purchase', at_least: 1, within: '30d' },
    ],
  }
  const buyers = await create('lists', { name: 'Customers with a purchase in the last 30 days', type: 'dynamic', rule })
  await create('lists', { name: 'Free plan', type: 'dynamic', rule: { attribute: 'data.plan', is: 'free' } })
  const welcome = await campaign(
    { type: 'trigger', name: 'Welcome', slug: 'seed-welcome' },
    'Welcome, {{ user.data.name }}',
    '<p>Hello {{ user.data.name }}, good to have you.</p>',
  )
  const tips = await campaign(
    { type: 'trigger', name: 'First tips', slug: 'seed-tips' },
    'Three tips to get started',
    '<p>Three tips, {{ user.data.name }}.</p>',
  )
  await campaign(
    { type: 'blast', name: 'Thank you', slug: 'seed-thank-you', list_ids: [buyers] },
    'Thank you, {{ user.data.name }}',
    '<p>Thank you for your purchase.</p>',
  )
  for (const id of [welcome, tips]) await call('PATCH', `/api/client/campaigns/${id}`, { state: 'running' })
  const journey = await create('journeys', { name: JOURNEY })
  await call('PUT', `/api/client/journeys/${journey}/steps`, stepsOf(welcome, tips))
  await call('POST', `/api/client/journeys/${journey}/publish`, {})
}

const to = (step: string, path?: string) => ({ external_id: step, ...(path && { path }) })

const stepsOf = (welcome: number, tips: number) => ({
  start: { type: 'entrance', x: 0, y: 0, data: { trigger: 'event', event_name: 'signed_up' }, children: [to('welcome')] },
  welcome: { type: 'action', x: 0, y: 100, data: { campaign_id: welcome }, children: [to('wait')] },
  wait: {
    type: 'wait_until',
    x: 0,
    y: 200,
    data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '2d' },
    children: [to('end', 'bought'), to('tips', 'timeout')],
  },
  tips: { type: 'action', x: 100, y: 300, data: { campaign_id: tips }, children: [to('end')] },
  end: { type: 'exit', x: 0, y: 400 },
})
