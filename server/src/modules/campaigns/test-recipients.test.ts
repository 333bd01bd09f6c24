import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { type World, world } from '../../../test/world.ts'
import type { Rendered } from '../channels/index.ts'
import { emailOf } from '../channels/mail.ts'
import { addressNotAllowed } from './test-recipients.ts'

const email = (recipient: string, copies: Record<string, string> = {}): Rendered => ({
  channel: 'email',
  recipient,
  summary: '',
  content: copies,
})
const ALLOWED = ['Kim@example.com', '@team.example', '+61412345678', 'https://hooks.example.com', 'ana']

describe('addressNotAllowed', () => {
  test.each<[Rendered, string | undefined]>([
    [email('kim@Example.com'), undefined],
    [email('anyone@team.example'), undefined],
    [email('kim@example.org'), 'kim@example.org'],
    [email('kim@sub.team.example'), 'kim@sub.team.example'],
    [email('kim@example.com', { cc: '"Doe, Jo" <jo@team.example>, kim@example.com' }), undefined],
    [email('kim@example.com', { cc: 'Jo <jo@else.example>' }), 'jo@else.example'],
    [email('kim@example.com', { bcc: 'jo@else.example' }), 'jo@else.example'],
    [email('kim@example.com', { cc: 'jo@else.example; <jo@team.example>' }), 'jo@else.example'],
    [email('kim@example.com', { bcc: 'jo@else.example;x@team.example' }), 'jo@else.example'],
    [email('kim@example.com', { bcc: 'jo@else.example x@team.example' }), 'jo@else.example'],
    [{ channel: 'text', recipient: '+61412345678', summary: '', content: {} }, undefined],
    [{ channel: 'text', recipient: '+61412345679', summary: '', content: {} }, '+61412345679'],
    [{ channel: 'push', recipient: 'ana', summary: '', content: {} }, undefined],
    [{ channel: 'push', recipient: 'kim', summary: '', content: {} }, 'kim'],
    [{ channel: 'push', recipient: 'ANA', summary: '', content: {} }, 'ANA'],
    [{ channel: 'in_app', recipient: 'Ana', summary: '', content: {} }, 'Ana'],
    [{ channel: 'webhook', recipient: 'https://hooks.example.com/a', summary: '', content: {} }, undefined],
    [
      { channel: 'webhook', recipient: 'https://hooks.example.com.evil.test/a', summary: '', content: {} },
      'https://hooks.example.com.evil.test',
    ],
  ])('of %j', (message, address) => expect(addressNotAllowed(message, ALLOWED)).toBe(address))

  test('an email that it lets through is sent to no other address, however its copies are written', () => {
    const pieces = ['jo@else.example', 'jo@team.example', 'Jo', '<', '>', ';', ',', ':', ' ', '"', '(', ')', '\\']
    const lines = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((some) => some.join(''))
    fc.assert(
      fc.property(lines, lines, (cc, bcc) => {
        const message = email('kim@example.com', { from: 'shop@example.com', to: 'kim@example.com', cc, bcc })
        const sent = emailOf({ content: message.content, headers: {} }, {})
        const reached = 'is' in sent ? [] : [...sent.cc, ...sent.bcc].map(({ address }) => address)
        return addressNotAllowed(message, ALLOWED) !== undefined || reached.every((address) => address.endsWith('@team.example'))
      }),
      { numRuns: 2000 },
    )
  })
})

const projectPath = async (w: World) => {
  const { results } = (await w.get('/api/client/projects', { key: w.keys.organisation })).body
  return `/api/client/projects/${results[0].id}`
}

describe('a test send', () => {
  async function campaignOf(w: World, template: object = {}) {
    await w.users('ana')
    const { results } = (await w.get('/api/client/subscriptions')).body
    const { id: subscription_id } = results.find(({ channel }: any) => channel === 'email')
    const { id } = (await w.post('/api/client/campaigns', { type: 'blast', name: 'Sale', subscription_id })).body
    const content = { from: 'shop@example.com', subject: 'Sale', html: '<p>Hi</p>', ...template }
    expect((await w.put(`/api/client/campaigns/${id}/templates/en`, content)).status).toBe(200)
    return (to: string[], key = w.keys.editor) => w.post(`/api/client/campaigns/${id}/test`, { to }, { key })
  }
  const outcomes = ({ body }: { body: any }) => body.results.map(({ to, outcome }: any) => `${to} ${outcome}`)

  test('of an editor reaches only addresses that the project allows for tests', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const send = await campaignOf(w)
    const refused = await send(['ana', 'me@team.example'])
    expect(outcomes(refused)).toEqual(['ana refused', 'me@team.example refused'])
    expect(refused.body.results[0].reason).toContain('`test_recipients`')
    expect(relay.mails).toHaveLength(0)
    const path = await projectPath(w)
    const changed = await w.patch(path, { test_recipients: ['@team.example'] }, { key: w.keys.organisation })
    expect(changed.body.test_recipients).toEqual(['@team.example'])
    expect(outcomes(await send(['ana', 'me@team.example']))).toEqual(['ana refused', 'me@team.example accepted'])
    expect(relay.mails).toHaveLength(1)
  })

  test('of an editor reaches no copy of a template either', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.patch(await projectPath(w), { test_recipients: ['me@team.example'] }, { key: w.keys.organisation })
    const send = await campaignOf(w, { bcc: 'someone@else.example' })
    expect(outcomes(await send(['me@team.example']))).toEqual(['me@team.example refused'])
    expect(relay.mails).toHaveLength(0)
  })

  test('of a key that can send campaigns reaches any address, and in the sandbox nothing leaves', async () => {
    await using w = await world()
    const send = await campaignOf(w)
    expect(outcomes(await send(['ana', 'me@team.example']))).toEqual(['ana accepted', 'me@team.example accepted'])
    await using relay = await openRelay()
    await sendOver(w, relay)
    expect(outcomes(await send(['ana'], w.keys.publisher))).toEqual(['ana accepted'])
    expect(relay.mails).toHaveLength(1)
  })
})
