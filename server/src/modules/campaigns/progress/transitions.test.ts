/** Checks every transition of D-CAMP-3 over the API, allowed or not. */
import { expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, pathOf, subscriptionTo } from '../../../../test/blasts.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { CAMPAIGN_STATES, CAMPAIGN_TYPES, type CampaignState, type CampaignType, WRITABLE_STATES } from '../states.ts'

const SEND_AT = '2026-12-01T09:00:00.000Z'
const LATER = '2026-12-02T09:00:00.000Z'

type Write = (typeof WRITABLE_STATES)[number] | 'new send_at' | 'pause' | 'resume'
const WRITES: Write[] = [...WRITABLE_STATES, 'new send_at', 'pause', 'resume']

const anyTo = (writes: Write[], to: CampaignState | 'itself') =>
  CAMPAIGN_TYPES.flatMap((type) => CAMPAIGN_STATES.flatMap((from) => writes.map((write) => [`${type} ${from} ${write}`, to] as const)))

/** The allowed writes, with the state in the reply. */
const ALLOWED = new Map<string, CampaignState | 'itself'>([
  ...anyTo(['aborted'], 'aborted'),
  ['blast draft scheduled', 'scheduled'],
  ['blast scheduled draft', 'draft'],
  ['trigger draft running', 'running'],
  ['trigger running finished', 'finished'],
  ['blast loading new send_at', 'aborting'],
  ['blast running new send_at', 'aborting'],
  // Outside loading and running, `send_at` changes like any other member.
  ...(['draft', 'scheduled', 'aborting', 'aborted'] as const).map((from) => [`blast ${from} new send_at`, 'itself'] as const),
  ...CAMPAIGN_STATES.map((from) => [`trigger ${from} new send_at`, 'itself'] as const),
  ...CAMPAIGN_TYPES.flatMap((type) =>
    (['scheduled', 'loading', 'running'] as const).flatMap((from) =>
      (['pause', 'resume'] as const).map((write) => [`${type} ${from} ${write}`, 'itself'] as const),
    ),
  ),
  // Writing the current state changes nothing.
  ...CAMPAIGN_TYPES.flatMap((type) =>
    WRITABLE_STATES.filter((state) => type === 'blast' || state !== 'scheduled').map(
      (state) => [`${type} ${state} ${state}`, state] as const,
    ),
  ),
])

const send = (w: World, campaign: { id: number }, write: Write) => {
  if (write === 'pause' || write === 'resume') return w.post(`${pathOf(campaign)}/${write}`)
  return w.patch(pathOf(campaign), write === 'new send_at' ? { send_at: LATER } : { state: write })
}

const put = (w: World, campaign: { id: number }, state: CampaignState) => {
  const startedAt = ['loading', 'running', 'finished'].includes(state) ? w.clock.now() : null
  return w.db.run(
    sql`update campaigns set state = ${state}, started_at = ${startedAt}, send_at = ${SEND_AT}, paused_at = null, pending_action = null where id = ${campaign.id}`,
  )
}

async function ready(w: World, type: CampaignType): Promise<{ id: number }> {
  if (type === 'blast') return blastTo(w, [await listOf(w)], { send_at: SEND_AT })
  const body = { type, name: 'x', subscription_id: await subscriptionTo(w), event_name: 'bought', send_at: SEND_AT }
  const { body: made } = await w.post(CAMPAIGNS, body)
  await w.put(`${pathOf(made)}/templates/en`, { subject: 'Hi', html: '<p>Hello</p>' })
  return made
}

/** The states that a type can reach. */
const STATES: Record<CampaignType, readonly CampaignState[]> = {
  blast: CAMPAIGN_STATES,
  trigger: ['draft', 'running', 'finished', 'aborted'],
}

test.each(CAMPAIGN_TYPES.flatMap((type) => STATES[type].map((from) => [type, from] as const)))(
  'a %s campaign that is %s accepts only the writes of the table',
  async (type, from) => {
    await using w = await world()
    const campaign = await ready(w, type)
    for (const write of WRITES) {
      await put(w, campaign, from)
      const reply = await send(w, campaign, write)
      const expected = ALLOWED.get(`${type} ${from} ${write}`)
      const state = (await w.get(pathOf(campaign))).body.state
      if (expected) {
        expect([write, reply.status, reply.body.state]).toEqual([write, 200, expected === 'itself' ? from : expected])
        expect(state).toBe(reply.body.state)
      } else {
        expect([write, reply.status, reply.body.code]).toEqual([write, 422, 'validation_failed'])
        expect(state).toBe(from)
        expect((await w.get(pathOf(campaign))).body.send_at).toBe(SEND_AT)
      }
    }
  },
)

test('pausing, resuming and triggering need a publisher of the same project', async () => {
  await using w = await world()
  const campaign = await ready(w, 'trigger')
  await put(w, campaign, 'running')
  const { keys } = await w.other()
  for (const write of ['pause', 'resume', 'trigger']) {
    const body = write === 'trigger' ? { external_id: 'nobody' } : undefined
    expect((await w.post(`${pathOf(campaign)}/${write}`, body, { key: w.keys.editor })).status).toBe(403)
    expect((await w.post(`${pathOf(campaign)}/${write}`, body, { key: keys.secret })).status).toBe(404)
    expect((await w.post(`${pathOf(campaign)}/${write}`, body, { key: w.keys.publisher })).status).toBe(write === 'trigger' ? 422 : 200)
  }
})
