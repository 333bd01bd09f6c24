import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { countByHour } from './hours.ts'

const WEBHOOKS = '/api/client/webhooks'

let w: World
beforeEach(async () => {
  w = await world()
})
afterEach(() => w[Symbol.asyncDispose]())

test('attempts are counted by endpoint and hour', () => {
  const result = (endpointId: number, time: string, succeeded: boolean) => ({
    projectId: 1 as ProjectId,
    endpointId: endpointId as EndpointId,
    succeeded,
    gone: false,
    at: new Date(`2026-11-23T${time}Z`),
  })
  const found = countByHour([
    result(1, '09:00:00.000', true),
    result(2, '09:10:00.000', false),
    result(1, '09:59:59.999', false),
    result(1, '10:00:00.000', true),
  ])
  expect(found.map(({ endpointId, hour, succeeded, failed }) => [endpointId, hour.getUTCHours(), succeeded, failed])).toEqual([
    [1, 9, 1, 1],
    [2, 9, 0, 1],
    [1, 10, 1, 0],
  ])
})

describe('the attempts of the last 24 hours', () => {
  const endpoint = async (name: string, { url }: { url: string }): Promise<number> => {
    return (await w.post(WEBHOOKS, { name, url, event_types: ['delivery.null-mx'] })).body.id
  }
  const attempt = async (id: number) => {
    await w.post(`${WEBHOOKS}/${id}/test`)
    await w.drain('webhooks.deliver')
  }
  const shown = async () => {
    const { endpoints } = (await w.get(`${WEBHOOKS}/attempts`)).body
    return endpoints.map(({ endpoint_id, hours }: any) => [
      endpoint_id,
      ...hours.map(({ hour, succeeded, failed }: any) => `${hour.slice(11, 16)} ${succeeded}/${failed}`),
    ])
  }

  test('are there by endpoint and hour, accepted and not, and those before are not', async () => {
    const receiver = await w.receiver()
    const [one, other] = [await endpoint('One', receiver), await endpoint('Other', receiver)]
    expect(await shown()).toEqual([])
    await attempt(one)
    await attempt(other)
    receiver.answer(500)
    await attempt(one)
    expect(await shown()).toEqual([
      [one, '09:00 1/1'],
      [other, '09:00 1/0'],
    ])
    w.advance('23 hours')
    expect((await w.get(`${WEBHOOKS}/attempts`)).body.first_hour).toBe(new Date(w.clock.now().getTime() - 23 * 3_600_000).toISOString())
    expect(await shown()).toHaveLength(2)
    w.advance('1 hour')
    expect(await shown()).toEqual([])
  })

  test('are not shown of an endpoint that was deleted, and are deleted by age', async () => {
    const one = await endpoint('One', await w.receiver())
    await attempt(one)
    await w.delete(`${WEBHOOKS}/${one}`)
    expect(await shown()).toEqual([])
    const rows = () => w.db.value(Count, sql`select count(*) as count from webhook_hours where project_id = ${w.projectId}`)
    w.advance('24 hours')
    await w.drain('webhooks.purge')
    expect(await rows()).toBe(1)
    w.advance('2 hours')
    await w.drain('webhooks.purge')
    expect(await rows()).toBe(0)
  })

  test('of another project are not shown', async () => {
    await attempt(await endpoint('One', await w.receiver()))
    const other = await w.other()
    expect((await w.get(`${WEBHOOKS}/attempts`, { key: other.keys.support })).body.endpoints).toEqual([])
  })
})
