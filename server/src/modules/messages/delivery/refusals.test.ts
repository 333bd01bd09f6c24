/** Users who leave a subscription type while email of it waits in the mail queue, observed at their mail host. */
import { expect, test } from 'vitest'
import { outcomes, write } from '../../../../test/blasts.ts'
import { type MailWorld, mailWorld } from '../../../../test/mail-queue.ts'

const DOMAIN = 'example.org'

/** An email of a new type that waits in the paused mail queue. Resuming it returns what the host got then. */
async function waiting(w: MailWorld, type: { is_transactional?: boolean; requires_confirmation?: boolean }, copies: string[] = []) {
  const { mails } = w.internet.host(`mx.${DOMAIN}`)
  w.internet.domain(DOMAIN, `mx.${DOMAIN}`)
  const made = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', ...type })
  expect(made.status, made.text).toBe(201)
  await write(w, w.campaign, { subscription_id: made.body.id })
  if (copies.length > 0) {
    const content = { from: 'Shop <shop@example.com>', subject: 'Thanks', html: '<p>Thanks</p>', bcc: copies.join(', ') }
    expect((await w.put(`/api/client/campaigns/${w.campaign.id}/templates/en`, content)).status).toBe(200)
  }
  await w.post('/api/client/mail-queue/pause', {})
  const [user] = (await w.mailTo(DOMAIN)).split('@')
  const set = async (state: number) => {
    const saved = await w.patch(`/api/client/users/${user}/subscriptions`, [{ subscription_id: made.body.id, state }])
    expect(saved.status, saved.text).toBe(200)
  }
  await set(2)
  await w.drain()
  w.endpoint.requests.splice(0)
  return {
    user,
    set,
    resume: async () => {
      w.advance('1 minute')
      await w.post('/api/client/mail-queue/resume', {})
      await w.drain()
      return mails.flatMap(({ to }) => to).sort()
    },
  }
}

test.each([
  ['unsubscribed gets no email of the type', {}, [0], 0, 'skipped not_subscribed'],
  ['unsubscribed and came back gets it', {}, [0, 1], 1, 'delivered'],
  ['has not confirmed any more gets none where that is required', { requires_confirmation: true }, [1], 0, 'skipped not_confirmed'],
  ['unsubscribed gets what is transactional', { is_transactional: true }, [0], 1, 'delivered'],
  ['changed nothing gets it', {}, [], 1, 'delivered'],
] as const)('a user who %s, though it was queued before', async (_, type, states, emails, outcome) => {
  await using w = await mailWorld()
  const { user, set, resume } = await waiting(w, type)
  for (const state of states) await set(state)
  expect(await resume()).toHaveLength(emails)
  expect(await outcomes(w, w.campaign)).toEqual([`${user}: ${outcome}`])
})

test('of an email whose user unsubscribed, no copy is sent either, and its events say why', async () => {
  await using w = await mailWorld()
  const { user, set, resume } = await waiting(w, {}, [`manager@${DOMAIN}`])
  await set(0)
  expect(await resume()).toEqual([])
  const events = (await w.events()).concat(w.endpoint.requests.map(({ json }) => json as never))
  const failed = events.filter(({ type }) => type === 'delivery.failed')
  expect(failed.map(({ data }) => [data.to, data.reason])).toEqual([
    [`${user}@${DOMAIN}`, 'not_subscribed'],
    [`manager@${DOMAIN}`, 'not_subscribed'],
  ])
  expect(events.some(({ type }) => type === 'delivery.dsn-perm-fail')).toBe(false)
})
