import { describe, expect, test } from 'vitest'
import { CAMPAIGNS, pathOf, subscriptionTo } from '../../../test/blasts.ts'
import { type World, world } from '../../../test/world.ts'

const EVIL = '{% if user.data.evil %}{% for i in (1..999999999) %}x{% endfor %}{% endif %}'

async function running(w: World) {
  const { body } = await w.post(CAMPAIGNS, { type: 'trigger', name: 'x', event_name: 'x', subscription_id: await subscriptionTo(w) })
  await w.put(`${pathOf(body)}/templates/en`, { from: 'a@example.com', subject: 's', html: `<p>Hi</p>\n${EVIL}` })
  await w.patch(pathOf(body), { state: 'running' })
  return body as { id: number }
}

async function trigger(w: World, campaign: { id: number }, isEvil: boolean, ...names: string[]) {
  await w.users(...names)
  await w.post(
    '/api/client/users/batch',
    names.map((external_id) => ({ external_id, data: { evil: isEvil } })),
  )
  for (const external_id of names) expect((await w.post(`${pathOf(campaign)}/trigger`, { external_id })).status).toBe(202)
  await w.drain()
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, number) => `${prefix}${number}`)
const read = async (w: World, campaign: { id: number }) => (await w.get(pathOf(campaign))).body
const summary = async (w: World, campaign: { id: number }, name: string) =>
  (await w.get(`${pathOf(campaign)}/recipients/${name}/explain`)).body.summary

describe('a message whose template exceeds its budget', () => {
  test('fails with the reason, and others are sent', async () => {
    await using w = await world()
    const campaign = await running(w)
    await trigger(w, campaign, true, 'ana')
    await trigger(w, campaign, false, 'bo')
    expect(await summary(w, campaign, 'ana')).toContain(
      'because the template could not be rendered for this user: The template failed on line 2: it produces more than 10,000,000 characters',
    )
    expect(await summary(w, campaign, 'bo')).toContain('was delivered')
    expect(await read(w, campaign)).not.toHaveProperty('paused_at')
  })

  test('pauses its campaign when it is the tenth within an hour, with the reason, until it is resumed', async () => {
    await using w = await world()
    const campaign = await running(w)
    await trigger(w, campaign, true, ...names('a', 9))
    expect(await read(w, campaign)).not.toHaveProperty('paused_at')
    await trigger(w, campaign, true, 'b')
    expect(await read(w, campaign)).toMatchObject({
      state: 'running',
      paused_at: w.clock.now().toISOString(),
      paused_reason: 'render_budget',
    })
    await trigger(w, campaign, false, 'cy')
    expect(await summary(w, campaign, 'cy')).toContain('the campaign is paused, because its templates exceeded their limits')
    const resumed = (await w.post(`${pathOf(campaign)}/resume`)).body
    expect([resumed.paused_at, resumed.paused_reason]).toEqual([undefined, undefined])
    w.advance('1 minute')
    await w.drain()
    expect(await summary(w, campaign, 'cy')).toContain('was delivered')
    await trigger(w, campaign, true, ...names('d', 9))
    expect(await read(w, campaign)).not.toHaveProperty('paused_at')
  })

  test('does not count after an hour', async () => {
    await using w = await world()
    const campaign = await running(w)
    await trigger(w, campaign, true, ...names('a', 9))
    w.advance('61 minutes')
    await trigger(w, campaign, true, ...names('b', 9))
    expect(await read(w, campaign)).not.toHaveProperty('paused_at')
    await trigger(w, campaign, true, 'c')
    expect(await read(w, campaign)).toMatchObject({ paused_reason: 'render_budget' })
  })

  test('of a campaign that a request paused leaves no other reason', async () => {
    await using w = await world()
    const campaign = await running(w)
    const paused = (await w.post(`${pathOf(campaign)}/pause`)).body
    expect(paused).toHaveProperty('paused_at')
    expect(paused).not.toHaveProperty('paused_reason')
  })
})
