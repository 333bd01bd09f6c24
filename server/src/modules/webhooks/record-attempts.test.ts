/** What is recorded of attempts that were answered at about the same time, which share their statements. */
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failSaves, losingAnswers, whileTimePasses } from '../../../test/failing-saves.ts'
import { type World, world } from '../../../test/world.ts'
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { type ClaimedDelivery, claimDeliveries } from './deliveries.queries.ts'
import { recordAttempts } from './record-attempts.ts'

const WEBHOOKS = '/api/client/webhooks'
const ROOM = { total: 50, usual: 10, rooms: new Map(), failingAfter: 1000, projects: { usual: 50, rooms: new Map() } }
const LEASE_S = 60

let w: World
beforeEach(async () => {
  w = await world({ env: { WEBHOOK_DISABLE_AFTER_FAILURES: '20', WEBHOOK_DISABLE_AFTER_HOURS: '120' } })
})
afterEach(() => w[Symbol.asyncDispose]())

/** Opens an endpoint with so many deliveries that are due. */
async function endpoint(deliveries: number): Promise<number> {
  const { url } = await w.receiver()
  const { body } = await w.post(WEBHOOKS, { name: 'Warehouse', url, event_types: ['delivery.null-mx'] })
  for (let at = 0; at < deliveries; at++) expect((await w.post(`${WEBHOOKS}/${body.id}/test`)).status).toBe(202)
  return body.id
}

/** Leases what is due, by endpoint, oldest first. */
async function leased(): Promise<Map<number, ClaimedDelivery[]>> {
  const own = (await claimDeliveries(w.ctx, ROOM, LEASE_S)).filter(({ project_id }) => project_id === w.projectId)
  return Map.groupBy(
    own.sort((a, b) => a.id - b.id),
    ({ endpoint_id }) => endpoint_id,
  )
}

const answer = (status: number): SafeResponse => ({ is: 'answered', status, headers: {}, body: '', elapsedMs: 5 })

/** Records replies of one group, each a second after the one before. */
const record = (...replies: [ClaimedDelivery | undefined, status: number][]) => recordIn(w.ctx, ...replies)

const recordIn = (ctx: Ctx, ...replies: [ClaimedDelivery | undefined, status: number][]) =>
  recordAttempts(
    ctx,
    replies.map(([delivery, status], at) => ({
      delivery: delivery as ClaimedDelivery,
      at: new Date(w.clock.now().getTime() + at * 1000),
      response: answer(status),
    })),
    new AbortController().signal,
  )

/** The deliveries of an endpoint, oldest first: state, attempts, and the status of the newest reply. */
const deliveriesOf = async (id: number) => {
  const { results } = (await w.get(`${WEBHOOKS}/${id}/deliveries`)).body
  const rows = results as { id: number; status: string; attempts: number; last_status_code: number | null }[]
  return rows.sort((a, b) => a.id - b.id).map(({ status, attempts, last_status_code }) => [status, attempts, last_status_code])
}

const failedBefore = (id: number, failures: number, since: Date) =>
  w.db.run(
    sql`update webhook_endpoints set consecutive_failures = ${failures}, first_failure_at = ${since} where project_id = ${w.projectId} and id = ${id}`,
  )

const Health = Type.Object({ status: Type.String(), consecutive_failures: Type.Integer(), first_failure_at: Nullable(Instant) })
const healthOf = (id: number) =>
  w.db.one(
    Health,
    sql`select status, consecutive_failures, first_failure_at from webhook_endpoints where project_id = ${w.projectId} and id = ${id}`,
  )

describe('attempts that are recorded together', () => {
  test('keep their own results, several of one endpoint and those of others', async () => {
    const [one, other] = [await endpoint(2), await endpoint(1)]
    const due = await leased()
    await record([due.get(one)?.[0], 200], [due.get(other)?.[0], 503], [due.get(one)?.[1], 500])
    expect(await deliveriesOf(one)).toEqual([
      ['succeeded', 1, 200],
      ['pending', 1, 500],
    ])
    expect(await deliveriesOf(other)).toEqual([['pending', 1, 503]])
    expect(await healthOf(one)).toMatchObject({ consecutive_failures: 1 })
    expect(await healthOf(other)).toMatchObject({ consecutive_failures: 1 })
  })

  test('are recorded but for the one that cannot be', async () => {
    const id = await endpoint(4)
    const due = (await leased()).get(id) ?? []
    await using _ = await failSaves(w, { table: 'webhook_deliveries', when: `new.id = ${due[1]?.id}` })
    await record(...due.map((delivery): [ClaimedDelivery, number] => [delivery, 200]))
    expect(await deliveriesOf(id)).toEqual([
      ['succeeded', 1, 200],
      ['pending', 0, null],
      ['succeeded', 1, 200],
      ['succeeded', 1, 200],
    ])
  })

  test('are counted once, also if the database loses its answers', async () => {
    const [one, other] = [await endpoint(2), await endpoint(1)]
    const due = await leased()
    await whileTimePasses(
      w.clock,
      recordIn(losingAnswers(w.ctx), [due.get(one)?.[0], 500], [due.get(other)?.[0], 200], [due.get(one)?.[1], 500]),
    )
    expect(await healthOf(one)).toMatchObject({ consecutive_failures: 2 })
    expect((await w.get(`${WEBHOOKS}/attempts`)).body.endpoints).toMatchObject([
      { endpoint_id: one, hours: [{ succeeded: 0, failed: 2 }] },
      { endpoint_id: other, hours: [{ succeeded: 1, failed: 0 }] },
    ])
  })

  test('begin the time until suspension anew after a success among them', async () => {
    const id = await endpoint(3)
    const due = (await leased()).get(id) ?? []
    await failedBefore(id, 30, new Date(w.clock.now().getTime() - 30 * DAY_MS))
    await record([due[0], 500], [due[1], 200], [due[2], 500])
    const first_failure_at = new Date(w.clock.now().getTime() + 2000)
    expect(await healthOf(id)).toEqual({ status: 'active', consecutive_failures: 1, first_failure_at })
  })

  test.each<[string, number, number]>([
    ['after', 410, 200],
    ['before', 200, 410],
  ])('suspend an endpoint that is gone, also if it answered one %s it with success', async (_, first, second) => {
    const [gone, working] = [await endpoint(2), await endpoint(1)]
    const due = await leased()
    await record([due.get(gone)?.[0], first], [due.get(working)?.[0], 200], [due.get(gone)?.[1], second])
    expect(await healthOf(gone)).toMatchObject({ status: 'disabled' })
    expect(await healthOf(working)).toMatchObject({ status: 'active' })
  })

  test('suspend an endpoint that failed for too long, and no other one', async () => {
    const [failing, working] = [await endpoint(2), await endpoint(1)]
    const due = await leased()
    await failedBefore(failing, 18, new Date(w.clock.now().getTime() - 6 * DAY_MS))
    await record([due.get(failing)?.[0], 500], [due.get(working)?.[0], 200], [due.get(failing)?.[1], 500])
    expect(await healthOf(failing)).toMatchObject({ status: 'disabled', consecutive_failures: 20 })
    expect(await healthOf(working)).toMatchObject({ status: 'active', consecutive_failures: 0 })
  })
})
