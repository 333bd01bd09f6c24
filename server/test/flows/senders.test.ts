import { describe, expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, pathOf, write } from '../blasts.ts'
import { verifiedDomain } from '../domains.ts'
import { answerOrders, order, providerOf, sendOver } from '../mailing.ts'
import { openRelay, type Relay } from '../relay.ts'
import { type World, world } from '../world.ts'

describe('an email', () => {
  test('says which stream it belongs to, and how to leave it', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await answerOrders(w)
    const { subscription_id } = (await w.get(pathOf(campaign))).body
    await w.users('ana')
    await order(w, 'ana')
    await w.drain()
    expect(relay.mails[0]?.headers).toMatchObject({
      'feedback-id': `${campaign.id}:${w.projectId}:marketing:carillon`,
      'list-id': `<${subscription_id}.${w.projectId}.carillon.test>`,
      'list-unsubscribe': expect.stringMatching(/^<http.+>$/),
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    })
  })

  test('that is transactional belongs to a stream and to no list', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await answerOrders(w)
    const { subscription_id } = (await w.get(pathOf(campaign))).body
    await w.patch(`/api/client/subscriptions/${subscription_id}`, { is_transactional: true })
    await w.users('ana')
    await order(w, 'ana')
    await w.drain()
    const [mail] = relay.mails
    expect(mail?.headers['feedback-id']).toBe(`${campaign.id}:${w.projectId}:transactional:carillon`)
    expect(Object.keys(mail?.headers ?? {}).filter((name) => name.startsWith('list-'))).toEqual([])
  })
})

const overRelay = ({ host, port }: Relay, default_from: string) => ({
  kind: 'smtp',
  channel: 'email',
  settings: { host, port, tls: 'none', default_from },
})

describe('the custom domain of a campaign', () => {
  test.each<[string, object, string]>([
    ['is that of the default sender', {}, 'Shop <news@special.example>'],
    ['does not replace a sender of the template', { from: 'hello@own.example' }, 'hello@own.example'],
  ])('%s', async (_, more, sender) => {
    await using w = await world()
    await using relay = await openRelay()
    await providerOf(w, overRelay(relay, 'Shop <news@usual.example>'))
    const campaign = await answerOrders(w)
    await w.put(`${CAMPAIGNS}/${campaign.id}/templates/en`, { subject: 'Thanks', html: '<p>Thanks</p>', ...more })
    await write(w, campaign, { custom_domain_id: await verifiedDomain(w, 'special.example') })
    await w.users('ana')
    await order(w, 'ana')
    await w.drain()
    expect(relay.mails[0]?.headers.from).toBe(sender)
  })

  test('is not used for senders before it is verified', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await providerOf(w, overRelay(relay, 'news@usual.example'))
    const campaign = await answerOrders(w)
    await w.put(`${CAMPAIGNS}/${campaign.id}/templates/en`, { subject: 'Thanks', html: '<p>Thanks</p>' })
    const { id } = (await w.post('/api/client/domains', { sending_domain: 'special.example' })).body
    await write(w, campaign, { custom_domain_id: id })
    await w.users('ana')
    await order(w, 'ana')
    await w.drain()
    expect(relay.mails[0]?.headers.from).toBe('news@usual.example')
  })
})

describe('a preflight of marketing', () => {
  const findings = async (w: World, campaign: { id: number }) => {
    const { body } = await w.post(`${pathOf(campaign)}/preflights`)
    await w.drain()
    const { counts, problems } = (await w.get(`${pathOf(campaign)}/preflights/${body.id}`)).body
    const states = counts.map(({ state }: { state: string }) => state)
    return { states, problems: problems.map(({ kind, message }: { kind: string; message: string }) => [kind, message]) }
  }
  const blast = async (w: World) => {
    const campaign = await blastTo(w, [await listOf(w, 'ana', 'bo')])
    await w.put(`${pathOf(campaign)}/templates/en`, { from: 'Shop <hi@news.mine.example>', subject: 'Hi', html: '<p>Hi</p>' })
    return campaign
  }

  test('over a relay warns about a domain that is not one of the project, or is not verified', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await blast(w)
    expect(await findings(w, campaign)).toEqual({
      states: ['queued'],
      problems: [['unverified_domain', expect.stringContaining('`news.mine.example` is not a domain of this project. Add it')]],
    })
    await w.post('/api/client/domains', { sending_domain: 'mine.example' })
    expect((await findings(w, campaign)).problems).toEqual([
      ['unverified_domain', expect.stringContaining('`mine.example` is not verified')],
    ])
  })

  test('finds nothing wrong with a verified domain, with transactional messages, and in the sandbox', async () => {
    await using w = await world()
    const campaign = await blast(w)
    expect((await findings(w, campaign)).problems).toEqual([])
    await using relay = await openRelay()
    await sendOver(w, relay)
    expect((await findings(w, campaign)).problems).toHaveLength(1)
    const { subscription_id } = (await w.get(pathOf(campaign))).body
    await w.patch(`/api/client/subscriptions/${subscription_id}`, { is_transactional: true })
    expect((await findings(w, campaign)).problems).toEqual([])
    await w.patch(`/api/client/subscriptions/${subscription_id}`, { is_transactional: false })
    await verifiedDomain(w, 'mine.example')
    expect((await findings(w, campaign)).problems).toEqual([])
  })
})
