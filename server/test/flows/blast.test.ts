import { expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, outcomes, pathOf, write } from '../blasts.ts'
import { world } from '../world.ts'

test('a blast from draft to results: preflight, schedule, pause, new time, finish, explanation', async () => {
  await using w = await world()
  const audience = await listOf(w, 'ana', 'bo', 'cy', 'di', 'eli')
  const staff = await listOf(w, 'di')
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', timezone: 'Pacific/Auckland', data: { name: 'Ana' } },
    { external_id: 'bo', timezone: 'Europe/London' },
    { external_id: 'eli', email: null },
  ])
  const campaign = await blastTo(w, [audience], {
    exclusion_list_ids: [staff],
    send_in_user_timezone: true,
    send_at: '2026-11-25T09:00',
  })

  // The preflight finds users for whom the template is empty.
  await w.put(`${pathOf(campaign)}/templates/en`, { from: 'x@example.com', subject: 'Hi {{ user.data.name }}', html: '<p>Hello</p>' })
  const { body: preflight } = await w.post(`${pathOf(campaign)}/preflights`)
  await w.drain()
  const preflighted = (await w.get(`${pathOf(campaign)}/preflights/${preflight.id}`)).body
  expect(preflighted.problems).toMatchObject([{ kind: 'empty_variable', people: 2, users: [{ external_id: 'bo' }, { external_id: 'cy' }] }])
  const subject = 'Hi {{ user.data.name | default: "there" }}'
  await w.put(`${pathOf(campaign)}/templates/en`, { from: 'x@example.com', subject, html: '<p>Hello</p>' })

  // It is 09:00 in Auckland first, 13 hours ahead of UTC.
  await write(w, campaign, { state: 'scheduled' })
  w.advance('35 hours')
  await w.drain()
  expect(await outcomes(w, campaign)).toEqual([
    'ana: delivered',
    'bo: queued',
    'cy: queued',
    'di: skipped excluded',
    'eli: skipped no_address',
  ])

  // The campaign is paused and moved before it is 09:00 elsewhere.
  await w.post(`${pathOf(campaign)}/pause`)
  w.advance('3 hours')
  await w.drain()
  expect((await w.get(pathOf(campaign))).body.delivery).toMatchObject({ total: 5, sent: 1 })
  await write(w, campaign, { send_at: '2026-11-26T09:00' })
  await w.drain()
  expect((await w.get(pathOf(campaign))).body.state).toBe('scheduled')
  w.advance('2 days')
  await w.drain()
  expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished', delivery: { total: 5, sent: 3 } })

  // No user got it twice, and the explanation has the reason for a user who got nothing.
  const { results } = (await w.get('/api/client/sandbox/messages')).body
  expect(results.map((message: any) => message.summary).sort()).toEqual(['Hi Ana', 'Hi there', 'Hi there'])
  const { summary } = (await w.get(`${CAMPAIGNS}/${campaign.id}/recipients/di/explain`)).body
  expect(summary).toBe('The user got no message, because the user is in an excluded list (“List of 1”).')
})
