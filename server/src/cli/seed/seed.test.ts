import { expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { CommandError } from '../command.ts'
import { invent } from './invent.ts'
import { seedOptions, seedProject } from './seed.ts'

const callOf = (w: World) => async (method: string, path: string, body?: object) => {
  const reply = await w.request(method, path, body)
  if (reply.status >= 300) throw new CommandError(reply.text)
  return reply.body ?? {}
}

const TODAY = new Date('2026-11-22T00:00:00Z')

test('the same seed invents the same, another one something else', () => {
  expect(invent(3, 1, TODAY)).toEqual(invent(3, 1, TODAY))
  expect(invent(3, 1, TODAY).users).not.toEqual(invent(3, 2, TODAY).users)
})

test('a seeded project has users with events, lists, campaigns and a live journey, and a second time adds nothing', async () => {
  await using w = await world()
  const seed = async () => {
    const lines: string[] = []
    await seedProject(seedOptions(['--users', '20']), callOf(w), TODAY, (line) => lines.push(line))
    await w.drain()
    return lines
  }
  const counts = async () => {
    const of = async (path: string) => (await w.get(`/api/client/${path}`)).body.results as Record<string, unknown>[]
    return {
      users: (await of('users?limit=100')).length,
      events: (await of('users/seed-1-1/events?limit=100')).length,
      lists: (await of('lists')).map(({ name, state }) => [name, state]),
      campaigns: (await of('campaigns')).map(({ slug, state }) => [slug, state]),
      journeys: (await of('journeys')).map(({ name, status }) => [name, status]),
    }
  }
  expect(await seed()).toEqual([expect.stringMatching(/^20 users and \d+ events\.$/), '2 lists, 3 campaigns and a journey.'])
  const first = await counts()
  expect(first).toMatchObject({
    users: 20,
    lists: [
      ['Free plan', 'ready'],
      ['Customers with a purchase in the last 30 days', 'ready'],
    ],
    campaigns: [
      ['seed-thank-you', 'draft'],
      ['seed-tips', 'running'],
      ['seed-welcome', 'running'],
    ],
    journeys: [['Welcome series', 'live']],
  })
  expect(await seed()).toEqual([expect.any(String), 'The lists, campaigns and the journey already exist.'])
  expect(await counts()).toEqual(first)
})

test('a second time says so if the first one broke off', async () => {
  await using w = await world()
  const lines: string[] = []
  const seed = (call = callOf(w)) => seedProject(seedOptions(['--users', '1']), call, TODAY, (line) => lines.push(line))
  const untilJourney = async (method: string, path: string, body?: object) => {
    if (path === '/api/client/journeys') throw new CommandError('The connection broke.')
    return callOf(w)(method, path, body)
  }
  await expect(seed(untilJourney)).rejects.toThrow('The connection broke.')
  await seed()
  expect(lines.at(-1)).toBe('An earlier seed broke off before its journey was live. To have all of it, seed a new project.')
})

test('a second time says that everything exists, also if the journey was renamed and archived', async () => {
  await using w = await world()
  const lines: string[] = []
  const seed = () => seedProject(seedOptions(['--users', '1']), callOf(w), TODAY, (line) => lines.push(line))
  await seed()
  const [journey] = (await w.get('/api/client/journeys')).body.results
  expect((await w.patch(`/api/client/journeys/${journey.id}`, { name: 'Greetings' })).status).toBe(200)
  expect((await w.delete(`/api/client/journeys/${journey.id}`)).status).toBe(204)
  await seed()
  expect(lines.at(-1)).toBe('The lists, campaigns and the journey already exist.')
})

test('a project with a provider is not seeded', async () => {
  await using w = await world()
  const smtp = { channel: 'email', kind: 'smtp', name: 'Relay', settings: { host: 'relay.example.com', port: 587, tls: 'none' } }
  const made = await w.post('/api/client/providers', smtp)
  expect(made.status, made.text).toBe(201)
  await expect(seedProject(seedOptions([]), callOf(w), TODAY, () => undefined)).rejects.toThrow('The project has a provider')
})
