import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { subscriptionTo } from '../../../test/blasts.ts'
import { recipientsOf, sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { type World, world } from '../../../test/world.ts'
import { CommandError } from '../command.ts'
import { importFrom, importOptions } from './import-from.ts'
import type { Product } from './product.ts'
import * as products from './products.ts'
import { converted, typesOf } from './types.ts'

const PRODUCTS: Record<string, Product> = products

/** A file as the product exports it. */
const exported = (name: string) => fileURLToPath(new URL(`../../../test/exports/${name}`, import.meta.url))

const leftovers: string[] = []
afterEach(async () => {
  for (const path of leftovers.splice(0)) await rm(path, { recursive: true })
})

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-export-'))
  leftovers.push(folder)
  await writeFile(join(folder, 'export'), text)
  return join(folder, 'export')
}

/** Runs the command, and returns the lines that it prints. */
async function run(w: World, ...args: string[]): Promise<string[]> {
  const lines: string[] = []
  await importFrom(importOptions(args), callOf(w), (line) => lines.push(line))
  return lines
}

const callOf = (w: World) => async (method: string, path: string, body?: object) => {
  const reply = await w.request(method, path, body)
  if (reply.status >= 300) throw new CommandError(reply.body.message)
  return reply.body ?? {}
}

const userOf = async (w: World, id: string) => (await w.get(`/api/client/users/${id}`)).body
const suppressed = async (w: World) =>
  (await w.get('/api/client/suppressions?limit=100')).body.results
    .map(({ channel, address, reason }: Record<string, string>) => `${channel} ${address} ${reason}`)
    .toSorted()
const statesOf = async (w: World, id: string, types: number[]) => {
  const { results } = (await w.get(`/api/client/users/${id}/subscriptions?limit=100`)).body
  return types.map((type) => results.find((row: { subscription_id: number }) => row.subscription_id === type).state)
}
const newType = async (w: World, name: string) =>
  (await w.post('/api/client/subscriptions', { name, channel: 'email', default_state: 0 })).body.id as number

describe('Customer.io', () => {
  test('users get their attributes, topics, opt-outs and a list', async () => {
    await using w = await world()
    const [first, second] = [await newType(w, 'News'), await newType(w, 'Offers')]
    const list = (await w.post('/api/client/lists', { name: 'Moved', type: 'static' })).body.id
    const args = ['customerio', 'users', exported('customerio-users.csv'), '--topics', `topic_1=${first},topic_2=${second}`]
    const options = ['--types', 'seats:number,created_at:date', '--list', String(list)]
    expect(await run(w, ...args, ...options, '--dry-run')).toEqual([
      'Row 3: The value "x" of seats is not a number.',
      'Would save 2 users, 2 subscription states and 2 suppressed addresses.',
      'Refused 1 row.',
    ])
    expect((await w.get('/api/client/users')).body.results).toEqual([])
    expect(await run(w, ...args, ...options)).toContain('Saved 2 users, 2 subscription states and 2 suppressed addresses.')
    expect(await userOf(w, '42')).toMatchObject({
      email: 'ana@example.com',
      phone: '+61491570156',
      timezone: 'Australia/Hobart',
      data: { first_name: 'Ana', plan: 'pro', seats: 5, created_at: '2023-11-14T22:13:20.000Z' },
    })
    expect(await statesOf(w, '42', [first, second])).toEqual([1, 0])
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all', 'text +61491570157 unsubscribed_all'])
    const members = (await w.get(`/api/client/lists/${list}/users`)).body.results
    expect(members.map(({ external_id }: { external_id: string }) => external_id).toSorted()).toEqual(['42', '43'])
  })

  test('a file can be imported again, and rows without an id of their own have that of the product', async () => {
    await using w = await world()
    const args = ['customerio', 'users', exported('customerio-users.csv')]
    await run(w, ...args)
    const before = await userOf(w, 'a3000003')
    expect(before).toMatchObject({ email: 'lee@example.com', timezone: null, data: { seats: 'x' } })
    w.advance('1 minute')
    expect(await run(w, ...args)).toEqual(['Saved 3 users, 0 subscription states and 2 suppressed addresses.'])
    expect(await userOf(w, 'a3000003')).toEqual(before)
  })

  test('a file that is imported again subscribes nobody who has unsubscribed since', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const types = [await newType(w, 'News'), await newType(w, 'Offers')]
    const users = (unsubscribed: boolean) =>
      fileWith(`id,email,unsubscribed\n1,ana@example.com,${unsubscribed}\n2,kim@example.com,${unsubscribed}\n`)
    const file = await users(false)
    const imported = async (file: string) => {
      for (const type of types) await run(w, 'customerio', 'users', file, '--subscription', String(type))
    }
    await imported(file)
    await w.patch('/api/client/users/1/subscriptions', [{ subscription_id: types[0], state: 0 }])
    await w.patch('/api/client/users/2/subscriptions', [{ subscription_id: types[0], state: 2 }])
    await imported(file)
    expect(await Promise.all(['1', '2'].map((id) => statesOf(w, id, types)))).toEqual([
      [0, 1],
      [2, 1],
    ])
    const content = { from: 'App <app@example.com>', subject: 'News', html: '<p>News</p>' }
    for (const [external_id, email] of [['1', 'ana@example.com'] as const, ['2', 'kim@example.com'] as const])
      await w.post('/api/client/messages', { subscription_id: types[0], content, user: { external_id, email } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['kim@example.com'])
    await imported(await users(true))
    expect(await Promise.all(['1', '2'].map((id) => statesOf(w, id, types)))).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  test('who has opted out of everything gets no email of any type, also if the file is imported for one of them', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const [type, other] = [await newType(w, 'News'), await subscriptionTo(w, 'email')]
    const file = await fileWith('id,email,phone,unsubscribed\n1,ana@example.com,,false\n2,kim@example.com,,true\n3,,+61491570156,true\n')
    expect(await run(w, 'customerio', 'users', file, '--subscription', String(type))).toEqual([
      'Saved 3 users, 3 subscription states and 2 suppressed addresses.',
    ])
    expect(await Promise.all(['1', '2'].map((id) => statesOf(w, id, [type])))).toEqual([[1], [0]])
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all', 'text +61491570156 unsubscribed_all'])
    const content = { from: 'App <app@example.com>', subject: 'Other', html: '<p>Other</p>' }
    for (const external_id of ['1', '2']) await w.post('/api/client/messages', { subscription_id: other, content, user: { external_id } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('a file that is imported again does not bring back users who were erased, or let email to them through', async () => {
    await using w = await world()
    const file = await fileWith('id,email,phone\n1,ana@example.com,\n2,kim@example.com,\n3,,+61491570156\n')
    await run(w, 'customerio', 'users', file)
    await w.drain()
    for (const id of ['1', '3']) expect((await w.delete(`/api/client/users/${id}`)).status).toBe(204)
    await w.drain()
    const refused = 'A user with this address was erased. Lift the suppression of the address first if the user agreed to come back.'
    expect(await run(w, 'customerio', 'users', file)).toEqual([
      `Row 1: ${refused}`,
      `Row 3: ${refused}`,
      'Saved 1 user, 0 subscription states and 0 suppressed addresses.',
      'Refused 2 rows.',
    ])
    expect((await w.get('/api/client/users')).body.results).toMatchObject([{ external_id: '2' }])
    expect(await suppressed(w)).toEqual(['email null erased', 'text null erased'])
  })

  test('suppressed addresses have the reason of the file, or the one that is given', async () => {
    await using w = await world()
    const args = ['customerio', 'suppressions', exported('customerio-bounces.json')]
    expect(await run(w, ...args)).toEqual(['Row 2: The row has no reason. Pass --reason.', 'Suppressed 1 address.', 'Refused 1 row.'])
    expect(await run(w, ...args, '--reason', 'hard_bounce')).toEqual(['Suppressed 2 addresses.'])
    expect(await suppressed(w)).toEqual(['email full@example.com hard_bounce', 'email old@example.com hard_bounce'])
  })
})

describe('who has opted out', () => {
  const HEADER = 'id,email,phone,unsubscribed,cio_subscription_preferences\n'

  /** Runs the command until its write with this number, which fails as when the connection breaks. Returns whether it had one. */
  async function runUntilWrite(w: World, failing: number, ...args: string[]): Promise<boolean> {
    let writes = 0
    const call = async (method: string, path: string, body?: object) => {
      if (method !== 'GET' && ++writes === failing) throw new CommandError('The connection broke.')
      return callOf(w)(method, path, body)
    }
    await importFrom(importOptions(args), call, () => undefined).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error
    })
    return writes >= failing
  }

  test('of everything is suppressed before the user is saved, wherever the import breaks off', async () => {
    await using w = await world()
    let writes = 0
    for (let isBroken = true; isBroken; ) {
      const failing = ++writes
      const file = await fileWith(`${HEADER}k${failing},kim${failing}@example.com,+6149157015${failing},true,\n`)
      isBroken = await runUntilWrite(w, failing, 'customerio', 'users', file)
      const { status, body } = await w.get(`/api/client/users/k${failing}`)
      if (status === 200) expect(body.suppressions.map(({ channel }: { channel: string }) => channel)).toEqual(['email', 'text'])
      if (!isBroken) expect(body).toMatchObject({ email: `kim${failing}@example.com` })
    }
    expect(writes).toBe(3)
  })

  test('of a type has no address before that is stored, wherever the import breaks off', async () => {
    await using w = await world()
    const type = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 1 })).body.id as number
    const preferences = '"{""topics"":{""topic_1"":false}}"'
    let writes = 0
    for (let isBroken = true; isBroken; ) {
      const failing = ++writes
      const file = await fileWith(`${HEADER}k${failing},kim${failing}@example.com,+6149157015${failing},false,${preferences}\n`)
      isBroken = await runUntilWrite(w, failing, 'customerio', 'users', file, '--topics', `topic_1=${type}`)
      const { status, body } = await w.get(`/api/client/users/k${failing}`)
      const isReachable = status === 200 && (body.email ?? body.phone) !== null
      if (isReachable) expect(await statesOf(w, `k${failing}`, [type])).toEqual([0])
      if (!isBroken) expect(body).toMatchObject({ email: `kim${failing}@example.com`, phone: `+6149157015${failing}` })
    }
    expect(writes).toBe(4)
  })
})

test('users are imported, so that they enter journeys only where the entrance says so', async () => {
  await using w = await world()
  await run(w, 'customerio', 'users', exported('customerio-users.csv'), '--topics', `topic_2=${await newType(w, 'Offers')}`)
  await w.drain()
  for (const id of ['42', '43']) {
    const { results } = (await w.get(`/api/client/users/${id}/events?name=user_created`)).body
    expect(results).toMatchObject([{ name: 'user_created', data: { is_import: true } }])
  }
})

describe('addresses', () => {
  const HEADER = 'id,email,phone,language,timezone,unsubscribed\n'
  const users = async (w: World, rows: string) => run(w, 'customerio', 'users', await fileWith(HEADER + rows))
  const withoutCountry = async (w: World) =>
    w.patch(`/api/client/projects/${w.projectId}`, { locale: 'en', timezone: 'UTC' }, { key: w.keys.organisation })

  test('that are suppressed are phone numbers as the user would dial them, like those that are saved', async () => {
    await using w = await world()
    await withoutCountry(w)
    await users(w, '1,ana@example.com,0412 345 678,en-AU,Australia/Sydney,true\n2,kim@example.com,(0412) 345 679,,Australia/Sydney,true\n')
    expect(await userOf(w, '1')).toMatchObject({ email: 'ana@example.com', phone: '+61412345678' })
    expect(await suppressed(w)).toEqual([
      'email ana@example.com unsubscribed_all',
      'email kim@example.com unsubscribed_all',
      'text +61412345678 unsubscribed_all',
      'text +61412345679 unsubscribed_all',
    ])
  })

  test('without a country are phone numbers of the project’s', async () => {
    await using w = await world()
    await users(w, '1,,0412 345 678,,,true\n')
    expect(await userOf(w, '1')).toMatchObject({ phone: '+61412345678' })
    expect(await suppressed(w)).toEqual(['text +61412345678 unsubscribed_all'])
  })

  test('that are none refuse their row, and the others are saved with their opt-outs', async () => {
    await using w = await world()
    const lines = await users(
      w,
      '1,ana@example.com,ask her,,,true\n2,no address,,,,true\n3,kim@example.com,12,,,true\n4,lee@example.com,+61491570156,,,true\n',
    )
    expect(lines).toEqual([
      'Row 1: The value "ask her" of phone is not a phone number. Start it with + and the country code.',
      'Row 2: The value "no address" of email is not an email address.',
      'Row 3: The value "12" of phone is not a phone number. Start it with + and the country code.',
      'Saved 1 user, 0 subscription states and 2 suppressed addresses.',
      'Refused 3 rows.',
    ])
    expect(await suppressed(w)).toEqual(['email lee@example.com unsubscribed_all', 'text +61491570156 unsubscribed_all'])
  })

  test('that are none refuse their row of a file of suppressed addresses', async () => {
    await using w = await world()
    const file = await fileWith('email\nana@example.com\nno address\nkim@example.com\n')
    expect(await run(w, 'customerio', 'suppressions', file, '--reason', 'manual')).toEqual([
      'Row 2: The value "no address" of email is not an email address.',
      'Suppressed 2 addresses.',
      'Refused 1 row.',
    ])
    expect(await suppressed(w)).toEqual(['email ana@example.com manual', 'email kim@example.com manual'])
  })

  test('of erased users are found in any notation', async () => {
    await using w = await world()
    await withoutCountry(w)
    const row = '1,,0412 345 678,en-AU,,\n'
    await users(w, row)
    await w.drain()
    expect((await w.delete('/api/client/users/1')).status).toBe(204)
    await w.drain()
    expect(await users(w, row)).toContain('Refused 1 row.')
    expect((await w.get('/api/client/users')).body.results).toEqual([])
  })
})

describe('Braze', () => {
  test('users get their attributes, custom attributes and opt-outs', async () => {
    await using w = await world()
    await run(w, 'braze', 'users', exported('braze-users.jsonl'))
    expect(await userOf(w, '42')).toMatchObject({
      locale: 'pt',
      timezone: 'America/Sao_Paulo',
      data: {
        first_name: 'Ana',
        last_name: 'Silva',
        country: 'BR',
        dob: '1990-04-01',
        gender: 'F',
        plan: 'pro',
        seats: 5,
        tags: ['vip', 'beta'],
      },
    })
    expect(Object.keys((await userOf(w, '42')).data)).not.toContain('push_tokens')
    expect(await userOf(w, '5fbd3')).toMatchObject({ email: 'lee@example.com' })
    await run(w, 'braze', 'suppressions', exported('braze-hard-bounces.json'))
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all', 'email old@example.com hard_bounce'])
  })

  test('an opt-out is one of all email, also with a subscription type', async () => {
    await using w = await world()
    await run(w, 'braze', 'users', exported('braze-users.jsonl'), '--subscription', String(await newType(w, 'News')))
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all'])
  })
})

describe('Mailchimp', () => {
  test('the three files of an audience become users, states of its type and suppressed addresses', async () => {
    await using w = await world()
    const type = await newType(w, 'Newsletter')
    const status = async (name: string) => run(w, 'mailchimp', 'users', exported(`mailchimp-${name}.csv`), '--subscription', String(type))
    expect(await status('subscribed')).toEqual(['Saved 1 user, 1 subscription state and 0 suppressed addresses.'])
    expect(await status('unsubscribed')).toEqual(['Saved 1 user, 1 subscription state and 0 suppressed addresses.'])
    expect(await status('cleaned')).toEqual(['Saved 1 user, 1 subscription state and 1 suppressed address.'])
    const ana = await userOf(w, 'aa11bb22cc')
    expect(ana).toMatchObject({ email: 'ana@example.com', timezone: 'Australia/Hobart' })
    expect(ana.data).toMatchObject({
      first_name: 'Ana',
      city: 'Hobart',
      optin_time: '2023-05-01 10:00:00',
      tags: ['Customer', 'Newsletter'],
    })
    expect(await Promise.all(['aa11bb22cc', 'aa11bb22cd', 'aa11bb22ce'].map((id) => statesOf(w, id, [type])))).toEqual([[1], [0], [0]])
    expect(await suppressed(w)).toEqual(['email old@example.com hard_bounce'])
  })

  test('another column can be the id', async () => {
    await using w = await world()
    await run(w, 'mailchimp', 'users', exported('mailchimp-subscribed.csv'), '--id', 'Email Address')
    expect(await userOf(w, encodeURIComponent('ana@example.com'))).toMatchObject({ external_id: 'ana@example.com' })
  })
})

describe('listmonk', () => {
  test('blocklisted subscribers have opted out, and disabled ones are suppressed', async () => {
    await using w = await world()
    await run(w, 'listmonk', 'users', exported('listmonk-subscribers.csv'))
    expect((await userOf(w, '5e91dda1-1c16-467d-9bf9-2a21bf22ae01')).data).toEqual({
      name: 'Ana Silva',
      city: 'Hobart',
      orders: 3,
      address: { zip: '7000' },
    })
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all', 'email lee@example.com manual'])
  })

  test('blocklisted subscribers have opted out of everything, also with a subscription type', async () => {
    await using w = await world()
    await run(w, 'listmonk', 'users', exported('listmonk-subscribers.csv'), '--subscription', String(await newType(w, 'News')))
    expect(await suppressed(w)).toEqual(['email kim@example.com unsubscribed_all', 'email lee@example.com manual'])
  })
})

describe('templates', () => {
  test.each([
    [
      'customerio',
      readFileSync(exported('customerio-welcome.txt'), 'utf8'),
      `<p>Hi {{user.data.first_name | default: 'there'}},</p>
{% if user.data.plan == 'pro' %}<p>Thanks for going pro.</p>{% endif %}
<p>Your order {{event.data.order_id}} goes to {{user.email}}.</p>
<p>{{ snippets.footer }}</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a> or <a href="{{ preferences_url }}">change preferences</a>,
<a href="{{ view_url }}">view online</a></p>
`,
      ['{{ snippets.footer }}'],
    ],
    // The syntax of Braze looks like that of template strings.
    [
      'braze',
      JSON.parse(readFileSync(exported('braze-template.json'), 'utf8')).body,
      `<p>{% if user.data.plan == 'pro' %}Pro{% else %}Free{% endif %} for {{user.email}}, order {{event.data.order_id}}.</p><p>{{content_blocks.\${footer}}}</p><p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Braze
      ['{{content_blocks.${footer}}}'],
    ],
    [
      'mailchimp',
      readFileSync(exported('mailchimp-newsletter.txt'), 'utf8'),
      `<html lang="en"><body><span></span>
<p>Hello {% if user.data.first_name %}{{ user.data.first_name }}{% else %}there{% endif %}, how is {{ user.data.city }}?</p>
<p>*|LIST:COMPANY|* *|CURRENT_YEAR|*</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a> <a href="{{ preferences_url }}">Preferences</a> <a href="{{ view_url }}">View online</a></p></body></html>
`,
      ['*|LIST:COMPANY|*', '*|CURRENT_YEAR|*'],
    ],
    [
      'listmonk',
      JSON.parse(readFileSync(exported('listmonk-campaign.json'), 'utf8')).data.body,
      '<p>Hi {{ user.data.name | split: " " | first }} in {{ user.data.city }}</p><p><a href="https://example.com/sale">Sale</a> <a href="https://example.com/new">New</a></p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a> <a href="{{ view_url }}">View</a></p>',
      [],
    ],
    [
      'listmonk',
      '{{ if .Subscriber.Attribs.vip }}VIP{{ end }}',
      '{{ if .Subscriber.Attribs.vip }}VIP{{ end }}',
      ['{{ if .Subscriber.Attribs.vip }}', '{{ end }}'],
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Braze
    ['braze', '{{${first_name} | default: "you"}}', '{{user.data.first_name | default: "you"}}', []],
  ])('of %s are converted to Liquid: %s', (product, template, text, left) => {
    expect((PRODUCTS[product] as Product).convert(template)).toEqual({ text, left })
  })

  test('become drafts that render', async () => {
    await using w = await world()
    const type = String(await newType(w, 'Newsletter'))
    const lines = await run(w, 'braze', 'template', exported('braze-template.json'), '--subscription', type, '--name', 'Hello').catch(
      (error: Error) => error.message.split('\n'),
    )
    expect(lines.at(-1)).toBe(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Braze
      'These parts were not converted. Correct them in the template before you send it: {{content_blocks.${footer}}}',
    )
    expect((await w.get('/api/client/campaigns')).body.results).toEqual([])
    const file = await fileWith(readFileSync(exported('braze-template.json'), 'utf8').replace(/<p>\{\{content_blocks[^<]*<\/p>/, ''))
    const [created = ''] = await run(w, 'braze', 'template', file, '--subscription', type)
    expect(created).toMatch(/^Campaign \d+ “Welcome” has been created as a draft with the template\.$/)
    await run(w, 'braze', 'users', exported('braze-users.jsonl'))
    const id = /\d+/.exec(created)?.[0]
    const { content } = (await w.post(`/api/client/campaigns/${id}/preview`, { user: '42' })).body
    expect(content).toMatchObject({ subject: 'Welcome, Ana', html: expect.stringContaining('Pro for ana@example.com') })
  })

  test('need a name and a subject', async () => {
    await using w = await world()
    const args = ['mailchimp', 'template', exported('mailchimp-newsletter.txt')]
    await expect(run(w, ...args)).rejects.toThrow('Pass --subscription')
    const type = String(await newType(w, 'Newsletter'))
    await expect(run(w, ...args, '--subscription', type)).rejects.toThrow('Pass --name and --subject.')
    const lines = await run(w, ...args, '--subscription', type, '--name', 'October', '--subject', 'Hello *|FNAME|*')
    expect(lines).toContain(
      'These parts were not converted. Correct them in the template before you send it: *|LIST:COMPANY|* *|CURRENT_YEAR|*',
    )
  })
})

test('a long file is sent in requests of 100 users', async () => {
  const sizes: number[] = []
  const call = async (method: string, _path: string, body?: object) => {
    if (method === 'POST') sizes.push((body as unknown[]).length)
    return { results: [] }
  }
  const file = await fileWith(`id,email\n${Array.from({ length: 250 }, (_, at) => `${at},u${at}@example.com\n`).join('')}`)
  await importFrom(importOptions(['customerio', 'users', file]), call, () => undefined)
  expect(sizes).toEqual([100, 100, 50])
})

test('requests stay below the limit on their size, and a row that is larger by itself is refused', async () => {
  const bodies: object[][] = []
  const call = async (_method: string, _path: string, body?: object) => {
    if (body) bodies.push(body as object[])
    return { results: [] }
  }
  const rows = Array.from({ length: 30 }, (_, at) => `${at},${(at === 7 ? 'é' : 'x').repeat(at === 7 ? 600_000 : 60_000)}\n`)
  const lines: string[] = []
  await importFrom(importOptions(['customerio', 'users', await fileWith(`id,note\n${rows.join('')}`)]), call, (line) => lines.push(line))
  expect(Math.max(...bodies.map((body) => Buffer.byteLength(JSON.stringify(body))))).toBeLessThanOrEqual(1_048_576)
  expect(bodies.map(({ length }) => length)).toEqual([16, 13])
  expect(lines).toEqual([
    'Row 8: The user is larger than 1000 kB. Leave out columns that you do not need.',
    'Saved 29 users, 0 subscription states and 0 suppressed addresses.',
    'Refused 1 row.',
  ])
})

test('users that the API refuses are printed, and the others are saved', async () => {
  await using w = await world()
  const file = await fileWith(`id;email\n1;ana@example.com\n${'x'.repeat(256)};kim@example.com\n3;lee@example.com\n`)
  const lines = await run(w, 'customerio', 'users', file)
  expect(lines[0]).toMatch(/^Row 2: .*external_id/)
  expect(lines.slice(1)).toEqual(['Saved 2 users, 0 subscription states and 0 suppressed addresses.', 'Refused 1 row.'])
})

test('all rows that are refused are printed', async () => {
  const file = await fileWith(`id,email\n${',\n'.repeat(50)}`)
  const printed = async (kind: string) => {
    const lines: string[] = []
    await importFrom(
      importOptions(['customerio', kind, file]),
      async () => ({ results: [] }),
      (line) => lines.push(line),
    )
    return lines.filter((line) => /^Row \d+: /.test(line))
  }
  for (const kind of ['users', 'suppressions']) expect(await printed(kind)).toHaveLength(50)
})

test.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T09:00:00', '2026-11-20T09:00:00.000Z'],
  ['2023-05-01 10:00:00', '2023-05-01T10:00:00.000Z'],
  ['2023-05-01 10:00:00+02:00', '2023-05-01T08:00:00.000Z'],
  ['2024-01-05T10:00:00.000Z', '2024-01-05T10:00:00.000Z'],
  ['1700000000', '2023-11-14T22:13:20.000Z'],
  ['1700000000123', '2023-11-14T22:13:20.123Z'],
  ['2026-02-30', undefined],
  ['11/12/2026', undefined],
  ['20 Nov 2026', undefined],
  ['5', undefined],
])('the date %j is read as %j, in any time zone', (text, expected) => {
  const problem = { problem: `The value ${JSON.stringify(text)} of at is not a date.` }
  expect(converted({ at: text }, typesOf('at:date'))).toEqual(expected === undefined ? problem : { data: { at: expected } })
})

test.each([
  [',', 'Smith; Sons'],
  [';', 'Smith, Sons'],
  ['\t', 'Smith; Sons, Hobart'],
])('only the delimiter %j of the header separates cells, and a row with another number of cells is refused', async (delimiter, company) => {
  await using w = await world()
  const rows = [
    ['id', 'email', 'company', 'unsubscribed'],
    ['1', 'ana@example.com', company, 'true'],
    ['2', 'kim@example.com', 'Kim', 'and more', 'true'],
    ['3', 'lee@example.com'],
  ]
  const file = await fileWith(rows.map((cells) => `${cells.join(delimiter)}\n`).join(''))
  const lines = await run(w, 'customerio', 'users', file)
  expect(lines).toEqual([
    'Row 2: The row has 5 cells, but the header has 4. Correct the row.',
    'Row 3: The row has 2 cells, but the header has 4. Correct the row.',
    'Saved 1 user, 0 subscription states and 1 suppressed address.',
    'Refused 2 rows.',
  ])
  expect((await userOf(w, '1')).data).toEqual({ company })
  expect(await suppressed(w)).toEqual(['email ana@example.com unsubscribed_all'])
  const [first] = await run(w, 'customerio', 'suppressions', file, '--reason', 'manual')
  expect(first).toBe(lines[0])
})

test('the commands of the guide are valid', () => {
  const guide = readFileSync(new URL('../../../../docs/guide/moving.md', import.meta.url), 'utf8')
  const commands = [...guide.matchAll(/^npx carillon import-from (.*?)(?: 2>&1 \|\| true)?$/gm)].map(([, args = '']) =>
    [...args.replaceAll(/\$[A-Z]+/g, '4').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? ''),
  )
  expect(commands).toHaveLength(13)
  expect(commands.map((args) => importOptions(args).kind)).toContain('template')
})

test.each([
  [[], 'Import from one of braze, customerio, listmonk, mailchimp.'],
  [['mailchimp'], 'users, suppressions, template'],
  [['mailchimp', 'users'], 'Specify exactly one file.'],
  [['mailchimp', 'users', 'a', 'b'], 'Specify exactly one file.'],
  [['mailchimp', 'users', 'a', '--list', 'x'], '--list must be an id'],
  [['mailchimp', 'users', 'a', '--topics', 'x'], '--topics must be pairs'],
  [['mailchimp', 'users', 'a', '--types', 'x:text'], '--types must be pairs'],
  [['mailchimp', 'suppressions', 'a', '--reason', 'erased'], '--reason must be one of'],
])('%j are refused', (args, message) => expect(() => importOptions(args)).toThrow(message))

test.each([
  ['', 'cannot be read'],
  ['{"a":1}\n{broken', 'Line 2'],
  ['[1', 'does not contain a list of objects'],
])('a file with %j is refused', async (text, message) => {
  const path = text === '' ? 'nowhere.csv' : await fileWith(text)
  const attempt = importFrom(
    importOptions(['braze', 'users', path]),
    async () => ({ results: [] }),
    () => undefined,
  )
  await expect(attempt).rejects.toThrow(message)
})
