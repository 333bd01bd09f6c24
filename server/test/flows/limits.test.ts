/** Limits that settings choose for a whole server: what is logged, and how many projects an organisation may have. */
import { describe, expect, test } from 'vitest'
import { type World, world } from '../world.ts'

const USERS = '/api/client/users'

describe('the request log', () => {
  /** The statuses that are logged of five successful requests, a refused one and a failed one. */
  async function loggedWith(env: Record<string, string>): Promise<number[]> {
    const lines: string[] = []
    await using w = await world({ env, log: { write: (line) => lines.push(line) } })
    for (let call = 0; call < 5; call++) await w.get(USERS)
    await w.get(`${USERS}/nobody`)
    return lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request')
      .map(({ status }) => status)
  }

  test.each<[string, number[]]>([
    ['', [200, 200, 200, 200, 200, 404]],
    ['2', [200, 200, 200, 404]],
    ['100', [200, 404]],
    ['0', [404]],
  ])('has, with LOG_SUCCESS_EVERY=%s, %j', async (every, expected) => {
    expect(await loggedWith({ LOG_SUCCESS_EVERY: every })).toEqual(expected)
  })
})

describe('the projects of an organisation', () => {
  const create = (w: World) =>
    w.post('/api/client/projects', { name: 'One more', locale: 'en', timezone: 'UTC' }, { key: w.keys.organisation })

  test('are at most PROJECTS_MAX', async () => {
    await using w = await world({ env: { PROJECTS_MAX: '2' } })
    const [second, third] = [await create(w), await create(w)]
    expect([second.status, third.status, third.body.code]).toEqual([201, 429, 'quota_exceeded'])
    expect(third.body.message).toBe('An organisation may have at most 2 projects.')
  })

  test('are not limited with PROJECTS_MAX=0', async () => {
    await using w = await world({ env: { PROJECTS_MAX: '0' } })
    expect((await create(w)).status).toBe(201)
  })
})
